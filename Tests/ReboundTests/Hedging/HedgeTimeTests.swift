import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// The law that `PolicyContractTests` has for policies of the engine, for a hedge, whose machine is asked about several attempts.
@Suite("The time of a hedge")
struct HedgeTimeTests {
  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, TestFailure>()
  private let reads = EventLog<Duration>()
  private let timers = EventLog<Duration>()

  /// Counts how often it is read.
  ///
  /// A timer that is set for a moment costs one more: this source turns it into a delay.
  private var time: TimeSource {
    let time = scheduler.time
    return TimeSource(
      now: { [reads] in
        reads.write(time.now)
        return time.now
      },
      after: { [timers] delay, action in
        timers.write(delay)
        return time.after(delay, action)
      }
    )
  }

  private var readsOfDecisions: Int { reads.count - timers.count }

  enum Course: CaseIterable {
    case passing, failing, late, cancelled
  }

  enum Kind: CaseIterable {
    /// Nobody is told how long anything took.
    case plain
    case told
    case learning
    case withinBudget

    func policy() throws -> HedgePolicy<TestFailure> {
      switch self {
      case .plain: try HedgePolicy()
      case .told: try HedgePolicy().onEvent { _ in }
      case .learning: try HedgePolicy(delay: .percentile(of: LatencyRecorder()))
      case .withinBudget: try HedgePolicy().within(try .ratio(1, floor: 10))
      }
    }

    /// Whether the begin and the win of an execution matter by their time.
    var reads: (begin: Int, win: Int) {
      switch self {
      case .plain: (0, 0)
      case .told, .learning: (1, 1)
      case .withinBudget: (1, 0)
      }
    }
  }

  @Test(
    "is read once for a decision, and not at all where nothing is decided by it",
    arguments: Course.allCases,
    Kind.allCases
  )
  func publisher(course: Course, kind: Kind) throws {
    let recorder = Recorder<Int, TestFailure>()
    upstream.hedged(try kind.policy(), time: time).subscribe(recorder)
    // From when an answer is late.
    expectEqual(readsOfDecisions, kind.reads.begin + 1)
    switch course {
    case .passing: break
    case .failing: upstream.send(completion: .failure(.transient))
    case .late: scheduler.advance(by: 2)
    case .cancelled: recorder.cancel()
    }
    let hedges = course == .failing || course == .late ? 1 : 0
    expectEqual(upstream.subscriptionCount, 1 + hedges)
    expectEqual(readsOfDecisions, kind.reads.begin + 1 + hedges)
    upstream.send(1)
    expectEqual(readsOfDecisions, kind.reads.begin + 1 + hedges + (course == .cancelled ? 0 : kind.reads.win))
  }

  @Test(
    "is read as often for a function, but for one that returns without a wait",
    arguments: [false, true],
    Kind.allCases
  )
  func function(fails: Bool, kind: Kind) async throws {
    let time = time
    let value = try await kind.policy().run(time: time) { hedge throws(TestFailure) in
      if fails, hedge == 0 { throw .transient }
      return hedge
    }
    expectEqual(value, fails ? 1 : 0)
    // From when an answer is late, and the failure.
    expectEqual(readsOfDecisions, kind.reads.begin + (fails ? 2 : 0) + kind.reads.win)
  }
}
