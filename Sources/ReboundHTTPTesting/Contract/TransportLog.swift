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
  private let told = Monitor<[TransportEvent]>([])

  /// Makes an empty log.
  public init() {}

  /// What was told so far, oldest first.
  public var events: [TransportEvent] { told.withLock { $0 } }

  /// Notes an event.
  @Sendable public func add(_ event: TransportEvent) {
    told.withLock { $0.append(event) }
  }

  /// Waits until what was told meets a condition, or the task is cancelled.
  ///
  /// - Parameter isMet: Called under a lock, with each event anew: it should be quick, and must not use the log.
  public func until(_ isMet: @escaping @Sendable ([TransportEvent]) -> Bool) async {
    await told.until(isMet)
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
