import Expectations
import Foundation
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("AnswerReader")
struct AnswerReaderTests {
  /// A transport whose one request is answered by the test.
  private final class Hand: Transport, TransportExchange {
    private let told = Locked<(@Sendable (TransportEvent) -> Void)?>(nil)
    private let heard = ValueLog<String>()

    var log: [String] { heard.values }

    func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
      told.withLock { $0 = receiver }
      return self
    }

    func tell(_ events: TransportEvent...) {
      let receiver = told.withLock { $0 }
      for event in events { receiver?(event) }
    }

    func cancel() { heard.append("cancel") }
    func pause() { heard.append("pause") }
    func resume() { heard.append("resume") }
  }

  private let hand = Hand()
  private let head = ResponseHead(status: 200, url: .service)

  private func reader() -> AnswerReader { AnswerReader(TransportRequest(.service), over: hand) }

  @Test("gives the head, then the body piece by piece, then nothing")
  func order() async throws {
    let reader = reader()
    hand.tell(.sent(1), .head(head), .chunk(Data("a".utf8)), .chunk(Data("b".utf8)), .finished)
    try await expectEqual(reader.head(), head)
    try await expectEqual(reader.next(), Data("a".utf8))
    try await expectEqual(reader.next(), Data("b".utf8))
    #expect(try await reader.next() == nil)
    #expect(try await reader.next() == nil)
  }

  @Test("waits for what has not come yet")
  func waits() async throws {
    let reader = reader()
    async let first = reader.head()
    hand.tell(.head(head))
    try await expectEqual(first, head)
    async let second = reader.next()
    hand.tell(.chunk(Data("a".utf8)))
    try await expectEqual(second, Data("a".utf8))
  }

  @Test("throws the failure behind what had come before it")
  func failure() async throws {
    let reader = reader()
    hand.tell(.head(head), .chunk(Data("a".utf8)), .failed(TransportFailure(.truncated)))
    try await expectEqual(reader.head(), head)
    try await expectEqual(reader.next(), Data("a".utf8))
    let failure = await #expect(throws: TransportFailure.self) { try await reader.next() }
    expectEqual(failure?.kind, .truncated)
  }

  @Test("lets the network wait from 256 KiB on that nobody has read")
  func backpressure() async throws {
    let reader = reader()
    hand.tell(.head(head), .chunk(Data(count: 200_000)))
    try await expectEqual(reader.head(), head)
    expectEqual(hand.log, [])
    hand.tell(.chunk(Data(count: 62_144)))
    expectEqual(hand.log, ["pause"])
    try await expectEqual(reader.next()?.count, 200_000)
    expectEqual(hand.log, ["pause", "resume"])
  }

  @Test("cancels the request when a task is cancelled that waits for it")
  func cancel() async throws {
    let task = Task { [reader = reader()] in try await reader.head() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(hand.log, ["cancel"])
  }

  @Test("cancels the request when nobody can read the answer any more, once, and not one that is over")
  func release() async throws {
    do {
      let reader = reader()
      hand.tell(.head(head))
      try await expectEqual(reader.head(), head)
    }
    expectEqual(hand.log, ["cancel"])
    do {
      let reader = reader()
      hand.tell(.head(head), .finished)
      try await expectEqual(reader.head(), head)
    }
    expectEqual(hand.log, ["cancel"])
  }
}
