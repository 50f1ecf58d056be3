import Rebound
import ReboundTesting
import Testing

/// Gives each test a scheduler of its own, whose time is the time of all that is given none.
struct VirtualTimeTrait: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let scheduler = TestScheduler()
    try await TestScheduler.$current.withValue(scheduler) {
      try await TimeSource.$current.withValue(scheduler.time) { try await function() }
    }
  }
}

extension Trait where Self == VirtualTimeTrait {
  /// Time moves only when the test says so, on ``TestScheduler/current``.
  static var virtualTime: Self { Self() }
}

extension TestScheduler {
  /// That of the test under `.virtualTime`.
  @TaskLocal static var current = TestScheduler()
}
