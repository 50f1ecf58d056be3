import Foundation
import ReboundHTTP
import StreamSupport

/// What a transport told, and a way to wait for it.
///
/// Unchecked, because the lock guards all of it.
final class TransportLog: @unchecked Sendable {
  private let lock = Lock()
  private var told: [TransportEvent] = []
  private var waiters: [(isMet: ([TransportEvent]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

  var events: [TransportEvent] { lock.withLock { told } }

  @Sendable func add(_ event: TransportEvent) {
    let ready = lock.withLock {
      told.append(event)
      let ready = waiters.filter { $0.isMet(told) }
      waiters.removeAll { $0.isMet(told) }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until what was told meets a condition.
  func until(_ isMet: @escaping @Sendable ([TransportEvent]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetAlready = lock.withLock {
        if isMet(told) { return true }
        waiters.append((isMet, continuation))
        return false
      }
      if isMetAlready { continuation.resume() }
    }
  }

  /// Waits for the end, and returns everything.
  @discardableResult
  func end() async -> [TransportEvent] {
    await until { $0.last?.isEnd ?? false }
    return events
  }

  var isOver: Bool { events.last?.isEnd ?? false }
  var heads: [ResponseHead] { events.compactMap { if case .head(let head) = $0 { head } else { nil } } }
  var body: Data { events.reduce(into: Data()) { if case .chunk(let data) = $1 { $0 += data } } }
  var failure: TransportFailure? { if case .failed(let failure) = events.last { failure } else { nil } }
  var sent: [Int64] { events.compactMap { if case .sent(let count) = $0 { count } else { nil } } }

  /// The order of the events, each as a letter: s(ent), h(ead), c(hunk), e(nd), f(ailure); the same in a row once.
  var order: String {
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
  var isEnd: Bool {
    switch self {
    case .finished, .failed: true
    case .sent, .head, .chunk: false
    }
  }
}
