/// A program fails under a schedule.
public struct SimulationFailure: Error {
  /// Where the simulation stands.
  public let location: CodeLocation
  /// What chance went by.
  public let seed: UInt64
  /// The number of the run, from 1.
  public let run: Int
  /// What the program threw, or a ``SimulationProblem``.
  public let cause: any Error
  /// The schedule with the fewest switches that was found for it.
  public let schedule: Schedule
  /// How many switches the first failing run had.
  public let switchesAtFirst: Int
  /// Who ran when, under ``schedule``.
  public let diagram: ScheduleDiagram
  /// Whether the same schedule failed in the same way once more.
  ///
  /// If not, something is not the seed's to decide: the order of a `Set`, state that outlives a run, another thread.
  public let isReplayable: Bool

  init(
    _ location: CodeLocation,
    seed: UInt64,
    run: Int,
    _ report: SimulationReport,
    _ cause: any Error,
    switchesAtFirst: Int? = nil,
    isReplayable: Bool = true
  ) {
    self.location = location
    self.seed = seed
    self.run = run
    self.cause = cause
    schedule = report.schedule
    self.switchesAtFirst = switchesAtFirst ?? report.schedule.switches.count
    diagram = report.diagram
    self.isReplayable = isReplayable
  }

  /// What to set `REBOUND_SEED` to for the same run: seed and schedule.
  public var replay: String { "\(seed)/\(schedule)" }
}

extension SimulationFailure: CustomStringConvertible {
  /// What failed, who ran when, and how to run it again.
  public var description: String {
    """
    \(location): \(cause)
    Found in run \(run), with seed \(seed); \(schedule.switches.count) context switches, \(switchesAtFirst) at first.
    \(diagram)
    \(isReplayable ? "Replay" : "Did not fail again; something in it is not the seed's to decide. Try"): \
    REBOUND_SEED=\(replay) swift test --filter …
    """
  }
}
