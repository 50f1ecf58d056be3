import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("assertNoFailure")
struct AssertNoFailureTests {
  @Test("values, demand, answers and a normal end pass as they are")
  func passes() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, Never>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.assertNoFailure().subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .finished)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("the upstream's own subscription and every event pass, and the mirror shows the place")
  func laws() {
    PassThroughLaws.check(named: "AssertNoFailure", children: ["file", "line", "prefix"]) { $0.assertNoFailure() }
  }

  @Test("a failure stops the process, with prefix, error and place in the message")
  func stops() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.assertNoFailure("Never", file: "Place.swift", line: 77).subscribe(Recorder<Int, Never>())
      upstream.send(completion: .failure(.expected))
    }
    let message = String(decoding: result.standardErrorContent, as: UTF8.self)

    #expect(message.contains("Never: expected"))
    #expect(message.contains("Place.swift:77"))
  }

  @Test("without a prefix the message is the error alone")
  func stopsWithoutPrefix() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.assertNoFailure().subscribe(Recorder<Int, Never>())
      upstream.send(completion: .failure(.expected))
    }
    let message = String(decoding: result.standardErrorContent, as: UTF8.self)

    #expect(message.contains(" expected") && !message.contains(": : "))
    #expect(message.contains("AssertNoFailureTests.swift"))
  }
}
