import Foundation

/// Decides which calls are let through.
///
/// It has no clock and no lock; its owner tells it the time, which never goes back.
package struct CircuitBreakerMachine: Hashable, Sendable {
  /// What a call is let through with.
  ///
  /// Its result counts only for the state in which it was let through: each change of state is a new generation.
  package struct Permit: Hashable, Sendable {
    package let generation: Int
    let number: Int
    let start: Duration

    /// For a call that is let through without a look at the machine, or the time.
    @inline(__always)
    package static func uncounted(generation: Int) -> Permit { Permit(generation: generation, number: 0, start: .zero) }

    @inline(__always)
    var isUncounted: Bool { number == 0 }
  }

  package enum Admission: Hashable, Sendable {
    case granted(Permit)
    /// With how long it takes at least until a call may be let through; `nil` if only a person can say.
    case rejected(retryAfter: Duration?)
  }

  package enum Outcome: Hashable, Sendable {
    case success
    /// With the pause that the service asked for.
    case failure(hint: Duration?)
    /// Cancelled, or an error that says nothing about the service: no vote.
    case ignored
  }

  private struct Probing: Hashable, Sendable {
    /// The probes under way, by number, and when each one is given up.
    var leases: [Int: Duration] = [:]
    var successes = 0
    var failures = 0
  }

  private enum Phase: Hashable, Sendable {
    case closed
    case open(until: Duration)
    case halfOpen(Probing)
    case isolated
    case disabled
  }

  private let policy: CircuitBreakerPolicy
  private var phase = Phase.closed
  /// Of the calls that have ended while it was closed.
  private var window: CallWindow
  private var failuresInARow = 0
  package private(set) var generation = 0
  private var nextNumber = 0
  /// How often it has opened since it was closed, and when it did so first.
  private var openings = 0
  private var outSince: Duration?
  /// Until when the failures of this state ask for a pause, at least.
  private var askedUntil = Duration.zero

  package init(_ policy: CircuitBreakerPolicy) {
    self.policy = policy
    window = CallWindow(policy.window)
  }

  /// Whether calls are let through, and nothing needs to be known about them before they end.
  package var letsAllThrough: Bool {
    guard case .closed = phase else { return false }
    return policy.slowness == nil
  }

  /// Until when a success can open and close nothing, and is counted like all others; `nil` if it has to be settled.
  package var countsSuccessesUntil: Duration? {
    guard letsAllThrough, failuresInARow == 0 else { return nil }
    if !policy.countsCalls { return .longestDelay }
    return window.counts.failures == 0 ? window.slotEnd : nil
  }

  /// Takes successes that came before the moment until which they are counted.
  package mutating func add(successes: Int) {
    if successes > 0 { window.add(successes: successes) }
  }

  /// The state, without a side effect: an open breaker is open until a call finds that its time is over.
  package var state: CircuitBreaker.State {
    switch phase {
    case .closed: .closed
    case .open: .open
    case .halfOpen: .halfOpen
    case .isolated: .isolated
    case .disabled: .disabled
    }
  }

  /// How many probes are under way whose lease has not lapsed.
  package func liveProbes(now: Duration) -> Int {
    guard case .halfOpen(let probing) = phase else { return 0 }
    return probing.leases.values.count { $0 > now }
  }

  /// For how long the service has been out; `nil` if it is not, or if somebody said so.
  package func outFor(now: Duration) -> Duration? { outSince.map { now - $0 } }

  /// What the machine knows at a moment; looking changes nothing.
  package func snapshot(now: Duration, refused: Int) -> CircuitBreaker.Snapshot {
    var counts = CallWindow.Counts()
    var inARow = 0
    var retryAfter: Duration?
    switch phase {
    case .closed: (counts, inARow) = (window.counts(now: now), failuresInARow)
    case .open(let until): retryAfter = max(until - now, .zero).roundedUpToNanoseconds
    case .halfOpen, .isolated, .disabled: break
    }
    return CircuitBreaker.Snapshot(
      state: state,
      calls: counts.calls,
      failures: counts.failures,
      slowCalls: counts.slow,
      failuresInARow: inARow,
      openings: openings,
      outFor: outFor(now: now),
      retryAfter: retryAfter,
      probes: liveProbes(now: now),
      refused: refused
    )
  }

  /// Somebody looks whether the open time is over; if it is, the next calls are probes.
  package mutating func poll(now: Duration) {
    if case .open(let until) = phase, now >= until { enter(.halfOpen(Probing())) }
  }

  /// A call asks to be let through.
  package mutating func admit(now: Duration) -> Admission {
    poll(now: now)
    switch phase {
    case .closed, .disabled:
      return .granted(makePermit(now))
    case .open(let until):
      return .rejected(retryAfter: (until - now).roundedUpToNanoseconds)
    case .isolated:
      return .rejected(retryAfter: nil)
    case .halfOpen(var probing):
      // A probe that never ends must not keep the breaker from ever asking again.
      probing.leases = probing.leases.filter { $0.value > now }
      guard probing.leases.count + probing.successes + probing.failures < policy.probes else {
        let lapse = probing.leases.values.min() ?? now
        return .rejected(retryAfter: (lapse - now).roundedUpToNanoseconds)
      }
      let permit = makePermit(now)
      probing.leases[permit.number] = now + policy.openTime
      phase = .halfOpen(probing)
      return .granted(permit)
    }
  }

  /// A call that was let through has ended.
  ///
  /// - Parameter chance: In `0..<1`, moves the open time if it comes to that; a half leaves it as it is.
  package mutating func settle(_ permit: Permit, _ outcome: Outcome, now: Duration, chance: Double = 0.5) {
    guard permit.generation == generation else { return }
    let isSlow = policy.slowness.map { now - permit.start >= $0.duration } ?? false
    switch phase {
    case .closed:
      settleClosed(outcome, isSlow: isSlow, now: now, chance)
    case .halfOpen(var probing):
      guard let lease = probing.leases.removeValue(forKey: permit.number), lease > now else { return }
      switch outcome {
      case .ignored: break
      case .success: if isSlow { probing.failures += 1 } else { probing.successes += 1 }
      case .failure: probing.failures += 1
      }
      phase = .halfOpen(probing)
      noteHint(of: outcome, now: now)
      let threshold = Self.threshold(policy.probeFailureRatio, of: policy.probes)
      if Double(probing.failures) >= threshold {
        open(now: now, chance)
      } else if Double(policy.probes - probing.successes) < threshold {
        close()
      }
    case .open, .isolated, .disabled:
      break
    }
  }

  /// From how many on, of so many calls, a share is reached.
  private static func threshold(_ ratio: Double, of calls: Int) -> Double {
    // A thousandth of a millionth less, since 0.28 times 25 is just over 7.
    max((ratio * Double(calls) - 1e-9).rounded(.up), 1)
  }

  private mutating func settleClosed(
    _ outcome: Outcome,
    isSlow: Bool,
    now: Duration,
    _ chance: Double
  ) {
    if outcome == .ignored { return }
    let isFailure = outcome != .success
    // Where only failures in a row matter, successes come by the fast path and are not counted, so nothing is.
    if policy.countsCalls { window.add(isFailure: isFailure, isSlow: isSlow, now: now) }
    failuresInARow = isFailure ? failuresInARow + 1 : 0
    noteHint(of: outcome, now: now)
    if let limit = policy.consecutiveFailures, failuresInARow >= limit {
      return open(now: now, chance)
    }
    let counts = window.counts
    guard counts.calls >= policy.minimumCalls else { return }
    let fails = policy.failureRatio.map { Double(counts.failures) >= Self.threshold($0, of: counts.calls) } ?? false
    let drags = policy.slowness.map { Double(counts.slow) >= Self.threshold($0.ratio, of: counts.calls) } ?? false
    if fails || drags { open(now: now, chance) }
  }

  // MARK: By hand

  /// Closes and forgets all calls.
  package mutating func close() {
    openings = 0
    outSince = nil
    enter(.closed)
  }

  /// Opens for this long, if it is closed.
  ///
  /// - Returns: Whether it was.
  package mutating func open(for openTime: Duration, now: Duration) -> Bool {
    guard case .closed = phase else { return false }
    openings += 1
    outSince = now
    enter(.open(until: now + openTime.clampedToDelay))
    return true
  }

  /// Lets nothing through until told otherwise.
  package mutating func isolate() {
    outSince = nil
    enter(.isolated)
  }

  /// Lets everything through until told otherwise.
  package mutating func disable() {
    outSince = nil
    enter(.disabled)
  }

  // MARK: Changes of state

  /// Whichever failure opens the breaker, those before it have asked, too.
  private mutating func noteHint(of outcome: Outcome, now: Duration) {
    if let hint = outcome.hint { askedUntil = max(askedUntil, now + min(hint, policy.maxHint)) }
  }

  private mutating func open(now: Duration, _ chance: Double) {
    let grown = policy.openTime.inSeconds * pow(policy.openGrowth, Double(openings))
    let moved = min(grown, policy.maxOpenTime.inSeconds) * (1 + policy.openJitter * (2 * chance - 1))
    let time = min(Duration(saturatingSeconds: moved), policy.maxOpenTime)
    openings += 1
    outSince = outSince ?? now
    enter(.open(until: max(now + time, askedUntil)))
  }

  private mutating func enter(_ next: Phase) {
    generation = generation == CircuitBreakerFastPath.lastGeneration ? 0 : generation + 1
    phase = next
    window = CallWindow(policy.window)
    failuresInARow = 0
    askedUntil = .zero
  }

  private mutating func makePermit(_ now: Duration) -> Permit {
    nextNumber += 1
    return Permit(generation: generation, number: nextNumber, start: now)
  }
}

extension CircuitBreakerMachine.Outcome {
  fileprivate var hint: Duration? {
    if case .failure(let hint) = self { hint } else { nil }
  }
}
