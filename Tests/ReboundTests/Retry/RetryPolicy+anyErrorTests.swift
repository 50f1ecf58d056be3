import Expectations
import Rebound
import Testing

@Suite("A retry policy for one type of failures, for calls that fail with anything")
struct RetryPolicyForAnyErrorTests {
  private enum Typed: Error, Equatable {
    case busy
    case broken
    case gaveUp(Int)
  }

  private enum Convertible: RefusalConvertible, Equatable {
    case busy
    case refused

    init(refusal: any Error) { self = .refused }
  }

  private struct Foreign: RetryAfterProviding {
    var retryAfter: Duration? { .seconds(9) }
  }

  private func delay<Failure>(_ policy: RetryPolicy<Failure>, _ error: any Error) -> Duration? {
    var machine = RetryMachine(RetryPolicy<any Error>(policy))
    guard case .retry(let delay) = machine.failed(with: error, elapsed: .zero) else { return nil }
    return delay
  }

  @Test("condition, decision and hint of the policy hold; checkpoints do not matter")
  func typed() async throws {
    let policy = try RetryPolicy<Typed>(backoff: .constant(.seconds(1)))
      .when { $0 == .busy }
      .deciding { _, context in context.retries == 0 ? .retry(after: .seconds(2)) : .stop }
      .hinted { _ in .seconds(3) }
    expectEqual(delay(policy, Typed.busy), .seconds(3))
    #expect(delay(policy, Typed.broken) == nil)
    #expect(RetryPolicy<any Error>(policy).isConditional)
    #expect(!RetryPolicy<any Error>(RetryPolicy<Typed>.standard).isConditional)
    let traced = await #expect(throws: TracedError.self) { try await Checkpoint().run { throw Typed.busy } }
    if let traced { expectEqual(delay(policy, traced), .seconds(3)) }
  }

  @Test("an error of another type is not tried again, unless it has a place among the failures")
  func foreign() throws {
    #expect(delay(try RetryPolicy<Typed>(), Foreign()) == nil)
    let policy = try RetryPolicy<Convertible>(backoff: .constant(.seconds(1)))
    expectEqual(delay(policy.when { $0 == .refused }, Foreign()), .seconds(9))
    #expect(delay(policy.when { $0 == .busy }, Foreign()) == nil)
  }

  @Test("its numbers stay, its observer is told, and it gives up with its own error")
  func rest() throws {
    let policy = try RetryPolicy<Typed>(maxRetries: 1, backoff: .immediate, deadline: .seconds(60))
      .onExhaustion { .gaveUp($0.errors.count) }
    let wide = RetryPolicy<any Error>(policy)
    #expect(wide.maxRetries == 1 && wide.deadline == .seconds(60))
    var machine = RetryMachine(wide)
    _ = machine.failed(with: Typed.busy, elapsed: .zero)
    guard case .stop(let error) = machine.failed(with: Typed.broken, elapsed: .zero) else {
      Issue.record("it goes on")
      return
    }
    expectEqual(error as? Typed, .gaveUp(2))
  }
}
