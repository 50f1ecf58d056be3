/// Runs one program under many schedules.
struct ScheduleExplorer {
  let program: SimulatedProgram
  let exploration: ScheduleExploration
  let shrinks: Int

  /// - Parameters:
  ///   - runs: How many at most, from 1.
  ///   - mayGoOn: Whether the budget allows one more run; asked before each but the first.
  func explore(runs: Int, seed: UInt64, while mayGoOn: () -> Bool) throws -> ExploredSchedules {
    if exploration == .exhaustive { return try exploreAll(runs: runs, seed: seed, while: mayGoOn) }
    var decisions = 0
    for run in 0..<runs {
      guard run == 0 || mayGoOn() else { return ExploredSchedules(runs: run, isComplete: false) }
      let seed = seed &+ UInt64(run)
      let outcome = try program.run(seed: seed, strategy(run, seed: seed, decisions: decisions))
      decisions = max(decisions, outcome.report.decisions)
      if outcome.cause != nil { throw try simplest(of: outcome, seed: seed, run: run + 1) }
    }
    return ExploredSchedules(runs: runs, isComplete: false)
  }

  private func exploreAll(runs: Int, seed: UInt64, while mayGoOn: () -> Bool) throws -> ExploredSchedules {
    let search = ExhaustiveSearch()
    for run in 1...runs {
      let outcome = try program.run(seed: seed, search)
      if outcome.cause != nil { throw try simplest(of: outcome, seed: seed, run: run) }
      guard search.next() else { return ExploredSchedules(runs: run, isComplete: true) }
      guard mayGoOn() else { return ExploredSchedules(runs: run, isComplete: false) }
    }
    return ExploredSchedules(runs: runs, isComplete: false)
  }

  /// Does the one run that a text names.
  func replay(_ text: String) throws -> ExploredSchedules {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seed = parts.first.flatMap({ UInt64($0) }), let schedule = Schedule(parts.count > 1 ? parts[1] : "")
    else {
      throw InvalidReplay(text: text)
    }
    let strategy: any SchedulingStrategy =
      parts.count > 1 ? Replay(schedule) : strategy(0, seed: seed, decisions: 0)
    let outcome = try program.run(seed: seed, strategy)
    if let cause = outcome.cause {
      throw SimulationFailure(program.location, seed: seed, run: 1, outcome.report, cause)
    }
    return ExploredSchedules(runs: 1, isComplete: false)
  }

  private func strategy(_ run: Int, seed: UInt64, decisions: Int) -> any SchedulingStrategy {
    // Not the program's own numbers: a draw of its own must not go along with who runs.
    let random = SeededRandom(seed: ~seed)
    switch exploration.kind {
    case .priorities(let depth): return PriorityWalk(depth: depth, decisions: decisions, random: random)
    case .mixed where run % 2 == 1: return PriorityWalk(depth: 2 + run / 2 % 3, decisions: decisions, random: random)
    case .mixed, .randomWalk, .exhaustive: return RandomWalk(random: random)
    }
  }

  private func simplest(
    of first: SimulatedProgram.Outcome,
    seed: UInt64,
    run: Int
  ) throws -> SimulationFailure {
    // Each run of one that never ends takes all the steps there may be.
    let isEndless = if case .endless = first.cause as? SimulationProblem { true } else { false }
    var search = ScheduleShrink(budget: isEndless ? 0 : shrinks) { schedule in
      let outcome = try program.run(seed: seed, Replay(schedule))
      return outcome.kind == first.kind ? outcome : nil
    }
    let again = try search.simplify(first.report.schedule)
    let outcome = again ?? first
    return SimulationFailure(
      program.location,
      seed: seed,
      run: run,
      outcome.report,
      outcome.cause ?? SimulationProblem.restless(steps: 0),
      switchesAtFirst: first.report.schedule.switches.count,
      isReplayable: again != nil
    )
  }
}

/// Looks for a schedule with fewer switches under which a program still fails.
///
/// Source: delta debugging (Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002).
struct ScheduleShrink {
  /// How many more runs there may be.
  var budget: Int
  /// What came of a run under a schedule, if it failed in the same way.
  let attempt: (Schedule) throws -> SimulatedProgram.Outcome?

  /// - Returns: The simplest run that failed in the same way; `nil` if not even the first schedule did again.
  mutating func simplify(_ schedule: Schedule) throws -> SimulatedProgram.Outcome? {
    guard var simplest = try attempt(schedule) else { return nil }
    var size = simplest.report.schedule.switches.count
    while size > 0, budget > 0 {
      let before = simplest.report.schedule.switches.count
      simplest = try withoutChunks(of: min(size, before), simplest)
      let after = simplest.report.schedule.switches.count
      if size == 1, after == before { break }
      size = size == 1 ? 1 : (size + 1) / 2
    }
    return simplest
  }

  /// Leaves out one run of switches after the other, where it goes without.
  private mutating func withoutChunks(
    of size: Int,
    _ first: SimulatedProgram.Outcome
  ) throws -> SimulatedProgram.Outcome {
    var simplest = first
    var start = 0
    while start < simplest.report.schedule.switches.count, size > 0, budget > 0 {
      var candidate = simplest.report.schedule
      candidate.switches.removeSubrange(start..<min(start + size, candidate.switches.count))
      budget -= 1
      // What it does in the end may differ from what it was told to do.
      if let outcome = try attempt(candidate),
        outcome.report.schedule.switches.count < simplest.report.schedule.switches.count
      {
        simplest = outcome
      } else {
        start += size
      }
    }
    return simplest
  }
}
