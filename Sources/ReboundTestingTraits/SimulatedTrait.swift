import ReboundTesting
import StreamSupport
public import Testing

/// Runs a test under many schedules, and fails with the simplest one under which it fails.
///
///     @Test(.simulated(runs: 1_000))
///     func renewsOnce() async throws {
///       let session = Session()
///       async let feed = session.validToken()
///       async let profile = session.validToken()
///       _ = try await (feed, profile)
///       #expect(await session.renewals == 1)
///     }
///
/// Each run is the whole test, on a suite that is made for it, as `simulate(runs:)` of `ReboundTesting` has it. What `#expect` and `#require` find ends no run, but counts as its failure; it is told once, with the schedule, and
/// not by each run that makes the schedule simpler. An issue that is known (`withKnownIssue`), and a warning, fails no run, and is
/// told once, too. With `REBOUND_SEED` in the environment there is one run, the one it names.
///
/// On a suite it is meant for each test in it.
public struct SimulatedTrait: TestTrait, SuiteTrait, TestScoping {
  /// How many runs at most.
  public let runs: Int
  /// How much of the real time the runs may take; `nil` is no limit.
  public let budget: Duration?
  /// The seed of the first run; each run's is one more.
  public let seed: UInt64
  /// How the schedules are chosen.
  public let exploration: ScheduleExploration
  /// When a run counts as one that never ends.
  public let limits: SimulationLimits

  let replay: String?

  /// It is for each test of a suite.
  public var isRecursive: Bool { true }

  /// Explores the test.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let found = Locked<[String]>([])
    let told = Locked<Set<String>>([])
    let noting: IssueHandlingTrait = .compactMapIssues { issue in
      let text = "\(issue)"
      // What is known, and a warning, fails no test.
      guard issue.isFailure else { return told.withLock { $0.insert(text).inserted } ? issue : nil }
      found.withLock { $0.append(text) }
      return nil
    }
    // Around all runs, not in the body: what is done on queues, and when the body is over, is no part of its task.
    try await noting.provideScope(for: test, testCase: testCase) {
      // The runs are over when `explore` returns, and so is every use of the function.
      try withoutActuallyEscaping(function) { function in
        try explore(at: test.sourceLocation) {
          found.withLock { $0 = [] }
          try await function()
        } verdict: {
          let issues = found.withLock { $0 }
          return issues.isEmpty ? nil : SimulatedIssues(issues: issues)
        }
      }
    }
  }

  private func explore(
    at location: SourceLocation,
    _ body: @escaping @Sendable () async throws -> Void,
    verdict: @escaping @Sendable () -> (any Error)?
  ) throws {
    try simulate(
      runs: runs,
      budget: budget,
      seed: seed,
      exploration: exploration,
      limits: limits,
      replay: replay,
      fileID: location.fileID,
      line: location.line,
      column: location.column,
      verdict: verdict,
      body
    )
  }
}

/// What a test has found in one run of its simulation.
public struct SimulatedIssues: Error, Hashable, CustomStringConvertible {
  /// The issues, in order.
  public let issues: [String]

  /// The issues, a line each.
  public var description: String { issues.joined(separator: "\n") }
}

extension Trait where Self == SimulatedTrait {
  /// Runs the test under many schedules.
  ///
  /// - Parameters:
  ///   - runs: How many runs at most; less than one counts as one.
  ///   - budget: How much of the real time the runs may take: none begins after it, except for the first.
  ///   - seed: The seed of the first run; each run's is one more.
  ///   - exploration: How the schedules are chosen.
  ///   - limits: When a run counts as one that never ends.
  ///   - replay: The one run to do, as a failure prints it; `nil` asks the environment for `REBOUND_SEED`.
  public static func simulated(
    runs: Int = 1_000,
    budget: Duration? = nil,
    seed: UInt64 = 0,
    exploration: ScheduleExploration = .mixed,
    limits: SimulationLimits = SimulationLimits(),
    replay: String? = nil
  ) -> Self {
    Self(runs: runs, budget: budget, seed: seed, exploration: exploration, limits: limits, replay: replay)
  }
}
