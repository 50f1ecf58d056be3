import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("PublisherProbe")
struct PublisherProbeTests {
  private struct Failed: Error {}

  private let probe = PublisherProbe()
  private let upstream = TestPublisher<Int, Failed>()

  @Test("counts what passes, and changes nothing")
  func counts() {
    let recorder = Recorder<Int, Failed>(requesting: .max(1), answering: { _, _ in .max(2) })
    upstream.probed(by: probe).subscribe(recorder)
    expectEqual(probe.counts.open, 1)
    expectEqual(upstream.send(7), .max(2))
    recorder.request(.max(4))
    upstream.send(completion: .failure(Failed()))

    expectEqual(recorder.values, [7])
    #expect(recorder.failure != nil)
    expectEqual(upstream.requests, [.max(1), .max(4)])
    expectEqual(probe.counts.subscriptions, 1)
    expectEqual(probe.counts.requested, .max(7))
    expectEqual(probe.counts.values, 1)
    expectEqual(probe.counts.failures, 1)
    expectEqual(probe.counts.finishes, 0)
    expectEqual(probe.counts.open, 0)
    #expect(!probe.wasCancelled)
  }

  @Test("counts a cancel, and passes it on")
  func cancels() {
    let recorder = Recorder<Int, Failed>(requesting: .none)
    upstream.probed(by: probe).subscribe(recorder)
    recorder.cancel()
    #expect(probe.wasSubscribed && probe.wasCancelled && !probe.wasRequested)
    expectEqual(probe.counts.open, 0)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("shows which way a chain took")
  func fallback() {
    let recorder = Recorder<Int, Failed>()
    Just(1).setFailureType(to: Failed.self).catch { _ in upstream.probed(by: probe) }.subscribe(recorder)
    #expect(!probe.wasSubscribed)
    Fail(error: Failed()).catch { _ in upstream.probed(by: probe) }.subscribe(recorder)
    #expect(probe.wasSubscribed)
    expectEqual(probe.counts.open, 1)
  }

  @Test("a cancel behind the end closes nothing twice")
  func cancelBehindTheEnd() {
    var kept: (any Subscription)?
    upstream.probed(by: probe).subscribe(AnySubscriber(receiveSubscription: { kept = $0 }))
    expectEqual(probe.counts.open, 1)
    upstream.send(completion: .finished)
    kept?.cancel()
    expectEqual(probe.counts.open, 0)
    expectEqual(probe.counts.finishes, 1)
  }

  @Test("lets go of both ends")
  func releases() {
    weak var weakRecorder: Recorder<Int, Failed>?
    do {
      let recorder = Recorder<Int, Failed>()
      weakRecorder = recorder
      upstream.probed(by: probe).subscribe(recorder)
      recorder.cancel()
    }
    #expect(weakRecorder == nil)
  }
}
