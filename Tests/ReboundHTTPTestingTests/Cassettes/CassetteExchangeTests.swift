import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

/// What ``Transport`` promises, of a cassette.
@Suite("CassetteTransport as a transport")
struct CassetteExchangeTests {
  private let folder = CassetteFolder()
  private let scheduler = TestScheduler()
  private var time: TimeSource { scheduler.time }

  private func record(_ step: ScriptedTransport.Step, _ request: TransportRequest = .sample()) throws {
    let cassette = try CassetteTransport(
      folder.file,
      .record(ScriptedTransport([step], time: scheduler.time)),
      time: time
    )
    let exchange = cassette.start(request) { _ in }
    try scheduler.run()
    exchange.cancel()
    try cassette.save()
  }

  private func replay(keepingPace: Bool = true) throws -> CassetteTransport {
    try CassetteTransport(folder.file, time: time, keepingPace: keepingPace)
  }

  private static let chunks = ScriptedTransport.Step.chunks(
    200,
    ["Content-Length": "3"],
    [Data("a".utf8), Data("b".utf8), Data("c".utf8)],
    every: .seconds(2)
  )
  .after(.seconds(1))

  @Test("a cancel stops a replay, and lets go of the receiver")
  func cancel() throws {
    try record(Self.chunks)
    let log = EventLines(on: scheduler)
    weak var receiver: EventLines?
    let exchange: any TransportExchange
    do {
      let other = EventLines(on: scheduler)
      receiver = other
      exchange = try replay().start(.sample()) { event in
        other.write(event)
        log.write(event)
      }
    }
    #expect(receiver != nil)
    scheduler.advance(by: 2)
    exchange.cancel()
    #expect(receiver == nil)
    expectEqual(scheduler.pendingCount, 0)
    try scheduler.run()
    expectEqual(EventLines.withoutTimes(log.lines), ["head 200", "chunk a"])
    exchange.cancel()
    exchange.resume()
  }

  @Test("a replay that is paused tells nothing until it goes on", arguments: [true, false])
  func pause(keepingPace: Bool) throws {
    try record(Self.chunks)
    let log = EventLines(on: scheduler)
    let held = Held()
    let exchange = try replay(keepingPace: keepingPace).start(.sample()) { event in
      log.write(event)
      if case .head = event { held.exchange?.pause() }
    }
    held.exchange = exchange
    exchange.pause()
    if keepingPace { scheduler.advance(by: 100) }
    let before = log.lines.count
    exchange.resume()
    try scheduler.run()
    if keepingPace {
      expectEqual(before, 0)
      expectEqual(log.lines, ["100.0 seconds: head 200"])
      exchange.resume()
      try scheduler.run()
      expectEqual(log.lines.last, "104.0 seconds: finished")
    } else {
      // All had been told before there was anything to pause.
      expectEqual(EventLines.withoutTimes(log.lines).last, "finished")
    }
  }

  @Test("limits of time hold where a replay takes time")
  func timeLimits() throws {
    try record(Self.chunks)
    let total = try EventLines.run(replay(), .sample(limits: TransportLimits(total: .seconds(3))), scheduler)
    expectEqual(
      EventLines.withoutTimes(total.lines),
      [
        "head 200", "chunk a", "failed: no complete answer in time, after 1 bytes",
      ]
    )
    let idle = try EventLines.run(replay(), .sample(limits: TransportLimits(idle: .milliseconds(1_500))), scheduler)
    expectEqual(idle.failure?.kind, .timeout(.idle))
    expectEqual(idle.failure?.bytesReceived, 1)
    let atOnce = try EventLines.run(
      replay(keepingPace: false),
      .sample(limits: TransportLimits(total: .seconds(3))),
      scheduler
    )
    #expect(atOnce.failure == nil)
    for limits in [TransportLimits(connect: .zero), TransportLimits(idle: .zero), TransportLimits(total: .seconds(-1))]
    {
      let passed = try EventLines.run(replay(keepingPace: false), .sample(limits: limits), scheduler)
      expectEqual(passed.lines.count, 1)
      expectEqual(passed.failure?.kind.description.hasSuffix("in time"), true)
    }
  }

