import Foundation

/// Runs a program under many schedules, and finds a simple one under which it fails.
///
///     @Test func noDepositIsLost() throws {
///       try simulate(runs: 1_000) {
///         let account = Account()
///         async let first: Void = account.deposit(10)
///         async let second: Void = account.deposit(20)
///         _ = await (first, second)
///         try requireEqual(await account.balance, 30)
///       }
///     }
///
/// A program fails by throwing, so use ``requireEqual(_:_:_:)`` and ``requireTrue(_:_:)``: what a test framework's own macros
/// find is reported at once, also in each run that makes the schedule simpler. State belongs into the body, so that each run
/// begins anew.
///
/// With `REBOUND_SEED` in the environment there is one run, the one it names: a seed, or a seed and a schedule as a failure
/// prints it.
///
/// - Parameters:
///   - runs: How many runs at most; less than one counts as one, so that no test passes without a run.
///   - budget: How much of the real time the runs may take: none begins after it, except for the first. `nil` is no limit.
///     The limit of making a schedule simpler is `shrinks`.
///   - seed: The seed of the first run; each run's is one more.
///   - exploration: How the schedules are chosen.
///   - limits: When a run counts as one that never ends.
///   - replay: The one run to do: a seed, or a seed and a schedule as ``SimulationFailure/replay`` says them. `nil` asks the
///     environment for `REBOUND_SEED`.
///   - shrinks: How many simpler schedules are tried at most; none where the body does not end though timers go on, since
///     each would take as long.
///   - fileID: Where the simulation stands.
///   - filePath: Where the simulation stands.
///   - line: Where the simulation stands.
///   - column: Where the simulation stands.
///   - body: The program; of the same seed and schedule, it does the same each time.
/// - Returns: How many runs there were, and whether they were all that there are.
/// - Throws: ``SimulationFailure`` with the simplest schedule that was found, ``InvalidReplay``, or
///   ``SimulationUnavailable``.
@discardableResult
public func simulate(
  runs: Int = 1_000,
  budget: Duration? = nil,
  seed: UInt64 = 0,
  exploration: ScheduleExploration = .mixed,
  limits: SimulationLimits = SimulationLimits(),
  replay: String? = nil,
  shrinks: Int = 500,
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  _ body: @escaping @Sendable () async throws -> Void
) throws -> ExploredSchedules {
  try simulate(
    runs: runs,
    budget: budget,
    seed: seed,
    exploration: exploration,
    limits: limits,
    replay: replay,
    shrinks: shrinks,
    fileID: fileID,
    filePath: filePath,
    line: line,
    column: column,
    verdict: { nil },
    body
  )
}

/// The same for a test framework, whose expectations do not throw: it is asked after each run for what they have found, also
/// on queues and when the body was over.
@discardableResult
package func simulate(
  runs: Int,
  budget: Duration?,
  seed: UInt64,
  exploration: ScheduleExploration,
  limits: SimulationLimits,
  replay: String?,
  shrinks: Int = 500,
  fileID: String,
  filePath: StaticString = #filePath,
  line: Int,
  column: Int,
  verdict: @escaping @Sendable () -> (any Error)?,
  _ body: @escaping @Sendable () async throws -> Void
) throws -> ExploredSchedules {
  let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let program = SimulatedProgram(location: location, limits: limits, verdict: verdict, body: body)
  let explorer = ScheduleExplorer(program: program, exploration: exploration, shrinks: shrinks)
  if let text = replay ?? ProcessInfo.processInfo.environment["REBOUND_SEED"] { return try explorer.replay(text) }
  let clock = ContinuousClock()
  let start = clock.now
  return try explorer.explore(runs: max(runs, 1), seed: seed) {
    budget.map { start.duration(to: clock.now) < $0 } ?? true
  }
}

/// How the schedules of a program are chosen.
public struct ScheduleExploration: Hashable, Sendable {
  enum Kind: Hashable { case randomWalk, priorities(depth: Int), mixed, exhaustive }

  let kind: Kind

  /// At each decision, each that can run is as likely as the others.
  public static let randomWalk = ScheduleExploration(kind: .randomWalk)

  /// By turns a random walk and priorities of depth 2, 3 and 4.
  public static let mixed = ScheduleExploration(kind: .mixed)

  /// All schedules, one after the other, for small programs: their number grows exponentially.
  ///
  /// Those that differ only in when a yield comes back count as one.
  ///
  /// All runs have the same seed, so chance draws the same.
  public static let exhaustive = ScheduleExploration(kind: .exhaustive)

  /// Probabilistic concurrency testing (PCT): priorities that chance gives, and that change at `depth - 1` moments.
  ///
  /// - Parameter depth: How many steps must come in a certain order for the fault that is looked for; most need two or three.
  public static func priorities(depth: Int) -> ScheduleExploration {
    ScheduleExploration(kind: .priorities(depth: depth))
  }
}

/// What an exploration came to.
public struct ExploredSchedules: Hashable, Sendable {
  /// How many runs there were; none of them failed.
  public let runs: Int
  /// Whether they were all schedules that the program has, in steps from one await to another.
  public let isComplete: Bool
}

/// `REBOUND_SEED` is neither a seed nor a seed and a schedule.
public struct InvalidReplay: Error, Hashable, CustomStringConvertible {
  /// What it is.
  public let text: String

  /// What it is, and what it should be.
  public var description: String {
    "REBOUND_SEED is \"\(text)\"; it should be a seed (\"17\"), or seed and schedule as a failure prints them (\"17/3:1,7:2\")."
  }
}
