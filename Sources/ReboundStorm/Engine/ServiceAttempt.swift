import Combine
import Rebound

/// What a request to the service of a scenario fails with.
public enum ServiceFailure: Error, Hashable, Sendable {
  /// As many wait as may, or one has waited too long.
  case refused
  /// It is out.
  case unavailable
}

/// One request that a service sees: an attempt of a client, or of a service at its dependency.
///
/// It is told its end once, unless it is cancelled before.
class ServiceAttempt {
  final let process: Int
  final var replica = 0
  final var arrival = 0
  final var isQueued = false
  final var isCancelled = false
  final var dependency = 0
  final var failure: ServiceFailure?
  final unowned let service: ServiceState

  init(process: Int, service: ServiceState) {
    self.process = process
    self.service = service
  }

  func deliver() {}

  final func cancelAttempt() {
    guard !isCancelled else { return }
    isCancelled = true
    if isQueued { service.abandon(self) }
  }
}

/// What a service asks its dependency.
final class DependencyAttempt: ServiceAttempt {
  private let outer: ServiceAttempt

  init(of outer: ServiceAttempt, at service: ServiceState) {
    self.outer = outer
    super.init(process: outer.process, service: service)
  }

  override func deliver() {
    outer.service.dependencyEnded(outer, failure)
  }
}

/// The call that a pipeline is put around: each subscription that requests a value is one attempt.
struct ServiceCall<Output: Sendable>: Publisher {
  typealias Failure = any Error

  let answer: Output
  let process: Int
  let service: ServiceState

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
    let attempt = ClientAttempt(subscriber, answer: answer, process: process, service: service)
    subscriber.receive(subscription: attempt)
  }
}

/// An attempt of a client.
private final class ClientAttempt<S: Subscriber>: ServiceAttempt, Subscription where S.Failure == any Error {
  private var subscriber: S?
  private let answer: S.Input
  private var hasBegun = false

  init(_ subscriber: S, answer: S.Input, process: Int, service: ServiceState) {
    self.subscriber = subscriber
    self.answer = answer
    super.init(process: process, service: service)
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none, !hasBegun, !isCancelled else { return }
    hasBegun = true
    service.begin(self)
  }

  func cancel() {
    cancelAttempt()
    let subscriber = self.subscriber
    self.subscriber = nil
    withExtendedLifetime(subscriber) {}
  }

  override func deliver() {
    guard let subscriber else { return }
    self.subscriber = nil
    isCancelled = true
    if let failure {
      subscriber.receive(completion: .failure(failure))
    } else {
      _ = subscriber.receive(answer)
      subscriber.receive(completion: .finished)
    }
  }
}
