import Combine
import ReboundTesting
import Testing

/// What holds for every operator that is a subscription of its own, however it treats values.
enum SubscriptionLaws {
  typealias Upstream = TestPublisher<Int, TestFailure>

  /// Checks the laws on an operator, applied to an upstream by `build`.
  ///
  /// - Parameters:
  ///   - name: what the subscription calls itself; nil if it has no name of its own.
  ///   - inner publishers: the labels in the subscription's mirror.
  static func check<P: Publisher>(
    named name: String?,
    children: [String] = [],
    at location: SourceLocation = #_sourceLocation,
    _ build: (Upstream) -> P
  ) {
    refusesFurtherSubscriptions(location, build)
    cancelsOnce(location, build)
    endsOnce(location, build)
    letsGoAfterCancel(location, build)
    letsGoAfterTheEnd(location, build)
    reflects(name, children, location, build)
  }

  private static func refusesFurtherSubscriptions<P: Publisher>(
    _ location: SourceLocation,
    _ build: (Upstream) -> P
  ) {
    let upstream = Upstream()
    let recorder = Recorder<P.Output, P.Failure>()
    build(upstream).subscribe(recorder)
    let second = SubscriptionSpy()
    upstream.connections.last?.send(subscription: second)

    #expect(second.cancelCount == 1, "a second subscription is cancelled", sourceLocation: location)
    #expect(upstream.cancelCount == 0, "the first subscription stays", sourceLocation: location)
    #expect(recorder.subscriptionCount == 1, "one subscription goes downstream", sourceLocation: location)

    recorder.cancel()
  }

  private static func cancelsOnce<P: Publisher>(_ location: SourceLocation, _ build: (Upstream) -> P) {
    let upstream = Upstream()
    var held: (any Subscription)?
    build(upstream).subscribe(
      AnySubscriber<P.Output, P.Failure>(receiveSubscription: { held = $0 })
    )
    held?.cancel()
    held?.cancel()
    held?.request(.max(1))

    #expect(upstream.cancelCount == 1, "the upstream is cancelled once", sourceLocation: location)
    #expect(!upstream.requests.contains(.max(1)), "nothing is asked after the cancel", sourceLocation: location)
  }

  private static func endsOnce<P: Publisher>(_ location: SourceLocation, _ build: (Upstream) -> P) {
    let upstream = Upstream()
    var held: (any Subscription)?
    var ends = 0
    build(upstream).subscribe(
      AnySubscriber<P.Output, P.Failure>(receiveSubscription: { held = $0 }, receiveCompletion: { _ in ends += 1 })
    )
    upstream.send(completion: .failure(.expected))
    held?.request(.max(7))
    held?.cancel()

    #expect(ends == 1, "a failure ends the stream without demand", sourceLocation: location)
    #expect(upstream.cancelCount == 0, "an upstream that has ended is not cancelled", sourceLocation: location)
    #expect(!upstream.requests.contains(.max(7)), "nothing is asked after the end", sourceLocation: location)
  }

  private static func letsGoAfterCancel<P: Publisher>(_ location: SourceLocation, _ build: (Upstream) -> P) {
    let (weakRecorder, weakSubscription) = released(build) { recorder, _ in recorder.cancel() }
    #expect(weakRecorder.object == nil, "the subscriber goes after a cancel", sourceLocation: location)
    #expect(weakSubscription.object == nil, "the upstream goes after a cancel", sourceLocation: location)
  }

  private static func letsGoAfterTheEnd<P: Publisher>(_ location: SourceLocation, _ build: (Upstream) -> P) {
    let (weakRecorder, weakSubscription) = released(build) { _, subscriber in
      subscriber.receive(completion: .failure(.expected))
    }
    #expect(weakRecorder.object == nil, "the subscriber goes after the end", sourceLocation: location)
    #expect(weakSubscription.object == nil, "the upstream goes after the end", sourceLocation: location)
  }

  /// Something that may be gone.
  struct Weak {
    weak var object: AnyObject?
  }

  private static func released<P: Publisher>(
    _ build: (Upstream) -> P,
    _ end: (Recorder<P.Output, P.Failure>, AnySubscriber<Int, TestFailure>) -> Void
  ) -> (Weak, Weak) {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let upstream = Upstream(handingOver: { subscriber = $0 })
    let recorder = Recorder<P.Output, P.Failure>()
    build(upstream).subscribe(recorder)
    let subscription = SubscriptionSpy()
    if let subscriber {
      subscriber.receive(subscription: subscription)
      end(recorder, subscriber)
    }
    return (Weak(object: recorder), Weak(object: subscription))
  }

  private static func reflects<P: Publisher>(
    _ name: String?,
    _ children: [String],
    _ location: SourceLocation,
    _ build: (Upstream) -> P
  ) {
    let upstream = Upstream()
    var held: (any Subscription)?
    build(upstream).subscribe(
      AnySubscriber<P.Output, P.Failure>(receiveSubscription: { held = $0 })
    )
    guard let held else {
      Issue.record("no subscription came", sourceLocation: location)
      return
    }
    if let name {
      #expect("\(held)" == name, sourceLocation: location)
      #expect(
        (held as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription as? String == name,
        sourceLocation: location
      )
    }
    #expect(Mirror(reflecting: held).children.map(\.label) == children, sourceLocation: location)
    held.cancel()
  }
}
