import Expectations
import Foundation
import ReboundTesting
import Testing

@testable import Combine

/// What stands behind the labels; the labels themselves are the contract's.
@Suite("What mirrors show")
struct MirrorTests {
  private typealias Upstream = TestPublisher<Int, TestFailure>

  /// What a subscription shows under its labels, as text, after the upstream has sent values.
  private func shown(
    sending values: [Int] = [],
    requesting demand: Subscribers.Demand = .none,
    _ build: (Upstream) -> some Publisher
  ) -> [String: String] {
    let upstream = Upstream()
    let subscription = build(upstream).subscriptionForTesting()
    if demand != .none { subscription?.request(demand) }
    for value in values { upstream.send(value) }
    return subscription.map(shown(of:)) ?? [:]
  }

  /// What the subscriber that an upstream gets shows under its labels, as text.
  private func shownAbove(_ build: (Upstream) -> some Publisher) -> [String: String] {
    var seen: AnySubscriber<Int, TestFailure>?
    _ = build(Upstream(handingOver: { seen = $0 })).subscriptionForTesting()
    return seen.map(shown(of:)) ?? [:]
  }

  private func shown(of subject: Any) -> [String: String] {
    var shown: [String: String] = [:]
    for child in Mirror(reflecting: subject).children { shown[child.label ?? "-"] = "\(child.value)" }
    return shown
  }

  /// Whether this very object is told under a label.
  private func isTold<Object: AnyObject>(_ object: Object, _ label: String, _ subject: Any) -> Bool {
    toldChild(label, of: subject) as? Object === object
  }

  @Test("conduits of subjects show the subject twice, the subscriber and the demand, until they are cancelled")
  func conduits() throws {
    let (passing, keeping) = (PassthroughSubject<Int, Never>(), CurrentValueSubject<Int, Never>(1))
    let holder = Keeper<Int, Never>()
    for isPassing in [true, false] {
      if isPassing { passing.subscribe(holder) } else { keeping.subscribe(holder) }
      let subscription = try #require(holder.subscription)
      subscription.request(.max(3))
      for label in ["parent", "subject"] {
        #expect(
          isPassing ? isTold(passing, label, subscription) : isTold(keeping, label, subscription),
          "\(label)"
        )
      }
      #expect(isTold(holder, "downstream", subscription))
      // The first request of the latter has brought the present value.
      expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, .max(isPassing ? 3 : 2))