  @Test("the total limit counts while a replay is paused, the idle limit does not")
  func limitsInPause() throws {
    try record(Self.chunks)
    let log = EventLines(on: scheduler)
    let limits = TransportLimits(idle: .seconds(10), total: .seconds(60))
    let exchange = try replay().start(.sample(limits: limits), telling: log.write)
    scheduler.advance(by: 2)
    exchange.pause()
    scheduler.advance(by: 50)
    #expect(log.failure == nil)
    try scheduler.run()
    expectEqual(log.failure?.kind, .timeout(.total))
    #expect(scheduler.elapsed >= .seconds(60))
  }

  @Test("more bytes than the limit allows fail a replay as they fail a network")
  func tooLarge() throws {
    try record(Self.chunks)
    let log = try EventLines.run(
      replay(keepingPace: false),
      .sample(limits: TransportLimits(responseBytes: 2)),
      scheduler
    )
    expectEqual(
      EventLines.withoutTimes(log.lines),
      [
        "head 200", "chunk a", "chunk b",
        "failed: the answer is larger than allowed, after 3 bytes (more than 2 bytes)",
      ]
    )
  }

  @Test("an exchange that was cancelled falls silent where it was, until a limit ends it")
  func silence() throws {
    let network = ScriptedTransport([Self.chunks], time: scheduler.time)
    let recording = try CassetteTransport(folder.file, .record(network), time: time)
    let exchange = recording.start(.sample()) { _ in }
    scheduler.advance(by: 2)
    exchange.cancel()
    try recording.save()
    let endless = EventLines(on: scheduler)
    _ = try replay().start(.sample(), telling: endless.write)
    let limited = EventLines(on: scheduler)
    _ = try replay().start(.sample(limits: TransportLimits(idle: .seconds(30))), telling: limited.write)
    try scheduler.run()
    expectEqual(EventLines.withoutTimes(endless.lines), ["head 200", "chunk a"])
    expectEqual(limited.failure?.kind, .timeout(.idle))
    expectEqual(limited.failure?.detail?.contains("cancelled"), true)
  }

  @Test("a stream that can be read once is sent as it is, and finds its recording; one that cannot be read fails")
  func streams() throws {
    struct Unreadable: Error {}
    func stream() -> TransportRequest {
      let rest = Remaining(Data("abc".utf8))
      return .sample(.put, body: .stream(.once { rest.take($0) }))
    }
    let network = ScriptedTransport([.ok("1")])
    let recording = try CassetteTransport(folder.file, .record(network), time: time)
    let log = EventLines.run(recording, stream(), scheduler)
    #expect(log.failure == nil)
    expectEqual(network.calls.map(\.body), [Data("abc".utf8)])
    #expect(network.calls.first?.request.body.length == nil)
    let broken = TransportRequest.sample(.put, body: .stream(BodyStream { throw Unreadable() }))
    expectEqual(EventLines.run(recording, broken, scheduler).failure?.kind, .body)
    expectEqual(network.count, 1)
    try recording.save()
    #expect(try EventLines.run(replay(), stream(), scheduler).failure == nil)
  }

  @Test("progress of an upload is told as it was")
  func progress() throws {
    try record(.ok("1"), .sample(.put, body: "abcde"))
    expectEqual(
      EventLines.withoutTimes(try EventLines.run(replay(), .sample(.put, body: "abcde"), scheduler).lines).first,
      "sent 5"
    )
  }
}

/// Holds an exchange for its receiver.
///
/// Unchecked, because the lock guards the only state.
private final class Held: @unchecked Sendable {
  private let lock = Lock()
  private var held: (any TransportExchange)?

  var exchange: (any TransportExchange)? {
    get { lock.withLock { held } }
    set { lock.withLock { held = newValue } }
  }
}

/// Gives bytes once.
///
/// Unchecked, because the lock guards the only state.
private final class Remaining: @unchecked Sendable {
  private let lock = Lock()
  private var rest: Data

  init(_ data: Data) {
    rest = data
  }

  func take(_ count: Int) -> Data {
    lock.withLock {
      let piece = rest.prefix(min(count, 2))
      rest = rest.dropFirst(piece.count)
      return piece
    }
  }
}
