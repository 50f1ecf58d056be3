import Combine
import Rebound

/// Limits the time of all attempts and waits of a call together; part of every client.
///
/// The nearest of the request's limit, the client's and `Deadline.current` counts. The time that is left goes along: no attempt is
/// given more than that.
struct DeadlineLimit: HandlingMiddleware {
  var place: MiddlewarePlace { .deadline }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    handled(request, next: next)
  }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    var limit = request.timeLimit
    var nearest = limit.map { Deadline(in: $0, on: request.time) }
    if let outer = request.outerDeadline, nearest.map(outer.isBefore) ?? true {
      (nearest, limit) = (outer, outer.remaining)
    }
    guard let deadline = nearest, let limit else { return next.handle(request, subscriber) }
    var limited = request
    limited.deadline = deadline
    let answer = next(limited).mapError { failure in
      // The transport has kept the same limit, and was the first to say so.
      guard failure.kind == .transport(.timeout(.total)), deadline.isOver else { return failure }
      return request.exceeded(failure, after: limit)
    }
    // Whoever enforces a deadline from outside has an error of their own for it.
    guard let ownLimit = deadline.isEnforced ? request.timeLimit : limit else { return answer.subscribe(subscriber) }
    request.ended(answer, after: ownLimit).subscribe(subscriber)
  }
}

extension HTTPRequest {
  /// The nearest of the deadline that middleware has given it and the one that it runs under.
  var outerDeadline: Deadline? { Deadline.current?.nearer(deadline) ?? deadline }

  /// An answer, or the failure of a call whose time is over.
  func ended(
    _ answer: some Publisher<HTTPResponse, NetworkFailure>,
    after limit: Duration
  ) -> some Publisher<HTTPResponse, NetworkFailure> {
    answer.protected(by: TimeoutPolicy.total(limit), time: time) { error in
      exceeded(error, after: (error as? TimedOut)?.elapsed ?? limit)
    }
  }

  fileprivate func exceeded(_ cause: any Error, after elapsed: Duration) -> NetworkFailure {
    var failure = failure(.deadlineExceeded, underlying: cause, duration: elapsed)
    failure.earlier = call.earlier
    return failure
  }
}
