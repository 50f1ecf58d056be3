import Combine
import Rebound

/// Limits the time of all attempts and waits of a call together; part of every client.
///
/// The time that is left goes along: no attempt is given more than that.
struct DeadlineLimit: Middleware {
  var place: MiddlewarePlace { .deadline }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    guard let limit = request.timeLimit else { return next(request) }
    return Deferred {
      var limited = request
      // That of the limit below, which is the nearest.
      limited.deadline = Deadline.current?.nearer(request.deadline) ?? request.deadline
      let deadline = limited.deadline
      return next(limited)
        .mapError { failure in
          // The transport has kept the same limit, and was the first to say so.
          guard failure.kind == .transport(.timeout(.total)), deadline?.isOver ?? false else { return failure }
          return exceeded(request, failure, after: limit)
        }
    }
    .timeout(.total(limit), time: request.time) { exceeded(request, $0, after: $0.elapsed) }
    .eraseToAnyPublisher()
  }

  private func exceeded(_ request: HTTPRequest, _ cause: any Error, after elapsed: Duration) -> NetworkFailure {
    var failure = request.failure(.deadlineExceeded, underlying: cause, duration: elapsed)
    failure.earlier = request.call.earlier
    return failure
  }
}
