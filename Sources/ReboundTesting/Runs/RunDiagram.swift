import Combine
import Rebound

/// A picture of an execution that was really run: its attempts, its waits and where their lengths came from, what it
/// delivered, and what a circuit breaker thought of it.
///
///     let run = RunDiagram("forecast", retries: log.events, output: recorder)
///     print(run.text)     // for a failing test
///     run.svg             // for a document
///
/// It is made of what ``RetryLog``, ``Recorder`` and ``BreakerLog`` have written down, so it shows what was, not what
/// should be. Both pictures depend on nothing else: the same run gives the same text.
public struct RunDiagram: Sendable {
  /// One attempt.
  struct Attempt: Hashable, Sendable {
    enum End: Hashable, Sendable {
      case failed(String)
      case finished
      case cancelled
      case running
    }

    let number: Int
    let start: Duration
    let end: Duration
    let outcome: End
  }

  /// A pause between two attempts.
  struct Wait: Hashable, Sendable {
    /// The number of the attempt behind which it was.
    let attempt: Int
    let start: Duration
    let end: Duration
    let source: String
  }

  /// Something that was delivered.
  struct Marble: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case value(Character)
      case finish
      case failure
      case cancel

      /// What it is, in a word.
      var name: String {
        switch self {
        case .value(let name): String(name)
        case .finish: "finish"
        case .failure: "failure"
        case .cancel: "cancel"
        }
      }
    }

    let time: Duration
    let kind: Kind
  }

  /// A state of the breaker, and when it began.
  struct Phase: Hashable, Sendable {
    let start: Duration
    let state: CircuitBreaker.State
  }

  let title: String
  let attempts: [Attempt]
  let waits: [Wait]
  let marbles: [Marble]
  let phases: [Phase]
  /// Why there was no other attempt.
  let stopReason: String?
  let end: Duration

  /// Draws a run.
  ///
  /// - Parameters:
  ///   - title: What was run.
  ///   - retries: The decisions of its policy, in order.
  ///   - output: What its subscriber received, on the scheduler of the retries; subscribed once.
  ///   - breaker: The states of a circuit breaker on the same scheduler.
  ///   - name: The letter that stands for a value.
  public init<Output, Failure>(
    _ title: String,
    retries: [RetryEvent],
    output: Recorder<Output, Failure>,
    breaker: [BreakerLog.Entry] = [],
    naming name: (Output) -> Character = { "\($0)".count == 1 ? "\($0)".first ?? "•" : "•" }
  ) {
    let origin = output.entries.first?.time ?? .start
    let completion = output.completionTime.map { origin.duration(to: $0) }
    let cancel = output.cancelTime.map { origin.duration(to: $0) }
    let marbles = Self.marbles(output, origin, cancel, name)
    let phases = Self.phases(breaker, origin)
    let known = [marbles.last?.time, phases.last?.start, retries.last.map { $0.elapsed + ($0.delay ?? .zero) }]
    let over = completion ?? cancel
    let end = over ?? known.compactMap { $0 }.max() ?? .zero

    self.title = title
    self.marbles = marbles
    self.phases = phases.filter { $0.start <= end }
    self.end = end
    waits = retries.compactMap { event in
      guard let delay = event.delay, delay > .zero, event.elapsed < end else { return nil }
      let source = event.delaySource?.description ?? "computed"
      let waitEnd = min(event.elapsed + delay, end)
      return Wait(attempt: event.attempt, start: event.elapsed, end: waitEnd, source: source)
    }
    if case .stopped(let reason)? = retries.last?.outcome { stopReason = reason.description } else { stopReason = nil }
    attempts = Self.attempts(
      retries,
      end,
      isFinished: output.isFinished,
      isCancelled: completion == nil && cancel != nil
    )
  }

  private static func attempts(
    _ retries: [RetryEvent],
    _ end: Duration,
    isFinished: Bool,
    isCancelled: Bool
  ) -> [Attempt] {
    var attempts: [Attempt] = []
    var start: Duration? = .zero
    for event in retries {
      guard let began = start else { break }
      let outcome = Attempt.End.failed("\(event.error)")
      attempts.append(Attempt(number: event.attempt, start: began, end: event.elapsed, outcome: outcome))
      start = event.delay.map { event.elapsed + $0 }
    }
    let outcome: Attempt.End = isFinished ? .finished : isCancelled ? .cancelled : .running
    // A wait that was cut short was followed by none.
    if let start, start < end || (start == end && outcome != .cancelled) {
      attempts.append(Attempt(number: (attempts.last?.number ?? 0) + 1, start: start, end: end, outcome: outcome))
    }
    return attempts
  }

  private static func marbles<Output, Failure>(
    _ output: Recorder<Output, Failure>,
    _ origin: VirtualTime,
    _ cancel: Duration?,
    _ name: (Output) -> Character
  ) -> [Marble] {
    var marbles: [Marble] = []
    for entry in output.entries {
      let time = origin.duration(to: entry.time)
      switch entry.event {
      case .subscription: break
      case .value(let value): marbles.append(Marble(time: time, kind: .value(name(value))))
      case .completion(.finished): marbles.append(Marble(time: time, kind: .finish))
      case .completion(.failure): marbles.append(Marble(time: time, kind: .failure))
      }
    }
    if let cancel { marbles.append(Marble(time: cancel, kind: .cancel)) }
    return marbles
  }

  private static func phases(_ entries: [BreakerLog.Entry], _ origin: VirtualTime) -> [Phase] {
    var phases: [Phase] = []
    for entry in entries {
      let start = max(origin.duration(to: entry.time), .zero)
      // What was before the run counts only if it lasted into it.
      if phases.last?.start == start, start == .zero { phases.removeLast() }
      phases.append(Phase(start: start, state: entry.state))
    }
    return phases
  }
}

extension RunDiagram.Marble {
  /// What stands for it in a row of marbles.
  var character: Character {
    switch kind {
    case .value(let name): name
    case .finish: "|"
    case .failure: "#"
    case .cancel: "!"
    }
  }
}

extension CircuitBreaker.State {
  /// The state in words.
  var text: String {
    switch self {
    case .closed: "closed"
    case .open: "open"
    case .halfOpen: "half open"
    case .isolated: "isolated"
    case .disabled: "disabled"
    }
  }
}

extension VirtualTime {
  /// How long it is from here to another moment.
  func duration(to other: VirtualTime) -> Duration { distance(to: other).duration }
}

extension Duration {
  /// The length for people: "250 ms", "1.5 s", to the microsecond.
  var text: String {
    let nanoseconds = VirtualTime.Stride(self).nanoseconds
    if nanoseconds == 0 { return "0 s" }
    let (unit, name) = nanoseconds.magnitude < 1_000_000_000 ? (1_000_000, "ms") : (1_000_000_000, "s")
    let thousandths = Int((Double(nanoseconds) / Double(unit) * 1_000).rounded())
    let whole = thousandths / 1_000
    var fraction = String(1_000 + thousandths.magnitude % 1_000).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    return fraction.isEmpty ? "\(whole) \(name)" : "\(whole).\(fraction) \(name)"
  }
}
