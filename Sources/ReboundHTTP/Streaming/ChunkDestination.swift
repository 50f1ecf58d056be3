import Combine
import Foundation
import StreamSupport

/// Hands a body on piece by piece, as it is asked for.
///
/// What has been handed on cannot be taken back: an attempt goes on where the one before has broken, and if the server gives
/// it the whole body again, what has come already is passed over, provided that it is the same body.
final class ChunkDestination: BodyDestination, Sendable {
  struct Sink {
    let receive: (Data) -> Subscribers.Demand
    let end: (Subscribers.Completion<NetworkFailure>) -> Void
  }

  private struct State: Drained {
    var partial = PartialBody()
    /// How many bytes of the present answer have come before.
    var passedOver: Int64 = 0
    var waiting: ArraySlice<Data> = []
    var waitingCount = 0
    var demand = Subscribers.Demand.none
    var sink: Sink?
    var end: Subscribers.Completion<NetworkFailure>?
    var loop = DrainLoop()
    var changed: (@Sendable (BodyDestinationChange) -> Void)?

    mutating func takeNext() -> Delivery? {
      guard let sink else { return nil }
      if demand > .none, let chunk = waiting.popFirst() {
        demand -= 1
        return .chunk(chunk, sink)
      }
      guard waiting.isEmpty, let end else { return nil }
      (self.sink, self.end) = (nil, nil)
      return .end(end, sink)
    }
  }

  private enum Delivery {
    case chunk(Data, Sink)
    case end(Subscribers.Completion<NetworkFailure>, Sink)
  }

  private let state: Locked<State>

  init(_ sink: Sink) {
    state = Locked(State(sink: sink))
  }

  var isReady: Bool { state.withLock { $0.waitingCount < BodyProgress.readAhead } }
  var progress: BodyProgress { state.withLock { $0.partial.progress } }

  func prepare(_ message: TransportRequest, _ done: @escaping @Sendable (Result<TransportRequest, any Error>) -> Void) {
    var prepared = message
    state.withLock { state in
      state.changed = nil
      state.partial.prepare(&prepared)
    }
    done(.success(prepared))
  }

  func use(of head: ResponseHead) -> BodyUse { state.withLock { $0.partial }.use(of: head) }

  func startAnew() {
    state.withLock { $0.partial.startAnew() }
  }

  func begin(_ head: ResponseHead, changed: @escaping @Sendable (BodyDestinationChange) -> Void) throws {
    try state.withLock { state in
      let before = state.partial
      let offset = state.partial.begin(head)
      guard offset > 0 || before.count == 0 || (before.validator != nil && before.validator == state.partial.validator)
      else {
        // Whoever sends it again would go on in the other body.
        state.partial = before
        throw BodyChanged(count: before.count)
      }
      state.passedOver = before.count - offset
      state.changed = changed
    }
  }

  func receive(_ chunk: Data) {
    var failed: (changed: (@Sendable (BodyDestinationChange) -> Void)?, error: BodyChanged)?
    deliver { state in
      let skipped = Int(min(state.passedOver, Int64(chunk.count)))
      state.passedOver -= Int64(skipped)
      guard skipped < chunk.count else { return }
      guard state.partial.add(chunk.count - skipped) else {
        // Pieces of this answer may be handed on already, and be no more of the body than this one: nothing goes on with them.
        state.partial.validator = nil
        failed = (state.changed, BodyChanged(count: state.partial.count))
        return
      }
      state.waiting.append(skipped > 0 ? Data(chunk.dropFirst(skipped)) : chunk)
      state.waitingCount += chunk.count - skipped
    }
    if let failed { failed.changed?(.failed(failed.error)) }
  }

  func finish(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    done(state.withLock({ $0.partial.isShort }) ? .failure(TransportFailure(.truncated)) : .success(()))
  }

  func interrupt(_ done: @escaping @Sendable () -> Void) {
    done()
  }

  // MARK: What the subscriber says

  func ask(for demand: Subscribers.Demand) {
    deliver { $0.demand += demand }
  }

  func end(_ completion: Subscribers.Completion<NetworkFailure>) {
    deliver { $0.end = completion }
  }

  func cancel() {
    let rest = state.withLock { state in
      let rest = (state.sink, state.waiting, state.changed)
      (state.sink, state.waiting, state.changed) = (nil, [], nil)
      return rest
    }
    withExtendedLifetime(rest) {}
  }

  // MARK: What is handed on

  /// Hands over what was asked for, one thread at a time.
  private func deliver(after change: (inout State) -> Void) {
    state.drain(after: change) { delivery in
      switch delivery {
      case .chunk(let chunk, let sink):
        let more = sink.receive(chunk)
        let changed: (@Sendable (BodyDestinationChange) -> Void)? = state.withLock { state in
          let wasReady = state.waitingCount < BodyProgress.readAhead
          state.waitingCount -= chunk.count
          state.demand += more
          return !wasReady && state.waitingCount < BodyProgress.readAhead ? state.changed : nil
        }
        changed?(.ready)
      case .end(let completion, let sink): sink.end(completion)
      }
    }
  }
}

/// The server's body is another than the one whose beginning has been handed on.
public struct BodyChanged: Error, Hashable, CustomStringConvertible {
  /// How many bytes had been handed on.
  public let count: Int64

  /// What happened, and what to do next.
  public var description: String { "the body has changed after \(count) bytes of it had come; load it from the start" }
}

extension BodyChanged: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.mismatch).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.mismatch).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.mismatch).recoverySuggestion }
}
