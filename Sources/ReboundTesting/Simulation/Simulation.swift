import Rebound
import StreamSupport

/// One run of a program in which a seed decides everything: which task goes next, what chance draws, and when time moves.
///
///     let report = try Simulation(seed: 7).run {
///       async let slow: Void = ContinuousClock().sleep(for: .seconds(3_600))
///       async let quick = weather.load()
///       _ = try await (slow, quick)
///     }
///     report.duration    // an hour, in no time
///
/// Under it are all tasks that begin in it (children, unstructured and detached ones), their actors and the main actor, all
/// sleeps, the system's clocks, time sources, and the system's random numbers. Time stands while somebody can run, and
/// jumps to the next timer when nobody can. The run ends when nothing is left to do.
///
/// Only what begins in the body belongs to it: tests that run beside it in the same process notice nothing, and several
/// simulations can run at a time, each on the thread that called it. Values of the caller's task are seen in it.
public struct Simulation: Sendable {
  /// What chance goes by.
  public let seed: UInt64
  /// Who goes first where more than one can run; `nil` leaves it to the seed.
  public let schedule: Schedule?
  /// When a run counts as one that never ends.
  public let limits: SimulationLimits

  /// Makes a run.
  ///
  /// - Parameters:
  ///   - seed: What chance goes by; the same seed is the same run.
  ///   - schedule: Who goes first where more than one can run; `nil` leaves it to the seed.
  ///   - limits: When a run counts as one that never ends.
  public init(seed: UInt64, schedule: Schedule? = nil, limits: SimulationLimits = SimulationLimits()) {
    self.seed = seed
    self.schedule = schedule
    self.limits = limits
  }

  /// Runs a program on the calling thread, until nothing is left to do.
  ///
  /// - Parameters:
  ///   - fileID: Where the simulation stands.
  ///   - filePath: Where the simulation stands.
  ///   - line: Where the simulation stands.
  ///   - column: Where the simulation stands.
  ///   - body: The program; a failure is thrown.
  /// - Returns: What the run did.
  /// - Throws: ``SimulationFailure`` if the program throws, or for a ``SimulationProblem``; ``SimulationUnavailable``.
  @discardableResult
  public func run(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> SimulationReport {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let program = SimulatedProgram(location: location, limits: limits, body: body)
    let strategy: any SchedulingStrategy =
      if let schedule { Replay(schedule) } else { RandomWalk(random: SeededRandom(seed: ~seed)) }
    let outcome = try program.run(seed: seed, strategy)
    if let cause = outcome.cause { throw SimulationFailure(location, seed: seed, run: 1, outcome.report, cause) }
    return outcome.report
  }

  /// Writes something into the diagram of the run, for the step that runs now; elsewhere it does nothing.
  public static func note(_ text: @autoclosure () -> String) {
    SimulationThread.current?.note(text())
  }
}

/// When a run counts as one that never ends.
public struct SimulationLimits: Hashable, Sendable {
  /// How many steps there may be at one moment; more are a loop that never rests.
  public var stepsAtOneMoment = 100_000
  /// How many steps there may be before the body has ended; after more it waits for what never comes, beside a timer that
  /// goes on, such as a heartbeat.
  public var steps = 10_000_000
  /// For how long the run goes on when the body has ended, while timers are left; less than no time counts as none.
  public var settling = Duration.seconds(3_600)
  /// Whether tasks, timers and subscriptions may be left when all is quiet.
  public var allowsLeftOvers = false

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - stepsAtOneMoment: How many steps there may be at one moment.
  ///   - steps: How many steps there may be before the body has ended.
  ///   - settling: For how long the run goes on when the body has ended; less than no time counts as none.
  ///   - allowsLeftOvers: Whether tasks and timers may be left when all is quiet.
  public init(
    stepsAtOneMoment: Int = 100_000,
    steps: Int = 10_000_000,
    settling: Duration = .seconds(3_600),
    allowsLeftOvers: Bool = false
  ) {
    self.stepsAtOneMoment = stepsAtOneMoment
    self.steps = steps
    self.settling = settling
    self.allowsLeftOvers = allowsLeftOvers
  }
}

/// What a run did.
public struct SimulationReport: Sendable {
  /// How much virtual time passed until the body ended, or until the end if it did not.
  public let duration: Duration
  /// How many jobs and timers ran.
  public let steps: Int
  /// How many times more than one could run.
  public let decisions: Int
  /// Who went first then.
  public let schedule: Schedule
  /// Who ran when.
  public let diagram: ScheduleDiagram
}
