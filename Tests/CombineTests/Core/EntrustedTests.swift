import Combine
import Dispatch
import Expectations
import StreamSupport
import Testing

/// An operator as others write them: it gives the upstream's subscription on unchanged, keeps its subscriber for good, and
/// sends values on from other threads.
private final class ForeignHop<Upstream: Publisher>: Publisher {
  typealias Output = Upstream.Output
  typealias Failure = Upstream.Failure

  let upstream: Upstream
  let group = DispatchGroup()
  var kept: [Any] = []

  init(_ upstream: Upstream) { self.upstream = upstream }

  func receive<S>(subscriber: S) where S: Subscriber, Failure == S.Failure, Output == S.Input {
    kept.append(subscriber)
    upstream.subscribe(HopInner(subscriber, group))
  }
}

private struct HopInner<Input, Failure: Error>: Subscriber {
  let downstream: SharedUnchecked<AnySubscriber<Input, Failure>>
  let group: DispatchGroup
  let combineIdentifier = CombineIdentifier()

  init(_ downstream: some Subscriber<Input, Failure>, _ group: DispatchGroup) {
    self.downstream = SharedUnchecked(AnySubscriber(downstream))
    self.group = group
  }

  func receive(subscription: any Subscription) { downstream.value.receive(subscription: subscription) }

  func receive(_ input: Input) -> Subscribers.Demand {
    let (downstream, input) = (downstream, SharedUnchecked(input))
    DispatchQueue.global().async(group: group) { _ = downstream.value.receive(input.value) }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    let (downstream, completion) = (downstream, SharedUnchecked(completion))
    DispatchQueue.global().async(group: group) { downstream.value.receive(completion: completion.value) }
  }
}

/// A publisher that breaks the rules: it gives its subscriber to a subject, and sends it values of its own besides.
private final class Meddler: Publisher {
  typealias Output = Int
  typealias Failure = Never

  let subject: PassthroughSubject<Int, Never>
  var send: (Int) -> Void = { _ in }

  init(_ subject: PassthroughSubject<Int, Never>) { self.subject = subject }

  func receive<S>(subscriber: S) where S: Subscriber, Never == S.Failure, Int == S.Input {
    send = { _ = subscriber.receive($0) }
    subject.subscribe(subscriber)
  }
}

/// A publisher made of a closure.
private struct ClosurePublisher<Output>: Publisher {
  typealias Failure = Never

  let attach: (AnySubscriber<Output, Never>) -> Void

  func receive<S>(subscriber: S) where S: Subscriber, Never == S.Failure, Output == S.Input {
    attach(AnySubscriber(subscriber))
  }
}

@Suite("sinks entrusted to their chain")
struct EntrustedTests {
  final class Witness {
    func touch() {}
  }

  /// Whether a chain of one subject lets the closures go.
  private func isReleased(
    _ stop: (PassthroughSubject<Int, Never>, AnyCancellable) -> Void,
    behind chain: (PassthroughSubject<Int, Never>) -> AnyPublisher<Int, Never>?
  ) -> Bool {
    let subject = PassthroughSubject<Int, Never>()
    weak var witness: Witness?
    let handle: AnyCancellable
    do {
      let captured = Witness()
      witness = captured
      if let erased = chain(subject) {
        handle = erased.sink { _ in captured.touch() }
      } else {
        handle = subject.map { $0 + 1 }.removeDuplicates().sink { _ in captured.touch() }
      }
    }
    subject.send(1)
    #expect(witness != nil)
    stop(subject, handle)
    return withExtendedLifetime((subject, handle)) { witness == nil }
  }

  @Test("let their closures go at the end though the handle is kept")
  func releaseAtEnd() {
    #expect(isReleased({ subject, _ in subject.send(completion: .finished) }, behind: { _ in nil }))
    #expect(isReleased({ subject, _ in subject.send(completion: .finished) }, behind: { $0.eraseToAnyPublisher() }))
  }

  @Test("let their closures go on cancel though handle and subject are kept")
  func releaseOnCancel() {
    #expect(isReleased({ $1.cancel() }, behind: { _ in nil }))
    #expect(isReleased({ $1.cancel() }, behind: { $0.eraseToAnyPublisher() }))
  }

