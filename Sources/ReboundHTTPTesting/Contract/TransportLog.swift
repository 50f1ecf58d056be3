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
///
/// Unchecked, because the lock guards all of it.
public final class TransportLog: @unchecked Sendable {
  private struct Waiter {
    let number: Int
    let isMet: @Sendable ([TransportEvent]) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private let lock = Lock()
  private var told: [TransportEvent] = []
  private var waiters: [Waiter] = []
  private var waitCount = 0

  /// Makes an empty log.
  public init() {}

  /// What was told so far, oldest first.
  public var events: [TransportEvent] { lock.withLock { told } }

  /// Notes an event.
  @Sendable public func add(_ event: TransportEvent) {
    let ready = lock.withLock {
      told.append(event)
      let ready = waiters.filter { $0.isMet(told) }
      waiters.removeAll { $0.isMet(told) }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until what was told meets a condition, or the task is cancelled.
  ///
  /// - Parameter isMet: Called under a lock, with each event anew: it should be quick, and must not use the log.
  public func until(_ isMet: @escaping @Sendable ([TransportEvent]) -> Bool) async {
    let number = lock.withLock {
      waitCount += 1
      return waitCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = lock.withLock {
          // A cancel that came before has found nobody.
          if isMet(told) || Task.isCancelled { return true }
          waiters.append(Waiter(number: number, isMet: isMet, continuation: continuation))
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let waiter = lock.withLock {
        waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0) }
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
