import Combine
import Expectations
import Foundation
import ReboundTesting
import Testing

@Suite("Record")
struct RecordTests {
  @Test("delivers its values as they are asked for, and its end right after the last")
  func delivers() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    Record(output: [1, 2], completion: .failure(.expected)).subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .value(1)])

    recorder.request(.none)
    expectEqual(recorder.values, [1])

    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completions, [.failure(.expected)])
  }

  @Test("without values, ends at once")
  func empty() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Record(output: [], completion: .failure(.expected)).subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("a closure writes down values and an end; without one the end is normal")
  func written() {
    let failed = Record<Int, TestFailure> {
      $0.receive(1)
      $0.receive(2)
      $0.receive(completion: .failure(.other))
    }
    expectEqual(failed.recording.output, [1, 2])
    expectEqual(failed.recording.completion, .failure(.other))
    #expect(Record<Int, TestFailure> { $0.receive(1) }.recording.completion == .finished)
  }

  @Test("a value after the end stops the process")
  func valueAfterEnd() async {
    await #expect(processExitsWith: .failure) {
      var recording = Record<Int, Never>.Recording()
      recording.receive(completion: .finished)
      recording.receive(1)
    }
  }

  @Test("a second end stops the process, also in a recording made complete")
  func secondEnd() async {
    await #expect(processExitsWith: .failure) {
      var recording = Record<Int, Never>.Recording(output: [1])
      recording.receive(completion: .finished)
    }
  }

  @Test("a recording that was decoded is complete: a value stops the process")
  func decodedIsComplete() async throws {
    let text = #"{"output":[1],"completion":{"success":true}}"#
    let recording = try JSONDecoder().decode(Record<Int, CodableFailure>.Recording.self, from: Data(text.utf8))
    #expect(recording.output == [1] && recording.completion == .finished)
    await #expect(processExitsWith: .failure) {
      let text = #"{"output":[1],"completion":{"success":true}}"#
      guard
        var recording = try? JSONDecoder().decode(Record<Int, CodableFailure>.Recording.self, from: Data(text.utf8))
      else { return }
      recording.receive(2)
    }
  }

  @Test("describes itself differently after its end, too")
  func reflectionAfterEnd() {
    let subscription = Record<Int, TestFailure>(output: [1], completion: .finished).subscriptionForTesting()
    subscription?.request(.max(1))
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Cancelled Events", labels: ["sequence", "completion"]))
    expectEqual(toldText("sequence", of: subscription), "[]")
  }

  @Test("is coded as its recording, and comes back the same")
  func coding() throws {
    let record = Record<Int, CodableFailure>(output: [1, 2], completion: .failure(CodableFailure(code: 3)))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys

    let data = try encoder.encode(record)

    expectEqual(
      String(decoding: data, as: UTF8.self),
      #"{"recording":{"completion":{"error":{"code":3},"success":false},"output":[1,2]}}"#
    )
    let decoded = try JSONDecoder().decode(Record<Int, CodableFailure>.self, from: data)
    expectEqual(decoded.recording.output, [1, 2])
    expectEqual(decoded.recording.completion, .failure(CodableFailure(code: 3)))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Record<Int, CodableFailure>.self, from: Data("{}".utf8))
    }
  }

  @Test("both ways to encode a recording write the same")
  func encodeInto() throws {
    struct Wrapper: Encodable {
      let recording: Record<Int, CodableFailure>.Recording
      func encode(to encoder: any Encoder) throws { try recording.encode(into: encoder) }
    }
    let recording = Record<Int, CodableFailure>.Recording(output: [1])
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try expectEqual(encoder.encode(Wrapper(recording: recording)), encoder.encode(recording))
  }

  @Test("describes itself as its values, and differently once it is over")
  func reflection() {
    let record = Record<Int, TestFailure>(output: [1, 2], completion: .failure(.expected))
    let subscription = record.subscriptionForTesting()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("[1, 2]", labels: ["sequence", "completion"]))
    expectEqual(toldText("completion", of: subscription), "failure(CombineTests.TestFailure.expected)")

    subscription?.cancel()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Cancelled Events", labels: ["sequence", "completion"]))
    expectEqual(toldText("sequence", of: subscription), "[]")
  }
}

struct CodableFailure: Error, Codable, Equatable {
  let code: Int
}
