import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RunDiagram")
struct RunDiagramTests {
  private enum Failed: RetryAfterProviding {
    case busy, asked

    var retryAfter: Duration? { self == .asked ? .seconds(5) : nil }
  }

  private let scheduler = TestScheduler()
  private let source = TestPublisher<String, Failed>()
  private let log = RetryLog()

  private func run(_ policy: RetryPolicy<Failed>) -> Recorder<String, Failed> {
    let recorder = Recorder<String, Failed>(on: scheduler)
    source.retry(policy.onEvent(log.write), time: scheduler.time).subscribe(recorder)
    return recorder
  }

  private func fail(_ error: Failed = .busy, after stride: VirtualTime.Stride) {
    scheduler.advance(by: stride)
    source.send(completion: .failure(error))
  }

  /// Two failures, the second with a hint, and then two values.
  private func recovered() -> RunDiagram {
    scheduler.advance(by: 7)
    let recorder = run(RetryPolicy(clamping: 3, backoff: .constant(.seconds(2))))
    fail(after: 1)
    scheduler.advance(by: 2)
    fail(.asked, after: 1)
    scheduler.advance(by: 6)
    source.send("a")
    scheduler.advance(by: 1)
    source.send("b")
    source.send(completion: .finished)
    let breaker: [BreakerLog.Entry] = [
      .init(time: .start, state: .closed),
      .init(time: .start.advanced(by: 11), state: .open),
      .init(time: .start.advanced(by: 16), state: .halfOpen),
      .init(time: .start.advanced(by: 17), state: .closed),
    ]
    return RunDiagram("forecast", retries: log.events, output: recorder, breaker: breaker)
  }

  @Test("shows attempts, waits, output and breaker of a real run as text")
  func text() {
    expectEqual(
      recovered().text,
      """
      forecast
      time      0 s                                                 11 s
      attempts  1====#         2====#                        3=========|
      waits          computed..     hint.....................
      output    --------------------------------------------------a----|
      breaker   closed______________open_____________________half closed
      1: 0 s to 1 s, failed (busy), then waited 2 s (computed)
      2: 3 s to 4 s, failed (asked), then waited 5 s (hint)
      3: 9 s to 11 s, finished
      output: a at 10 s, b at 11 s, finish at 11 s
      """
    )
  }

