import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Optional.Publisher")
struct OptionalTests {
  @Test("delivers its value and the end upon the first request, whatever its size")
  func delivers() {
    let recorder = Recorder<Int, Never>(requesting: .none, answering: { _, _ in .max(3) })
    Optional(7).publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription])

    recorder.request(.max(1))
    recorder.request(.unlimited)
    expectEqual(recorder.events, [.subscription, .value(7), .completion(.finished)])
  }

  @Test("without a value, ends at once, without being asked")
  func empty() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    Int?.none.publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("an optional of an optional publishes the inner one")
  func nested() {
    let recorder = Recorder<Int?, Never>()
    Int??.some(nil).publisher.subscribe(recorder)
    expectEqual(recorder.values, [nil])
  }

  @Test("describes itself as Optional, with the value as only child")
  func reflection() {
    let subscription = Optional(7).publisher.subscriptionForTesting()
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Optional", labels: [nil]))
  }

  @Test("a request for nothing stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      Optional(7).publisher.subscriptionForTesting()?.request(.none)
    }
  }

  @Test("equals another with the same value")
  func equality() {
    expectEqual(Optional(7).publisher, Optional.Publisher(7))
    #expect(Optional(7).publisher != Optional.Publisher(nil))
  }
}
