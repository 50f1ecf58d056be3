import Combine
import Rebound
import ReboundLoadBalancing
import StreamSupport

/// What a request to the service of a scenario fails with.
public enum ServiceFailure: Error, Hashable, Sendable {
  /// As many wait as may, or one has waited too long.
  case refused
  /// It is out.
  case unavailable
}

extension ServiceFailure: CustomStringConvertible {
  /// What happened, and what to change about the scenario or the pipeline.
  public var description: String {
    switch self {
    case .refused: "The service has too much to do, and refused the request. Send less, or let more wait."
    case .unavailable: "The service is out. Try again once the fault is over."
    }
  }
}

/// One request that a service sees: an attempt of a client, or of a service at its dependency.
///
/// It is told its end once, unless it is cancelled before.
///
/// Access to what is stored is not checked while a play runs, here and in the rest of the engine: it runs on one thread,
/// and hands nothing that is stored to the code of others while it reads or changes it.
class ServiceAttempt {
  final let process: Int
  /// Which replica the client has picked; `nil` if the service's balancing picks.
  final let target: Int?
  @exclusivity(unchecked) final var replica = 0
  @exclusivity(unchecked) final var arrival = 0
  @exclusivity(unchecked) final var isQueued = false
  @exclusivity(unchecked) final var isCancelled = false
  @exclusivity(unchecked) final var dependency = 0
  @exclusivity(unchecked) final var failure: ServiceFailure?
  final unowned let service: ServiceState
  /// Captures nothing, and is made where all types are known: Swift does not specialise the methods of a generic class that
  /// are called through its table.
  private let delivers: (ServiceAttempt) -> Void

  init(process: Int, target: Int? = nil, service: ServiceState, delivers: @escaping (ServiceAttempt) -> Void) {
    self.process = process
    self.target = target
    self.service = service
    self.delivers = delivers
  }

  final func deliver() { delivers(self) }

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
    // A downcast: who is handed over is always this object.
    super.init(process: outer.process, service: service) { attempt in
      let outer = unsafeDowncast(attempt, to: DependencyAttempt.self).outer
      outer.service.dependencyEnded(outer, attempt.failure)
    }
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

/// An attempt of a client, whatever is asked and whoever is told.
private class ErasedClientAttempt: ServiceAttempt, Subscription {
  @exclusivity(unchecked) private var hasBegun = false
  private let begins: (ErasedClientAttempt) -> Void
  private let letsGo: (ErasedClientAttempt) -> Void

  init(
    process: Int,
    target: Int?,
    service: ServiceState,
    begins: @escaping (ErasedClientAttempt) -> Void,
    letsGo: @escaping (ErasedClientAttempt) -> Void,
    delivers: @escaping (ServiceAttempt) -> Void
  ) {
    self.begins = begins
    self.letsGo = letsGo
    super.init(process: process, target: target, service: service, delivers: delivers)
  }

  final func request(_ demand: Subscribers.Demand) {
    guard demand > .none, !hasBegun, !isCancelled else { return }
    hasBegun = true
    begins(self)
  }

  final func cancel() {
    cancelAttempt()
    letsGo(self)
  }
}

/// An attempt of a client.
///
/// What is typed lies in inline storage (see `InlineStorage`), which is full while `isOpen`: until the attempt is cancelled or
/// told its end.
private final class ClientAttempt<S: Subscriber, Question: ServiceQuestion>: ErasedClientAttempt
where S.Input == Question.Output, S.Failure == any Error {
  private struct Ends {
    let subscriber: S
    let question: Question
  }

  @exclusivity(unchecked) private var ends: InlineStorage<Ends>
  @exclusivity(unchecked) private var isOpen = true

  init(_ subscriber: S, question: Question) {
    ends = InlineStorage { $0.initialize(to: Ends(subscriber: subscriber, question: question)) }
    super.init(
      process: question.process,
      target: question.target,
      service: question.service,
      begins: { ClientAttempt.own($0).begin() },
      letsGo: { ClientAttempt.own($0).letGo() },
      delivers: { ClientAttempt.own($0).tell() }
    )
  }

  /// Who is handed to one of its closures is always the object itself.
  private static func own(_ attempt: ServiceAttempt) -> ClientAttempt {
    // So the downcast holds.
    unsafeDowncast(attempt, to: ClientAttempt.self)
  }

  deinit {
    if isOpen { letGo() }
  }

  /// Nobody has cancelled it yet, so it is open.
  private func begin() {
    let question = ends.access { $0.pointee.question }
    question.begin(self)
  }

  private func letGo() { withExtendedLifetime(takeEnds()) {} }

  private func takeEnds() -> Ends? {
    guard isOpen else { return nil }
    isOpen = false
    let taken = ends.access { $0.move() }
    ends.close()
    return taken
  }

  private func tell() {
    guard let ends = takeEnds() else { return }
    isCancelled = true
    if let failure {
      ends.subscriber.receive(completion: .failure(failure))
    } else {
      _ = ends.subscriber.receive(ends.question.answer(to: self))
      ends.subscriber.receive(completion: .finished)
    }
  }
}
