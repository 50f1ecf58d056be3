import Expectations
import Rebound
import Testing

@Suite("DroppedErrors")
struct DroppedErrorsTests {
  @Test("tells every observer, until its observation ends")
  func observers() {
    let (first, second) = (Log<String>(), Log<String>())
    @Sendable func isOurs(_ dropped: DroppedError) -> Bool { dropped.source == "DroppedErrorsTests" }
    let observation = DroppedErrors.observe { if isOurs($0) { first.write($0.description) } }
    let other = DroppedErrors.observe { if isOurs($0) { second.write($0.description) } }
    DroppedErrors.report(TestFailure.numbered(1), by: "DroppedErrorsTests")
    observation.cancel()
    observation.cancel()
    DroppedErrors.report(TestFailure.numbered(2), by: "DroppedErrorsTests")
    let texts = [1, 2].map { "DroppedErrorsTests dropped an error that came too late: numbered(\($0))" }
    expectEqual(first.entries, [texts[0]])
    expectEqual(second.entries, texts)
    other.cancel()
  }

  @Test("takes a cancel for no failure")
  func cancellation() {
    let log = Log<DroppedError>()
    let observation = DroppedErrors.observe { if $0.source == "cancellation" { log.write($0) } }
    DroppedErrors.report(CancellationError(), by: "cancellation")
    expectEqual(log.count, 0)
    observation.cancel()
  }
}
