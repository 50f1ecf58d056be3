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
  /// Which replica the client has picked; `nil` if the service's balancing picks.
  final let target: Int?
  final var replica = 0
  final var arrival = 0
  final var isQueued = false
  final var isCancelled = false
  final var dependency = 0
  final var failure: ServiceFailure?
  final unowned let service: ServiceState

  init(process: Int, target: Int? = nil, service: ServiceState) {
    self.process = process
    self.target = target
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

/// What a client asks a service: each subscription that requests a value is one attempt.
protocol ServiceQuestion: Publisher where Failure == any Error {
  var process: Int { get }
  /// Which replica the client has picked; `nil` if the service's balancing picks.
  var target: Int? { get }
  var service: ServiceState { get }
  /// Has the service see an attempt.
  func begin(_ attempt: ServiceAttempt)
  /// What a success gives.
  func answer(to attempt: ServiceAttempt) -> Output
}

extension ServiceQuestion {
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
    subscriber.receive(subscription: ClientAttempt(subscriber, question: self))
  }
}

/// The call that a pipeline is put around.
struct ServiceCall<Output: Sendable>: ServiceQuestion {
  typealias Failure = any Error

  let answer: Output
  let process: Int
  var target: Int?
  let service: ServiceState

  func begin(_ attempt: ServiceAttempt) { service.begin(attempt) }

  func answer(to attempt: ServiceAttempt) -> Output { answer }
}

/// A probe of a replica.
struct ReplicaProbe: ServiceQuestion {
  typealias Output = ReplicaLoad
  typealias Failure = any Error

  let process: Int
  let replica: Int
  let service: ServiceState

  var target: Int? { replica }

  func begin(_ attempt: ServiceAttempt) { service.beginProbe(attempt, of: replica) }

  func answer(to attempt: ServiceAttempt) -> ReplicaLoad { service.load(ofReplica: replica) }
}

/// An attempt of a client.
private final class ClientAttempt<S: Subscriber, Question: ServiceQuestion>: ServiceAttempt, Subscription
where S.Input == Question.Output, S.Failure == any Error {
  private var subscriber: S?
  private let question: Question
  private var hasBegun = false

  init(_ subscriber: S, question: Question) {
    self.subscriber = subscriber
    self.question = question
    super.init(process: question.process, target: question.target, service: question.service)
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none, !hasBegun, !isCancelled else { return }
    hasBegun = true
    question.begin(self)
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
      _ = subscriber.receive(question.answer(to: self))
      subscriber.receive(completion: .finished)
    }
  }
}
