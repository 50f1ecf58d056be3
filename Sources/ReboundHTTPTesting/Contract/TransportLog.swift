import Foundation
import ReboundHTTP
import StreamSupport

/// What a transport told, and a way to wait for it.
///
///     let log = TransportLog()
///     let exchange = transport.start(request, telling: log.add)
///     await log.end()
///     exchange.cancel()
///
/// All methods may be called from any thread. A wait ends early when its task is cancelled.
public final class TransportLog: Sendable {
  private struct Waiter {
    let number: Int
    let isMet: @Sendable ([TransportEvent]) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var told: [TransportEvent] = []
    var waiters: [Waiter] = []
    var waitCount = 0
  }

  private let state = Locked(State())

  /// Makes an empty log.
  public init() {}

  /// What was told so far, oldest first.
  public var events: [TransportEvent] { state.withLock { $0.told } }

  /// Notes an event.
  @Sendable public func add(_ event: TransportEvent) {
    let ready = state.withLock { state in
      state.told.append(event)
      let (told, waiters) = (state.told, state.waiters)
      state.waiters.removeAll { $0.isMet(told) }
      return waiters.filter { $0.isMet(told) }
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until what was told meets a condition, or the task is cancelled.
  ///
  /// - Parameter isMet: Called under a lock, with each event anew: it should be quick, and must not use the log.
  public func until(_ isMet: @escaping @Sendable ([TransportEvent]) -> Bool) async {
    let number = state.withLock { state in
      state.waitCount += 1
      return state.waitCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          // A cancel that came before has found nobody.
          if isMet(state.told) || Task.isCancelled { return true }
          state.waiters.append(Waiter(number: number, isMet: isMet, continuation: continuation))
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }

  /// Waits for the end, and returns everything.
  @discardableResult
  public func end() async -> [TransportEvent] {
    await until { $0.last?.isEnd ?? false }
    return events
  }

  /// Whether the end was told.
  public var isOver: Bool { events.last?.isEnd ?? false }
  /// The heads that were told; there may be one at most.
  public var heads: [ResponseHead] { events.compactMap { if case .head(let head) = $0 { head } else { nil } } }
  /// The chunks, put together.
  public var body: Data { events.reduce(into: Data()) { if case .chunk(let data) = $1 { $0 += data } } }
  /// Why it ended, if it failed.
  public var failure: TransportFailure? { if case .failed(let failure) = events.last { failure } else { nil } }
  /// The progress of the upload, as it was told.
  public var sent: [Int64] { events.compactMap { if case .sent(let count) = $0 { count } else { nil } } }

  /// The order of the events, each as a letter: s(ent), h(ead), c(hunk), e(nd), f(ailure); the same in a row once.
  public var order: String {
    events.reduce(into: "") { order, event in
      let letter: Character =
        switch event {
        case .sent: "s"
        case .head: "h"
        case .chunk: "c"
        case .finished: "e"
        case .failed: "f"
        }
      if order.last != letter { order.append(letter) }
    }
  }
}

extension TransportEvent {
  /// Whether nothing comes behind it.
  public var isEnd: Bool {
    switch self {
    case .finished, .failed: true
    case .sent, .head, .chunk: false
    }
  }
}
