import Combine
import Rebound

/// Limits the time of all attempts and waits of a call together; part of every client.
///
/// The time that is left goes along: no attempt is given more than that.
struct DeadlineLimit: HandlingMiddleware {
  var place: MiddlewarePlace { .deadline }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    handled(request, next: next)
  }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    guard let limit = request.timeLimit else { return next.handle(request, subscriber) }
    var limited = request
    let outer = Deadline.current?.nearer(request.deadline) ?? request.deadline
    let deadline = Deadline(in: limit, on: request.time).nearer(outer)
    limited.deadline = deadline
    next(limited)
      .protected(by: TimeoutPolicy.total(limit), time: request.time) { error in
        exceeded(request, error, after: (error as? TimedOut)?.elapsed ?? limit)
      }
      .mapError { failure in
        // The transport has kept the same limit, and was the first to say so.
        guard failure.kind == .transport(.timeout(.total)), deadline.isOver else { return failure }
        return exceeded(request, failure, after: limit)
      }
      .subscribe(subscriber)
  }

  private func exceeded(_ request: HTTPRequest, _ cause: any Error, after elapsed: Duration) -> NetworkFailure {
    var failure = request.failure(.deadlineExceeded, underlying: cause, duration: elapsed)
    failure.earlier = request.call.earlier
    return failure
  }
}
