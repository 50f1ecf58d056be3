import Combine

/// Makes an attempt of a request, or one hop of an attempt, for each subscriber.
///
/// Nothing is sent before a value is requested; cancelling stops it.
struct AttemptPublisher: Publisher {
  typealias Output = HTTPResponse
  typealias Failure = NetworkFailure

  let request: HTTPRequest
  let client: ClientSettings.Shared
  let part: AttemptSubscription.Part

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    AttemptSubscription(request, of: client, part).attach(subscriber)
  }
}
