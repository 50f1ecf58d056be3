import Combine
import ReboundTesting
import Testing

/// The code of Sources/ReboundTesting/ReboundTesting.docc, as it stands there.
@Suite("The code of ReboundTesting's landing page")
struct ReboundTestingPageTests {
  @Test("an hour passes at once")
  func landingPage() {
    let scheduler = TestScheduler()
    let source = TestPublisher<String, Never>()
    let recorder = Recorder<String, Never>(on: scheduler)
    source
      .delay(for: .seconds(3600), scheduler: scheduler)
      .subscribe(recorder)

    source.send("a")
    scheduler.advance(by: .seconds(3599))
    #expect(recorder.values.isEmpty)
    scheduler.advance(by: .seconds(1))
    #expect(recorder.values == ["a"])
    #expect(source.requests == [.unlimited])
  }
}
