import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// The code of the articles in Sources/ReboundTesting/ReboundTesting.docc, as it stands there.
@Suite("The code of ReboundTesting's articles")
struct ReboundTestingArticleTests {
  private struct NoAnswer: Error, CustomStringConvertible {
    var description: String { "no answer" }
  }

  private let scheduler = TestScheduler()

  @Test("marbles are played as they are drawn")
  func marbles() throws {
    try expect {
      "a-#"
      $0.retry(.constant(.ticks(2)), times: 1, time: $1.time)
      "a---a-#"
      SubscriptionRows("^-#", "----^-#")
    }
    try expect {
      "ab(cd)|"
      $0.map { $0 }
      DemandRow("1--2---*")
      "a--(bc)---(d|)"
    }
    try Marbles(["a": 1, "b": 2, "c": 3]).expect {
      "a---b-|"
      "--a-|"
      $0.merge(with: $1).scan(0, +).filter { $0 < 4 }
      "a-b---|"
    }
  }

  @Test("a chain is taken step by step, or its values read at once")
  func steps() throws {
    let typed = PassthroughSubject<String, Never>()
    try StepVerifier(typed.debounce(for: 0.8, scheduler: scheduler), on: scheduler)
      .expectSubscription()
      .thenRun { typed.send("swift") }
      .expectNoEvent(for: 0.7)
      .thenAdvance(by: 0.1)
      .expectNext("swift")
      .thenCancel()
      .expectRelease()
      .verify()

    let hourly = [1, 2, 3].publisher.delay(for: .seconds(3600), scheduler: scheduler)
    #expect(try hourly.firstValue(on: scheduler) == 1)
    #expect(try hourly.allValues(on: scheduler) == [1, 2, 3])
  }

  @Test("schedulers do not wait, or are not used")
  func schedulers() {
    let recorder = Recorder<String, Never>()
    Just("a").delay(for: .seconds(3600), scheduler: ImmediateTestScheduler()).subscribe(recorder)
    #expect(recorder.values == ["a"])

    let unused = UnimplementedScheduler("the pause before a late answer") { Issue.record($0) }
    let late = Just("fresh").delay(for: .seconds(1), scheduler: unused)
    Just("cached").append(late).prefix(1).subscribe(recorder)
    #expect(unused.uses.isEmpty)
  }

  @Test("faults do not get through, and probes see what passes")
  func faults() {
    let publisher = MisbehavingPublisher<Int, Never>([1, 2, 3], faults: [.exceedsDemand, .completesTwice])
    let recorder = Recorder<Int, Never>()
    publisher.prefix(1).subscribe(recorder)
    #expect(recorder.events == [.subscription, .value(1), .completion(.finished)])

    let probe = PublisherProbe()
    let cache = Just("cached").setFailureType(to: NoAnswer.self)
    let network = Just("fresh").setFailureType(to: NoAnswer.self)
    cache.catch { _ in network.probed(by: probe) }.subscribe(Recorder<String, NoAnswer>())
    #expect(!probe.wasSubscribed)

    let source = TestPublisher<Int, Never>()
    let careful = Recorder<Int, Never>(requesting: .max(1), on: scheduler)
    source.subscribe(careful)
    source.send(1)
    source.send(2)
    #expect(careful.demand.excess == 1)
    careful.cancel()
    source.send(3)
    #expect(source.unheardCount == 1)
  }

  @Test("a run is drawn as it was")
  func runs() {
    let log = RetryLog()
    let source = TestPublisher<String, NoAnswer>()
    let recorder = Recorder<String, NoAnswer>(on: scheduler)
    source
      .retry(RetryPolicy(clamping: 2, backoff: .constant(.seconds(2))).onEvent(log.write), time: scheduler.time)
      .subscribe(recorder)

    scheduler.advance(by: 1)
    source.send(completion: .failure(NoAnswer()))
    scheduler.advance(by: 3)
    source.send("a")
    source.send(completion: .finished)

    let run = RunDiagram("forecast", retries: log.events, output: recorder)
    #expect(run.text.contains("1: 0 s to 1 s, failed (no answer), then waited 2 s (computed)"))
    #expect(run.svg.hasPrefix("<svg"))
  }

  @Test("a cassette answers as the network did")
  func cassettes() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cassettes-\(UUID().uuidString)")
    let file = folder.appending(path: "ping.har")
    // Nothing depends on it, and the system empties the folder above.
    defer { try? FileManager.default.removeItem(at: folder) }
    let service = try #require(URL(string: "https://api.example/ping"))
    let network = ScriptedTransport([.response(200, [:], Data("pong".utf8))])

    let recording = try CassetteTransport(file, .record(network))
    let ping = TransportRequest(service, method: .put, body: .data(Data(#"{"password":"secret"}"#.utf8)))
    _ = recording.start(ping) { _ in }
    try recording.save()
    #expect(try !String(contentsOf: file, encoding: .utf8).contains("secret"))

    let cassette = try CassetteTransport(file)
    _ = cassette.start(ping) { event in
      if case .chunk(let body) = event { #expect(body == Data("pong".utf8)) }
    }
    try cassette.checkAllUsed()

    let rules: [CassetteRule] = [.method, .path, .query(ignoring: ["time"]), .header("Accept")]
    let tolerant = try CassetteTransport(file, matching: rules, repeatingLast: true)
    _ = tolerant.start(TransportRequest(service, method: .delete)) { event in
      guard case .failed(let failure) = event, let miss = failure.underlying as? CassetteMiss else { return }
      #expect(miss.differences == ["the method is 'DELETE', not 'PUT'"])
    }
  }

  @Test("a property fails for the simplest value")
  func properties() throws {
    try forAll(Generator<[Int]>.array(of: .integer(in: 0...99))) { numbers in
      let recorder = Recorder<Int, Never>()
      numbers.publisher.filter { $0 > 9 }.subscribe(recorder)
      try requireEqual(recorder.values, numbers.filter { $0 > 9 })
    }

    let failure = #expect(throws: PropertyFailure.self) {
      try forAll(Generator<[Int]>.array(of: .integer(in: 0...99))) { numbers in
        try requireTrue(numbers.allSatisfy { $0 < 50 }, "one is too large")
      }
    }
    #expect(failure?.value == "[50]")

    struct Typing: Equatable {
      let text: String
      let pause: Int
    }
    let typing = Generator { choices in
      Typing(text: choices.draw(.string(of: "abc")), pause: choices.draw(.integer(in: 0...2_000)))
    }
    let slow = #expect(throws: PropertyFailure.self) {
      try forAll(Generator<[Typing]>.array(of: typing)) { typed in
        try requireTrue(typed.allSatisfy { $0.pause < 800 }, "a pause")
      }
    }
    #expect(slow?.value.contains(#"(text: "", pause: 800)"#) == true)
  }

  @Test("threads race behind a barrier")
  func races() throws {
    try race(rounds: 200, seed: 1) { round in
      let subject = PassthroughSubject<Int, Never>()
      let recorder = Recorder<Int, Never>()
      subject.subscribe(recorder)
      try round.run(
        { subject.send(1) },
        { recorder.cancel() }
      )
      #expect(recorder.values.count <= 1, "\(round)")
    }
  }
}