  @Test("are not entrusted behind a foreign operator: closures go on cancel though it keeps the sink")
  func foreignKeeper() {
    let subject = PassthroughSubject<Int, Never>()
    let hop = ForeignHop(subject)
    weak var witness: Witness?
    let handle: AnyCancellable
    do {
      let captured = Witness()
      witness = captured
      handle = hop.map { $0 }.sink { _ in captured.touch() }
    }
    subject.send(1)
    hop.group.wait()
    #expect(witness != nil)
    handle.cancel()
    withExtendedLifetime(hop) { #expect(witness == nil) }
  }

  @Test("keep their closures while a value is inside, when the end comes from there")
  func endFromInside() {
    let subject = PassthroughSubject<Int, Never>()
    weak var witness: Witness?
    var wasAliveInside = false
    let handle: AnyCancellable
    do {
      let captured = Witness()
      witness = captured
      handle = subject.sink { [unowned subject] _ in
        subject.send(completion: .finished)
        wasAliveInside = witness != nil
        captured.touch()
      }
    }
    subject.send(1)
    #expect(wasAliveInside)
    withExtendedLifetime(handle) { #expect(witness == nil) }
  }

  @Test("get no value after a cancel from inside, and let go when that value has returned")
  func cancelFromInside() {
    let subject = PassthroughSubject<Int, Never>()
    weak var witness: Witness?
    var values: [Int] = []
    var handle: AnyCancellable?
    do {
      let captured = Witness()
      witness = captured
      handle = subject.sink {
        values.append($0)
        handle?.cancel()
        subject.send(2)
        captured.touch()
      }
    }
    subject.send(1)
    expectEqual(values, [1])
    #expect(witness == nil)
  }

  @Test("that are subscribed after their handle has gone take nothing, and have let go by then")
  func handleGoneBefore() {
    let subject = PassthroughSubject<Int, Never>()
    var attach: (() -> Void)?
    let late = ClosurePublisher<Int> { subscriber in attach = { subject.subscribe(subscriber) } }
    weak var witness: Witness?
    var events: [String] = []
    do {
      let captured = Witness()
      witness = captured
      _ = late.sink(
        receiveCompletion: { _ in events.append("end") },
        receiveValue: {
          captured.touch()
          events.append("\($0)")
        }
      )
    }
    #expect(witness == nil)
    attach?()
    subject.send(1)
    subject.send(completion: .finished)
    expectEqual(events, [])
  }

  @Test("let the handle go on the thread that ends them, while it is released on another")
  func raceOfEndAndRelease() {
    for round in 0..<1000 {
      let subject = SharedUnchecked(PassthroughSubject<Int, Never>())
      weak var witness: Witness?
      let lock = Lock()
      // Guarded by the lock; what goes is released outside of it.
      nonisolated(unsafe) var held: AnyCancellable?
      do {
        let captured = Witness()
        witness = captured
        held = subject.value.sink { _ in captured.touch() }
      }
      CombineTests.race(
        seed: UInt64(round),
        [
          { _ in subject.value.send(completion: .finished) },
          { _ in
            _ = lock.withLock {
              let taken = held
              held = nil
              return taken
            }
          },
        ]
      )
      #expect(witness == nil)
    }
  }

  @Test("survive values, ends, cancels and released handles on four threads")
  func race() {
    for round in 0..<200 {
      let subject = SharedUnchecked(PassthroughSubject<Int, Never>())
      weak var witness: Witness?
      let handle = Lock()
      // Guarded by the lock; what goes is released outside of it.
      nonisolated(unsafe) var held: AnyCancellable?
      do {
        let captured = Witness()
        witness = captured
        held = subject.value.map { $0 }.sink { _ in captured.touch() }
      }
      let drop = {
        let taken: AnyCancellable? = handle.withLock {
          defer { held = nil }
          return held
        }
        if round.isMultiple(of: 2) { taken?.cancel() }
      }
      CombineTests.race(
        seed: UInt64(round),
        [
          { _ in for number in 0..<20 { subject.value.send(number) } },
          { _ in for number in 0..<20 { subject.value.send(number) } },
          { _ in subject.value.send(completion: .finished) },
          { _ in drop() },
        ]
      )
      #expect(witness == nil)
    }
  }

  @Test("are safe behind a foreign operator that hops threads with the subject's own subscription")
  func raceBehindHop() {
    for _ in 0..<200 {
      let subject = SharedUnchecked(PassthroughSubject<Int, Never>())
      let hop = ForeignHop(subject.value)
      weak var witness: Witness?
      let held: SharedUnchecked<AnyCancellable>
      do {
        let captured = Witness()
        witness = captured
        held = SharedUnchecked(hop.sink { _ in captured.touch() })
      }
      CombineTests.race(
        seed: 1,
        [{ _ in for number in 0..<20 { subject.value.send(number) } }, { _ in held.value.cancel() }]
      )
      hop.group.wait()
      withExtendedLifetime(hop) { #expect(witness == nil) }
    }
  }

  @Test("are safe when a publisher breaks the rules and sends besides the subject")
  func raceWithMeddler() {
    for round in 0..<200 {
      let subject = SharedUnchecked(PassthroughSubject<Int, Never>())
      let meddler = Meddler(subject.value)
      weak var witness: Witness?
      let held: SharedUnchecked<AnyCancellable>
      do {
        let captured = Witness()
        witness = captured
        held = SharedUnchecked(meddler.sink { _ in captured.touch() })
      }
      let send = SharedUnchecked(meddler)
      CombineTests.race(
        seed: UInt64(round),
        [
          { _ in for number in 0..<20 { subject.value.send(number) } },
          { _ in for number in 0..<20 { send.value.send(number) } },
          { _ in if round.isMultiple(of: 2) { subject.value.send(completion: .finished) } else { held.value.cancel() }
          },
        ]
      )
      // What keeps the sink is the meddler alone now.
      meddler.send = { _ in }
      withExtendedLifetime(held) { #expect(witness == nil) }
    }
  }
}
