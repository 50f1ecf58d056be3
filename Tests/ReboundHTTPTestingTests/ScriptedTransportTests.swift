import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@Suite("ScriptedTransport")
struct ScriptedTransportTests {
  /// Keeps what a transport tells.
  ///
  /// Unchecked, because the lock guards every access to the lines.
  final class Log: @unchecked Sendable {
    private let lock = Lock()
    private var log: [String] = []

    func write(_ event: TransportEvent) {
      let line =
        switch event {
        case .sent(let count): "sent \(count)"
        case .head(let head): "head \(head.status)"
        case .chunk(let chunk): "chunk \(String(decoding: chunk, as: UTF8.self))"
        case .finished: "finished"
        case .failed(let failure): "failed: \(failure)"
        }
      lock.withLock { log.append(line) }
    }

    var lines: [String] { lock.withLock { log } }
  }

  static func request(_ body: TransportBody = .none, _ limits: TransportLimits = .none) throws -> TransportRequest {
    TransportRequest(try #require(URL(string: "https://api.example/")), method: .put, body: body, limits: limits)
  }

  @Test("plays one step for each exchange, and writes down what was sent")
  func script() throws {
    let transport = ScriptedTransport([.ok("{}"), .reset])
    let log = Log()
    for text in ["a", "bc", "d"] { _ = transport.start(try Self.request(.data(Data(text.utf8))), telling: log.write) }
    expectEqual(
      log.lines,
      [
        "sent 1", "head 200", "chunk {}", "finished", "failed: the connection was broken off",
        "failed: the network failed (the script has no step for exchange 3)",
      ]
    )
    expectEqual(transport.calls.map(\.body), [Data("a".utf8), Data("bc".utf8), Data("d".utf8)])
  }

  @Test("plays what is added later in full, after steps that were repeated or missing", arguments: [true, false])
  func append(repeatsLast: Bool) throws {
    let transport = ScriptedTransport([.status(201)], repeatingLast: repeatsLast)
    let log = Log()
    for _ in 0..<3 { _ = transport.start(try Self.request(), telling: log.write) }
    transport.append(.status(202), .status(203))
    for _ in 0..<3 { _ = transport.start(try Self.request(), telling: log.write) }
    let heads = log.lines.filter { $0.hasPrefix("head") }
    let expected = repeatsLast ? [201, 201, 201, 202, 203, 203] : [201, 202, 203]
    expectEqual(heads, expected.map { "head \($0)" })
  }

  @Test("takes its time in that of the scheduler, and notes when an exchange began")
  func time() throws {
    let scheduler = TestScheduler()
    scheduler.advance(by: 3)
    let chunks = [Data("a".utf8), Data("b".utf8)]
    let transport = ScriptedTransport(
      [.chunks(200, [:], chunks, every: .seconds(2)).after(.seconds(1))],
      time: scheduler.time
    )
    let log = Log()
    scheduler.advance(by: 4)
    _ = transport.start(try Self.request(), telling: log.write)
    expectEqual(transport.calls.map(\.time), [.seconds(4)])
    scheduler.advance(by: 1)
    expectEqual(log.lines, ["head 200", "chunk a"])
    scheduler.advance(by: 2)
    expectEqual(log.lines, ["head 200", "chunk a", "chunk b", "finished"])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("keeps the total limit, and ends at a cancel")
  func ends() throws {
    let scheduler = TestScheduler()
    let transport = ScriptedTransport([.silence], repeatingLast: true, time: scheduler.time)
    let log = Log()
    _ = transport.start(try Self.request(.none, TransportLimits(total: .seconds(5))), telling: log.write)
    let exchange = transport.start(try Self.request(), telling: log.write)
    exchange.pause()
    expectEqual(transport.calls.map(\.isPaused), [false, true])
    exchange.cancel()
    try scheduler.run()
    expectEqual(log.lines, ["failed: no complete answer in time"])
    expectEqual(transport.calls.map(\.isCancelled), [false, true])
  }
}
