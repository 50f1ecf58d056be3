import Combine
import Rebound

/// Limits the time of all attempts and waits of a call together; part of every client.
///
/// The time that is left goes along: no attempt is given more than that.
struct DeadlineLimit: Middleware {
  var place: MiddlewarePlace { .deadline }

  func exchange(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPExchange) -> HTTPExchange {
    guard let limit = request.timeLimit else { return next(request) }
    return TimeoutPolicy.total(limit)
      .publisher(
        scheduler: request.call.time.scheduler,
        failingWith: { timedOut in
          var failure = request.failure(.deadlineExceeded, underlying: timedOut, duration: timedOut.elapsed)
          failure.earlier = request.call.earlier
          return failure
        }
      ) { deadline -> HTTPExchange in
        var request = request
        request.deadline = deadline.nearer(request.deadline)
        return next(request)
      }
      .eraseToAnyPublisher()
  }
}