      subscription.cancel()
      for label in ["parent", "subject", "downstream"] {
        expectEqual(toldText(label, of: subscription), "nil", "\(label)")
      }
      expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, .max(isPassing ? 3 : 2))
    }
  }

  @Test("conduits of subjects that are over show nothing of others, but the demand", arguments: [true, false])
  func conduitsAfterTheEnd(fails: Bool) throws {
    let (passing, keeping) = (PassthroughSubject<Int, TestFailure>(), CurrentValueSubject<Int, TestFailure>(1))
    for isPassing in [true, false] {
      let holder = Keeper<Int, TestFailure>()
      if isPassing { passing.subscribe(holder) } else { keeping.subscribe(holder) }
      let subscription = try #require(holder.subscription)
      subscription.request(.max(3))
      let completion: Subscribers.Completion<TestFailure> = fails ? .failure(.expected) : .finished
      if isPassing { passing.send(completion: completion) } else { keeping.send(completion: completion) }
      for label in ["parent", "subject", "downstream"] {
        expectEqual(toldText(label, of: subscription), "nil", "\(label)")
      }
      expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, .max(isPassing ? 3 : 2))
    }
  }

  @Test("what catch, buffer and notifications are still asked for is shown after a cancel, too")
  func demandAfterCancel() throws {
    let caught = try #require(Upstream().catch { _ in Just(9) }.subscriptionForTesting())
    caught.request(.max(3))
    caught.cancel()
    expectEqual(toldChild("demand", of: caught) as? Subscribers.Demand, .max(3))
    let buffer = Upstream().buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest)
    let buffered = try #require(buffer.subscriptionForTesting())
    buffered.request(.max(3))
    buffered.cancel()
    expectEqual(toldChild("downstreamDemand", of: buffered) as? Subscribers.Demand, .max(3))
    #if Foundation
      let center = NotificationCenter()
      let noted = try #require(center.publisher(for: Notification.Name("changed")).subscriptionForTesting())
      noted.request(.max(3))
      noted.cancel()
      expectEqual(toldChild("demand", of: noted) as? Subscribers.Demand, .max(3))
    #endif
  }

  @Test("debounce and combineLatest close their books with a cancel, and show no demand after it")
  func closedBooks() throws {
    func demandShown(_ label: String, _ publisher: some Publisher) throws -> [Subscribers.Demand?] {
      let subscription = try #require(publisher.subscriptionForTesting())
      subscription.request(.max(3))
      let before = toldChild(label, of: subscription) as? Subscribers.Demand
      subscription.cancel()
      return [before, toldChild(label, of: subscription) as? Subscribers.Demand]
    }
    let expected: [Subscribers.Demand?] = [.max(3), Subscribers.Demand.none]
    try expectEqual(
      demandShown("downstreamDemand", Upstream().debounce(for: 1, scheduler: ImmediateScheduler.shared)),
      expected
    )
    try expectEqual(demandShown("demand", Upstream().combineLatest(Upstream())), expected)
  }

  @Test("delay and prefix until are described by their types, and show nothing")
  func nameless() throws {
    let delay = try #require(Upstream().delay(for: 1, scheduler: ImmediateScheduler.shared).subscriptionForTesting())
    expectEqual("\(delay)", "\(type(of: delay))")
    #expect(Mirror(reflecting: delay).children.isEmpty)
    let prefix = try #require(Upstream().prefix(untilOutputFrom: Upstream()).subscriptionForTesting())
    expectEqual("\(prefix)", "\(type(of: prefix))")
    #expect(Mirror(reflecting: prefix).children.isEmpty)
  }

  @Test("publishers of one value show it, and futures their parts")
  func sources() throws {
    expectEqual(Just(7).subscriptionForTesting().map(shown(of:)), ["-": "7"])
    expectEqual(Optional(7).publisher.subscriptionForTesting().map(shown(of:)), ["-": "7"])
    #expect(Result<Int, TestFailure>.success(7).publisher.subscriptionForTesting().map(shown(of:)) == ["-": "7"])
    let future = Future<Int, Never> { _ in }
    let holder = Keeper<Int, Never>()
    future.subscribe(holder)
    let subscription = try #require(holder.subscription)
    #expect(isTold(future, "parent", subscription))
    #expect(isTold(future, "subject", subscription))
    #expect(isTold(holder, "downstream", subscription))
    let record = Record<Int, TestFailure>(output: [1], completion: .failure(.expected))
    expectEqual(
      record.subscriptionForTesting().map(shown(of:)),
      [
        "sequence": "[1]", "completion": "failure(CombineTests.TestFailure.expected)",
      ]
    )
  }

  @Test("key paths are shown by the maps that take them")
  func keyPaths() {
    var seen: AnySubscriber<Int, TestFailure>?
    _ = Upstream(handingOver: { seen = $0 }).map(\.description, \.magnitude, \.bitWidth).subscriptionForTesting()
    expectEqual(seen.flatMap { toldChild("keyPath0", of: $0) as? KeyPath<Int, String> }, \Int.description)
    expectEqual(seen.flatMap { toldChild("keyPath1", of: $0) as? KeyPath<Int, UInt> }, \Int.magnitude)
    expectEqual(seen.flatMap { toldChild("keyPath2", of: $0) as? KeyPath<Int, Int> }, \Int.bitWidth)
    _ = Upstream(handingOver: { seen = $0 }).map(\.magnitude).subscriptionForTesting()
    expectEqual(seen.flatMap { toldChild("keyPath", of: $0) as? KeyPath<Int, UInt> }, \Int.magnitude)
  }

  @Test("results so far are shown by scan, tryScan and the reducing operators")
  func results() {
    var seen: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    Upstream(handingOver: { seen = $0 }).scan(10, +).subscribe(recorder)
    _ = seen?.receive(5)
    expectEqual(seen.flatMap { toldChild("result", of: $0) as? Int }, 15)
    expectEqual(seen.map { isTold(recorder, "downstream", $0) }, true)
    let tryScan = shown(sending: [5]) { $0.tryScan(10, +) }
    #expect(tryScan["result"] == "15" && tryScan["status"] == "subscribed")
    let reduce = shown(sending: [5]) { $0.reduce(10, +) }
    #expect(reduce["result"] == "Optional(15)" && reduce["initial"] == "Optional(10)")
    #expect(reduce["status"] == "subscribed" && reduce["downstream"]?.contains("Keeper") == true)
    expectEqual(shown(sending: [5, 6]) { $0.collect() }, ["count": "2"])
    expectEqual(shown(sending: [1, 2, 2]) { $0.removeDuplicates() }["last"]?.contains("2"), true)
    expectEqual(shown { $0.removeDuplicates() }["last"], "nil")
  }

  @Test("coders show their subscriber, their upstream's subscription, and whether they are over")
  func coders() throws {
    let upstream = Upstream()
    let holder = Keeper<String, any Error>()
    upstream.encode(encoder: TestCoder()).subscribe(holder)
    let subscription = try #require(holder.subscription)
    #expect(isTold(holder, "downstream", subscription))
    expectEqual(toldText("finished", of: subscription), "false")
    #expect(toldText("upstreamSubscription", of: subscription) != "nil")
    upstream.send(completion: .finished)
    expectEqual(toldText("finished", of: subscription), "true")
    expectEqual(toldText("upstreamSubscription", of: subscription), "nil")
  }

  @Test("values that wait are shown by collect and buffer")
  func waiting() {
    let group = shown(sending: [1, 2], requesting: .max(1)) { $0.collect(3) }
    #expect(group["buffer"] == "[1, 2]" && group["count"] == "3")
    #expect(group["downstream"]?.contains("Keeper") == true && group["upstreamSubscription"] != "nil")
    let buffer = shown(sending: [1, 2, 3], requesting: .max(1)) {
      $0.buffer(size: 3, prefetch: .byRequest, whenFull: .dropNewest)
    }
    #expect(buffer["values"] == "[2, 3]" && buffer["downstreamDemand"] == "max(0)")
    #expect(buffer["state"] == "subscribed" && buffer["terminal"] == "nil")
  }

  @Test("demand is shown by catch and combineLatest")
  func demand() {
    expectEqual(shown(sending: [1], requesting: .max(3)) { $0.catch { _ in Just(9) } }["demand"], "max(2)")
    let latest = shown(sending: [1], requesting: .max(3)) { $0.combineLatest(Upstream()) }
    expectEqual(latest["demand"], "max(3)")
    expectEqual(latest["buffers"]?.contains("1"), true)
    expectEqual(latest["downstream"]?.contains("Keeper"), true)
  }

  @Test("assertNoFailure shows where it stands")
  func place() {
    let shown = shownAbove { $0.assertNoFailure("No", file: "Place.swift", line: 77) }
    expectEqual(shown, ["file": "Place.swift", "line": "77", "prefix": "No"])
  }

  @Test("published properties and object publishers show their subscribers")
  func observation() throws {
    final class Model: ObservableObject {
      @Published var number = 1
    }
    let model = Model()
    let holder = Keeper<Int, Never>()
    model.$number.subscribe(holder)
    let subscription = try #require(holder.subscription)
    subscription.request(.max(3))
    #expect(isTold(holder, "downstream", subscription))
    expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, .max(2))
    subscription.cancel()
    #expect(toldText("downstream", of: subscription) == "nil" && toldText("parent", of: subscription) == "nil")

    let other = Keeper<Void, Never>()
    model.objectWillChange.subscribe(other)
    expectEqual(other.subscription.map { isTold(other, "downstream", $0) }, true)
  }

  @Test("a dump of a subscription shows what it holds, and no class that it is made of")
  func dumps() throws {
    func dumped(_ publisher: some Publisher) throws -> String {
      var text = ""
      dump(try #require(publisher.subscriptionForTesting()), to: &text)
      return text
    }
    try expectEqual(dumped(Result<Int, TestFailure>.success(7).publisher), "▿ Once #0\n  - 7\n")
    #expect(try dumped([7].publisher).hasPrefix("▿ [7] #0\n  ▿ sequence: 1 element\n    - 7\n"))
    #expect(try !dumped([7].publisher).contains("super"))
    #expect(try !dumped(Upstream().removeDuplicates()).contains("super"))
  }

  @Test("the parent that a property's subscription shows is a PublishedSubject")
  func parentOfProperty() throws {
    final class Model {
      @Published var number = 1
    }
    let model = Model()
    let subscription = try #require(model.$number.subscriptionForTesting())
    let parent = try #require(toldChild("parent", of: subscription) as? PublishedSubject<Int>)
    expectEqual("\(type(of: parent))", "PublishedSubject<Int>")
  }

  @Test("a property shows its present value, also once somebody listens; one of its own says no more than its type")
  func property() {
    final class Model {
      @Published var text = "a"
    }
    let model = Model()
    expectEqual(Mirror(reflecting: model).descendant("_text", "storage", "value") as? String, "a")
    let listening = model.$text.sink { _ in }
    model.text = "b"
    expectEqual(Mirror(reflecting: model).descendant("_text", "storage", "value") as? String, "b")
    let published = Published(initialValue: 1)
    expectEqual(Mirror(reflecting: published).children.map(\.label), ["storage"])
    #expect("\(published)".hasSuffix("(storage: Combine.PublishedSubject<Swift.Int>)"), "\(published)")
    listening.cancel()
  }

  @Test("an assign shows object, key path and state")
  func assign() {
    final class Target {
      var number = 0
    }
    let target = Target()
    let assign = Subscribers.Assign(object: target, keyPath: \.number)
    #expect(toldChild("keyPath", of: assign) as? ReferenceWritableKeyPath<Target, Int> == \Target.number)
    let before = toldText("status", of: assign)
    assign.receive(subscription: SubscriptionSpy())
    let between = toldText("status", of: assign)
    assign.receive(completion: .finished)
    expectEqual(Set([before, between, toldText("status", of: assign)]).count, 3)
    expectEqual(toldText("object", of: assign), "nil")
  }

  #if Foundation
    @Test("an observer of notifications shows what it observes, until it is cancelled")
    func notifications() throws {
      let center = NotificationCenter()
      let object = Token {}
      let publisher = center.publisher(for: Notification.Name("changed"), object: object)
      let subscription = try #require(publisher.subscriptionForTesting())
      subscription.request(.max(3))
      #expect(isTold(center, "center", subscription))
      expectEqual((toldChild("name", of: subscription) as? Notification.Name)?.rawValue, "changed")
      #expect(isTold(object, "object", subscription))
      expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, .max(3))
      subscription.cancel()
      #expect(toldText("center", of: subscription) == "nil" && toldText("object", of: subscription) == "nil")
    }

    @Test("a data task's subscription shows its request and its demand before it is over")
    func dataTask() throws {
      let publisher = StubProtocol.makeSession().dataTaskPublisher(for: StubProtocol.url("/hello"))
      let subscription = try #require(publisher.subscriptionForTesting())
      let parent = toldChild("parent", of: subscription) as? URLSession.DataTaskPublisher
      expectEqual(parent?.request.url, StubProtocol.url("/hello"))
      expectEqual(toldText("task", of: subscription), "nil")
      expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, Subscribers.Demand.none)
      subscription.cancel()
      expectEqual(toldText("parent", of: subscription), "nil")
    }
  #endif
}
