import Combine
import Rebound

/// Limits the time of all attempts and waits of a call together; part of every client.
///
/// The nearest of the request's limit, the client's and `Deadline.current` counts. The time that is left goes along: no attempt is
/// given more than that.
struct DeadlineLimit: HandlingMiddleware {
  var place: MiddlewarePlace { .deadline }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    guard let (deadline, limit) = request.timeLeft else { return next.handle(request, subscriber) }
    var limited = request
    limited.deadline = deadline
    // Whoever enforces a deadline from outside has an error of their own for it.
    guard let ownLimit = deadline.isEnforced ? request.timeLimit : limit else {
      return next(limited).mapError { request.overdue($0, deadline, limit) }.subscribe(subscriber)
    }
    request.ended(next(limited), after: ownLimit).mapError { request.overdue($0, deadline, limit) }
      .subscribe(subscriber)
  }
}

extension HTTPRequest {
  /// The nearest of its own limit, counted from now, the deadline that middleware has given it, and the one that it runs
  /// under, with how long that is; `nil` if there is none of them.
  var timeLeft: (deadline: Deadline, limit: Duration)? {
    let own = timeLimit.map { (deadline: Deadline(in: $0, on: time), limit: $0) }
    guard let outer = outerDeadline else { return own }
    if let own, !outer.isBefore(own.deadline) { return own }
    return (outer, outer.remaining)
  }

  /// The nearer of the deadline that middleware has given it and the one that it runs under; `nil` if there is neither.
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

  /// A failure, as it is of a call whose time is over if the transport has kept the same limit, and was the first to say so.
  fileprivate func overdue(_ failure: NetworkFailure, _ deadline: Deadline, _ limit: Duration) -> NetworkFailure {
    failure.kind == .transport(.timeout(.total)) && deadline.isOver ? exceeded(failure, after: limit) : failure
  }

  fileprivate func exceeded(_ cause: any Error, after elapsed: Duration) -> NetworkFailure {
    var failure = failure(.deadlineExceeded, underlying: cause, duration: elapsed)
    failure.earlier = call.earlier
    return failure
  }
}
