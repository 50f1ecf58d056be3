import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("print")
struct PrintTests {
  private final class Lines: TextOutputStream {
    var text = ""
    var whenWritten: (String) -> Void = { _ in }

    func write(_ string: String) {
      text += string
      whenWritten(string)
    }
  }

  @Test("each event makes a line, before it passes on; answers make one after")
  func lines() {
    let stream = Lines()
    let upstream = TestPublisher<Int, TestFailure>()
    var textsAtValues: [String] = []
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { value, _ in
        textsAtValues.append(stream.text.split(separator: "\n").last.map(String.init) ?? "")
        return value == 1 ? .max(3) : value == 2 ? .unlimited : .none
      }
    )
    upstream.map { $0 }.print("tap", to: stream).subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(2), .unlimited)
    expectEqual(upstream.send(3), .none)
    recorder.request(.unlimited)
    upstream.send(completion: .failure(.expected))

    let subscription = upstream.connections.first.map { "\($0)" } ?? ""
    expectEqual(
      stream.text,
      """
      tap: receive subscription: (\(subscription))
      tap: request max: (2)
      tap: receive value: (1)
      tap: request max: (3) (synchronous)
      tap: receive value: (2)
      tap: request unlimited (synchronous)
      tap: receive value: (3)
      tap: request unlimited
      tap: receive error: (expected)

      """
    )
    expectEqual(textsAtValues, (1...3).map { "tap: receive value: (\($0))" })
    expectEqual(upstream.requests, [.max(2), .unlimited])
    expectEqual(recorder.values, [1, 2, 3])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("requests, cancels and ends make their lines before they pass on, too")
  func linesFirst() {
    final class Watching: Subscription {
      let see: (String) -> Void
      init(see: @escaping (String) -> Void) { self.see = see }
      func request(_ demand: Subscribers.Demand) { see("request") }
      func cancel() { see("cancel") }
    }
    let stream = Lines()
    var seen: [String] = []
    func see(_ event: String) { seen.append("\(event) after \(stream.text.split(separator: "\n").last ?? "")") }
    var subscriber: AnySubscriber<Int, TestFailure>?
    var held: (any Subscription)?
    let publisher = TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).print(to: stream)
    for ends in [true, false] {
      publisher.subscribe(
        AnySubscriber(
          receiveSubscription: {
            held = $0
            see("subscription")
          },
          receiveCompletion: { _ in see("end") }
        )
      )
      subscriber?.receive(subscription: Watching(see: see))
      held?.request(.max(1))
      if ends { subscriber?.receive(completion: .finished) } else { held?.cancel() }
      expectEqual(seen.first?.hasPrefix("subscription after receive subscription"), true)
      expectEqual(
        seen.dropFirst(),
        [
          "request after request max: (1)", ends ? "end after receive finished" : "cancel after receive cancel",
        ]
      )
      seen = []
    }
  }

  @Test("without a prefix lines start with the event; cancels and normal ends make lines")
  func noPrefix() {
    let stream = Lines()
    let just = Just(7).print(to: stream)
    just.subscribe(Recorder<Int, Never>(requesting: .max(1)))
    let recorder = Recorder<Int, Never>(requesting: .none)
    just.subscribe(recorder)
    recorder.cancel()

    expectEqual(
      stream.text,
      """
      receive subscription: (Just)
      request max: (1)
      receive value: (7)
      receive finished
      receive subscription: (Just)
      receive cancel

      """
    )
  }

  @Test("every subscription and every cancel makes a line, and so does a request for nothing")
  func eachOne() {
    let stream = Lines()
    var held: (any Subscription)?
    let second = SubscriptionSpy()
    TestPublisher<Int, TestFailure>(handingOver: {
      $0.receive(subscription: Subscriptions.empty)
      $0.receive(subscription: second)
    })
    .print(to: stream).subscribe(AnySubscriber<Int, TestFailure>(receiveSubscription: { held = $0 }))
    held?.request(.none)
    held?.cancel()
    held?.cancel()
    let lines = stream.text.split(separator: "\n")
    expectEqual(lines.count, 5)
    expectEqual(lines.first, "receive subscription: (Empty)")
    expectEqual(lines.dropFirst(2), ["request max: (0)", "receive cancel", "receive cancel"])
    expectEqual(second.cancelCount, 1)
  }

  @Test("a line and its end are written one after the other")
  func writes() {
    let stream = Lines()
    var writes: [String] = []
    stream.whenWritten = { if !$0.isEmpty { writes.append($0) } }
    Empty<Int, Never>().print("tap", to: stream).subscribe(Recorder<Int, Never>(requesting: .none))
    expectEqual(writes, ["tap: receive subscription: (Empty)", "\n", "tap: receive finished", "\n"])
  }

  @Test("an event from inside the stream makes its line after the one being written")
  func reentrantStream() {
    let stream = Lines()
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.print(to: stream).subscribe(recorder)
    stream.text = ""
    stream.whenWritten = { if $0.contains("(1)") { upstream.send(2) } }
    upstream.send(1)

    expectEqual(stream.text, "receive value: (1)\nreceive value: (2)\n")
    expectEqual(recorder.values, [2, 1])
  }

  @Test("lines from several threads are written whole, one at a time, and none is lost")
  func severalThreads() {
    let stream = Lines()
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.print(to: stream).subscribe(recorder)
    stream.text = ""
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      for _ in 0..<2_000 {
        if thread == 0 { upstream.send(1) } else { recorder.request(.max(2)) }
      }
    }
    let lines = stream.text.split(separator: "\n")

    expectEqual(lines.count { $0 == "receive value: (1)" }, 2_000)
    expectEqual(lines.count { $0 == "request max: (2)" }, 2_000)
    expectEqual(lines.count, 4_000)
  }

  @Test("without a stream it prints to standard output")
  func standardOutput() async throws {
    let result = try await #require(
      processExitsWith: .success,
      observing: [\.standardOutputContent]
    ) {
      Just(7).print("tap").subscribe(Recorder<Int, Never>(requesting: .max(1)))
    }
    let text = String(decoding: result.standardOutputContent, as: UTF8.self)

    #expect(text.contains("tap: receive value: (7)\ntap: receive finished\n"))
  }

  @Test("values and ends pass in any state")
  func outOfTurn() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).print(to: Lines()).subscribe(recorder)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    _ = subscriber?.receive(2)

    expectEqual(recorder.events, [.value(1), .completion(.finished), .value(2)])
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "Print") { $0.print(to: Lines()) }
  }
}