  @Test("tells in words what one column, or one place of the picture, has no room for")
  func hidden() {
    let recorder = run(RetryPolicy(clamping: 0))
    for value in ["a", "b", "c"] { source.send(value) }
    scheduler.advance(by: 3_600)
    source.send(completion: .finished)
    let breaker: [BreakerLog.Entry] = [
      .init(time: .start, state: .closed), .init(time: .start.advanced(by: 60), state: .open),
      .init(time: .start.advanced(by: 61), state: .halfOpen), .init(time: .start.advanced(by: 62), state: .closed),
    ]
    let diagram = RunDiagram("an hour", retries: log.events, output: recorder, breaker: breaker)
    #expect(
      diagram.text.hasSuffix(
        """
        1: 0 s to 3600 s, finished
        output: a at 0 s, b at 0 s, c at 0 s, finish at 3600 s
        breaker: closed at 0 s, open at 60 s, half open at 61 s, closed at 62 s
        """
      )
    )
    #expect(diagram.svg.contains("finished. output: a at 0 s, b at 0 s, c at 0 s. breaker: closed at 0 s, open at"))
    #expect(diagram.text.split(separator: "\n").allSatisfy { $0.count < 80 })
  }

  @Test("says how many it has no words for")
  func hiddenBeyondCounting() {
    let recorder = run(RetryPolicy(clamping: 0))
    for _ in 1...150 { source.send("a") }
    #expect(RunDiagram("many", retries: [], output: recorder).text.hasSuffix("a at 0 s and 50 more"))
  }

  @Test("shows the same run as a picture that says in words what it shows")
  func svg() {
    expectEqual(recovered().svg, Self.golden)
  }

  @Test("says why there was no other attempt")
  func stopped() {
    let recorder = run(RetryPolicy(clamping: 1, backoff: .immediate))
    fail(after: .milliseconds(250))
    fail(after: .milliseconds(250))
    expectEqual(
      RunDiagram("two", retries: log.events, output: recorder).text,
      """
      two
      time      0 s                                          500 ms
      attempts  1========================2========================#
      output    --------------------------------------------------#
      1: 0 s to 250 ms, failed (busy)
      2: 250 ms to 500 ms, failed (busy), stopped: attempts exhausted
      """
    )
  }

  @Test("tells a wait of the attempt behind which it was, and of none that failed at the same moment")
  func waitsOfTheirAttempts() {
    let recorder = run(RetryPolicy(clamping: 3, backoff: .steps(.zero, .seconds(1))))
    fail(after: 0)
    scheduler.advance()
    fail(after: 0)
    scheduler.advance(by: 1)
    source.send(completion: .finished)
    #expect(
      RunDiagram("fast", retries: log.events, output: recorder).text.hasSuffix(
        """
        1: 0 s to 0 s, failed (busy)
        2: 0 s to 0 s, failed (busy), then waited 1 s (computed)
        3: 1 s to 1 s, finished
        """
      )
    )
  }

  @Test("shows what was cancelled, in an attempt or in a wait, and what still runs")
  func unfinished() {
    let recorder = run(RetryPolicy(clamping: 5, backoff: .constant(.seconds(4))))
    scheduler.advance(by: 2)
    source.send("x")
    #expect(
      RunDiagram("runs", retries: log.events, output: recorder).text.hasSuffix("1: 0 s to 2 s, still running")
    )
    fail(after: 0)
    scheduler.advance(by: 1)
    recorder.cancel()
    let text = RunDiagram("cut", retries: log.events, output: recorder).text
    #expect(text.hasSuffix("1: 0 s to 2 s, failed (busy), then waited 1 s (computed)"))
    #expect(text.contains("x") && text.contains("!"))

    let other = run(RetryPolicy(clamping: 5))
    scheduler.advance(by: 2)
    other.cancel()
    #expect(RunDiagram("cut", retries: [], output: other).text.hasSuffix("1: 0 s to 2 s, cancelled"))
  }

  @Test("shows the decisions that it is given, also if they are not the first")
  func lastDecisions() {
    let recorder = run(RetryPolicy(clamping: 3, backoff: .immediate))
    for _ in 1...3 { fail(after: 1) }
    scheduler.advance(by: 1)
    source.send(completion: .finished)
    let diagram = RunDiagram("last", retries: Array(log.events.dropFirst()), output: recorder)
    #expect(diagram.text.hasSuffix("3: 2 s to 3 s, failed (busy)\n4: 3 s to 4 s, finished"))
    #expect(diagram.svg.contains("<g><title>3: 2 s to 3 s, failed (busy)</title>"))
    #expect(diagram.svg.contains("<g><title>4: 3 s to 4 s, finished</title>"))
  }

  @Test("shows a run that took no time, and a title that XML would take for its own")
  func degenerate() {
    let recorder = Recorder<Int, Never>()
    Just(1).subscribe(recorder)
    let diagram = RunDiagram("a < b & \"c\"", retries: [], output: recorder)
    #expect(diagram.text.hasSuffix("1: 0 s to 0 s, finished\noutput: 1 at 0 s, finish at 0 s"))
    #expect(diagram.svg.contains("<title id=\"run-title\">a &lt; b &amp; &quot;c&quot;</title>"))
    #expect(RunDiagram("nothing", retries: [], output: Recorder<Int, Never>()).text.contains("still running"))
    let odd = RunDiagram("<\u{301} &\u{301} \"\u{301} \u{7}", retries: [], output: recorder)
    #expect(odd.svg.contains("<title id=\"run-title\">&lt;\u{301} &amp;\u{301} &quot;\u{301} \u{FFFD}</title>"))
  }

  private static let golden = #"""
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 208" width="760" height="208" role="img" \#
    aria-labelledby="run-title run-description" font-family="sans-serif" font-size="12">
    <title id="run-title">forecast</title>
    <desc id="run-description">1: 0 s to 1 s, failed (busy), then waited 2 s (computed). 2: 3 s to 4 s, \#
    failed (asked), then waited 5 s (hint). 3: 9 s to 11 s, finished.</desc>
    <style>
    .paper { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #57606a } .rule { stroke: #8c959f }
    .failed { fill: #c2410c } .done { fill: #1a7f37 } .other { fill: #6e7781 } .on { fill: #ffffff }
    .wait { stroke: #8c959f; stroke-width: 2; stroke-dasharray: 3 3 } .value { fill: #2563eb }
    .closed { fill: #1a7f37 } .open { fill: #c2410c } .half { fill: #9a6700 }
    @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #8d96a0 } .rule { stroke: #6e7681 }
    .failed { fill: #f0883e } .done { fill: #3fb950 } .other { fill: #8d96a0 } .on { fill: #0d1117 }
    .wait { stroke: #6e7681 } .value { fill: #58a6ff }
    .closed { fill: #3fb950 } .open { fill: #f0883e } .half { fill: #d29922 }
    }
    </style>
    <rect class="paper" width="100%" height="100%"/>
    <text class="ink" x="12" y="24" font-size="15" font-weight="bold">forecast</text>
    <text class="faint" x="12" y="60">attempts</text>
    <text class="faint" x="12" y="94">waits</text>
    <text class="faint" x="12" y="128">output</text>
    <text class="faint" x="12" y="162">breaker</text>
    <line class="rule" x1="90" x2="90" y1="180" y2="185"/><text class="faint" x="90" y="199" \#
    text-anchor="middle">0 s</text>
    <line class="rule" x1="206" x2="206" y1="180" y2="185"/><text class="faint" x="206" y="199" \#
    text-anchor="middle">2 s</text>
    <line class="rule" x1="323" x2="323" y1="180" y2="185"/><text class="faint" x="323" y="199" \#
    text-anchor="middle">4 s</text>
    <line class="rule" x1="439" x2="439" y1="180" y2="185"/><text class="faint" x="439" y="199" \#
    text-anchor="middle">6 s</text>
    <line class="rule" x1="555" x2="555" y1="180" y2="185"/><text class="faint" x="555" y="199" \#
    text-anchor="middle">8 s</text>
    <line class="rule" x1="672" x2="672" y1="180" y2="185"/><text class="faint" x="672" y="199" \#
    text-anchor="middle">10 s</text>
    <g><title>1: 0 s to 1 s, failed (busy), then waited 2 s (computed)</title><rect class="failed" \#
    x="90" y="44" width="58" height="22" rx="4"/><text class="on" x="94" y="60">1</text></g>
    <g><title>2: 3 s to 4 s, failed (asked), then waited 5 s (hint)</title><rect class="failed" x="265" \#
    y="44" width="58" height="22" rx="4"/><text class="on" x="269" y="60">2</text></g>
    <g><title>3: 9 s to 11 s, finished</title><rect class="done" x="614" y="44" width="116" height="22" \#
    rx="4"/><text class="on" x="618" y="60">3</text></g>
    <line class="wait" x1="148" x2="265" y1="98" y2="98"/><text class="faint" x="206" y="92" \#
    text-anchor="middle">2 s, computed</text>
    <line class="wait" x1="323" x2="614" y1="98" y2="98"/><text class="faint" x="468" y="92" \#
    text-anchor="middle">5 s, hint</text>
    <line class="rule" x1="90" x2="730" y1="123" y2="123"/>
    <circle class="value" cx="672" cy="123" r="9"/><text class="on" x="672" y="127" \#
    text-anchor="middle">a</text>
    <circle class="value" cx="730" cy="123" r="9"/><text class="on" x="730" y="127" \#
    text-anchor="middle">b</text>
    <rect class="done" x="742" y="113" width="4" height="20"/>
    <rect class="closed" x="90" y="160" width="233" height="8"/><text class="faint" x="90" \#
    y="156">closed</text>
    <rect class="open" x="323" y="160" width="291" height="8"/><text class="faint" x="323" \#
    y="156">open</text>
    <g><title>half open from 9 s</title><rect class="half" x="614" y="160" width="58" height="8"/></g>
    <rect class="closed" x="672" y="160" width="58" height="8"/><text class="faint" x="672" \#
    y="156">closed</text>
    </svg>

    """#
}
