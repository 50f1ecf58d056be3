import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Pipelines by key")
struct KeyedPipelinesTests {
  private func pipelines(_ made: Log<Int>) -> KeyedPipelines<Int, Int> {
    KeyedPipelines<Int, Int>(pipelines: { key in
      made.write(key)
      return try Pipeline("host \(key)") {
        CircuitBreaker("host \(key)", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
      }
    })
  }

  @Test("of 1,001 hosts keep 1,000, and the one that was used longest ago goes")
  func bounded() throws {
    let made = Log<Int>()
    let pipelines = pipelines(made)
    for key in 0...1_000 { try expectEqual(pipelines.pipeline(for: key).name, "host \(key)") }
    expectEqual(pipelines.count, 1_000)
    #expect(pipelines.existing(0) == nil)
    for key in 1...1_000 { _ = try pipelines.pipeline(for: key) }
    expectEqual(made.count, 1_001)
  }

  @Test("keep the state of each host apart, from call to call")
  func apart() async throws {
    let pipelines = pipelines(Log())
    await #expect(throws: TestFailure.transient) {
      try await pipelines.pipeline(for: 1).run { throw TestFailure.transient }
    }
    await #expect(throws: CircuitOpen.self) { try await pipelines.pipeline(for: 1).run { 7 } }
    try await expectEqual(pipelines.pipeline(for: 2).run { 7 }, 7)
  }

  @Test("tell everyone who asks that a pipeline makes no sense")
  func refused() {
    let made = Log<Int>()
    let pipelines = KeyedPipelines<Int, Int>(pipelines: { key in
      made.write(key)
      return try Pipeline("host") {}
    })
    for _ in 1...2 {
      #expect(throws: InvalidPipeline.self) { try pipelines.pipeline(for: 1) }
    }
    expectEqual(made.count, 1)
  }
}
