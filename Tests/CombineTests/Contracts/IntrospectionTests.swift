import Combine
import Expectations
import ReboundTesting
import Testing

// Watchers see every stream of their process, so each test has one of its own.
@Suite("_Introspection")
struct IntrospectionTests {
  /// Writes down what happens.
  final class Watcher: _Introspection {
    private(set) var log: [String] = []

    func willReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
    where P.Failure == S.Failure, P.Output == S.Input {
      log.append("will attach")
    }
    func didReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
    where P.Failure == S.Failure, P.Output == S.Input {
      log.append("did attach")
    }
    func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) {
      log.append("will start \(subscription)")
    }
    func didReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) {
      log.append("did start")
    }
    func willReceive<S: Subscriber>(subscriber: S, input: S.Input) {
      log.append("will receive \(input)")
    }
    func didReceive<S: Subscriber>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand) {
      log.append("did receive \(input), wants \(resultingDemand)")
    }
    func willReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) {
      log.append("will end \(completion)")
    }
    func didReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) {
      log.append("did end")
    }
    func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {
      log.append("will request \(demand)")
    }
    func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {
      log.append("did request \(demand)")
    }
    func willCancel(subscription: any Subscription) { log.append("will cancel") }
    func didCancel(subscription: any Subscription) { log.append("did cancel") }
  }

  @Test("every event is told before and after it happens")
  func watches() async {
    await #expect(processExitsWith: .success) {
      let watcher = Watcher()
      let subject = PassthroughSubject<Int, Never>()
      let recorder = Recorder<Int, Never>(requesting: .max(1), answering: { _, _ in .max(2) })
      watcher.enable()
      subject.subscribe(recorder)
      subject.send(1)
      recorder.cancel()
      let other = Recorder<Int, Never>(requesting: .none)
      subject.subscribe(other)
      subject.send(completion: .finished)

      expectEqual(
        watcher.log,
        [
          "will attach", "will start PassthroughSubject", "will request max(1)", "did request max(1)", "did start",
          "did attach", "will receive 1", "did receive 1, wants max(2)", "will cancel", "did cancel", "will attach",
          "will start PassthroughSubject", "did start", "did attach", "will end finished", "did end",
        ]
      )
      expectEqual(recorder.values, [1])
      #expect(other.isFinished, "\(other.events)")
    }
  }

  /// Writes only which event comes, into a log that others write to as well.
  final class Framing: _Introspection {
    let write: (String) -> Void

    init(_ write: @escaping (String) -> Void) { self.write = write }

    func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) { write("(start") }
    func didReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) { write("start)") }
    func willReceive<S: Subscriber>(subscriber: S, input: S.Input) { write("(value") }
    func didReceive<S: Subscriber>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand) {
      write("value)")
    }
    func willReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) { write("(end") }
    func didReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) { write("end)") }
    func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand) { write("(request") }
    func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand) { write("request)") }
    func willCancel(subscription: any Subscription) { write("(cancel") }
    func didCancel(subscription: any Subscription) { write("cancel)") }
  }

  @Test("what happens lies between what is told before and after it")
  func frames() async {
    final class Noted: Subscription {
      let write: (String) -> Void
      init(_ write: @escaping (String) -> Void) { self.write = write }
      func request(_ demand: Subscribers.Demand) { write("request") }
      func cancel() { write("cancel") }
    }
    await #expect(processExitsWith: .success) {
      var log: [String] = []
      let write: (String) -> Void = { log.append($0) }
      let framing = Framing(write)
      framing.enable()
      var upstream: AnySubscriber<Int, Never>?
      var held: (any Subscription)?
      TestPublisher<Int, Never>(handingOver: { upstream = $0 }).subscribe(
        AnySubscriber(
          receiveSubscription: {
            held = $0
            write("start")
          },
          receiveValue: { _ in
            write("value")
            return .none
          },
          receiveCompletion: { _ in write("end") }
        )
      )
      upstream?.receive(subscription: Noted(write))
      held?.request(.max(1))
      _ = upstream?.receive(1)
      upstream?.receive(completion: .finished)
      held?.cancel()
      expectEqual(log, ["start", "request", "value", "end", "cancel"].flatMap { ["(\($0)", $0, "\($0))"] })
    }
  }

  @Test("a tap looks like the subscriber behind it, and a watcher may leave everything out")
  func looksAlike() async {
    final class Idle: _Introspection {}

    await #expect(processExitsWith: .success) {
      let idle = Idle()
      var seen: AnySubscriber<Int, Never>?
      let upstream = TestPublisher<Int, Never>(handingOver: { seen = $0 })
      var values: [Int] = []
      let sink = Subscribers.Sink<Int, Never>(receiveCompletion: { _ in }, receiveValue: { values.append($0) })
      idle.enable()
      upstream.subscribe(sink)
      _ = seen?.receive(1)

      expectEqual(seen?.description, "Sink", "\(String(describing: seen))")
      expectEqual(seen?.combineIdentifier, sink.combineIdentifier, "not the sink's")
      expectEqual(values, [1])
    }
  }

  /// Looks at its subscriber as it comes, and hands over an empty subscription.
  struct Looking: Publisher {
    typealias Output = Int
    typealias Failure = Never

    let see: (Any) -> Void

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      see(subscriber)
      subscriber.receive(subscription: Subscriptions.empty)
    }
  }

  @Test("taps have no mirror and no playground form of their own")
  func formsOfTaps() async {
    final class Idle: _Introspection {}
    await #expect(processExitsWith: .success) {
      let idle = Idle()
      idle.enable()
      var seen: [Any] = []
      let looking = Looking { seen.append($0) }
      looking.subscribe(AnySubscriber(receiveSubscription: { seen.append($0) }))
      expectEqual(seen.count, 2, "\(seen)")
      for tap in seen {
        #expect(!(tap is any CustomReflectable) && !(tap is any CustomPlaygroundDisplayConvertible), "\(tap)")
      }
      idle.disable()
      looking.subscribe(AnySubscriber(receiveSubscription: { seen.append($0) }))
      #expect(seen.dropFirst(2).allSatisfy { $0 is any CustomReflectable }, "these are no taps")
    }
  }

  @Test("all who are enabled are told of every operator, and of an erased publisher as that alone")
  func whatIsTold() async {
    final class Register: _Introspection {
      private(set) var publishers: [String] = []

      func willReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
      where P.Failure == S.Failure, P.Output == S.Input {
        publishers.append(String("\(P.self)".prefix { $0 != "<" }))
      }
    }

    await #expect(processExitsWith: .success) {
      let registers = [Register(), Register()]
      for register in registers { register.enable() }
      let subject = PassthroughSubject<Int, Never>()
      subject.map { $0 }.removeDuplicates().subscribe(Recorder<Int, Never>())
      for register in registers {
        expectEqual(register.publishers, ["RemoveDuplicates", "Map", "PassthroughSubject"])
      }

      registers[1].disable()
      subject.eraseToAnyPublisher().subscribe(Recorder<Int, Never>())
      Deferred { subject }.subscribe(Recorder<Int, Never>())
      subject.receive(subscriber: Recorder<Int, Never>())
      let later = registers[0].publishers.dropFirst(3)
      expectEqual(later, ["AnyPublisher", "Deferred", "PassthroughSubject"])
      expectEqual(registers[1].publishers.count, 3, "\(registers[1].publishers)")
    }
  }

  @Test("enabled once however often it is told, kept until it is disabled, and silent after that")
  func enabling() async {
    await #expect(processExitsWith: .success) {
      weak var released: Watcher?
      let subject = PassthroughSubject<Int, Never>()
      let recorder = Recorder<Int, Never>()
      do {
        let watcher = Watcher()
        released = watcher
        #expect(!watcher.isEnabled, "before it is enabled")
        watcher.enable()
        watcher.enable()
        #expect(watcher.isEnabled, "after it was enabled")
        subject.subscribe(recorder)
      }
      expectEqual(released?.log.count { $0 == "will attach" }, 1, "\(released?.log ?? [])")

      released?.disable()
      #expect(released == nil, "kept after it was disabled")
      subject.send(1)
      expectEqual(recorder.values, [1])
    }
  }

  /// Hands its subscriber on to another publisher, by `subscribe`.
  struct HandingOn: Publisher {
    typealias Output = Int
    typealias Failure = Never

    let other: PassthroughSubject<Int, Never>

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      other.subscribe(subscriber)
    }
  }

  @Test("events of a subscriber that is handed on by subscribe are told once")
  func handedOn() async {
    await #expect(processExitsWith: .success) {
      let watcher = Watcher()
      let subject = PassthroughSubject<Int, Never>()
      let recorder = Recorder<Int, Never>(requesting: .max(1))
      watcher.enable()
      HandingOn(other: subject).subscribe(recorder)
      subject.send(1)
      recorder.cancel()

      expectEqual(
        watcher.log,
        [
          "will attach", "will attach", "will start PassthroughSubject", "will request max(1)", "did request max(1)",
          "did start", "did attach", "did attach", "will receive 1", "did receive 1, wants max(0)", "will cancel",
          "did cancel",
        ]
      )
    }
  }
}
