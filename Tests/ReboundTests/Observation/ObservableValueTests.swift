import Combine
import Expectations
import Observation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("ObservableValue", .timeLimit(.minutes(10)))
struct ObservableValueTests {
  private let subject = PassthroughSubject<Int, Never>()

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("has the value that it was made with until the publisher sends one, and then the latest, also after the end")
  func latest() {
    let latest = subject.observableValue(initially: 0)
    expectEqual(latest.value, 0)
    subject.send(1)
    subject.send(2)
    expectEqual(latest.value, 2)
    subject.send(completion: .finished)
    expectEqual(latest.value, 2)
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("announces a change when it has been made")
  func announces() {
    let latest = subject.observableValue(initially: 0)
    let seen = Log<Int>()
    let initial = withObservationTracking({ latest.value }, onChange: { seen.write(latest.value) })
    subject.send(1)
    expectEqual(initial, 0)
    expectEqual(seen.entries, [1])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("takes a value that is sent while a change is being announced")
  func reentrancy() {
    let latest = subject.observableValue(initially: 0)
    let seen = Log<Int>()
    let subject = Locked(subject)
    withObservationTracking {
      _ = latest.value
    } onChange: {
      seen.write(latest.value)
      guard latest.value == 1 else { return }
      let sender = subject.withLock { $0 }
      sender.send(2)
    }
    self.subject.send(1)
    expectEqual(latest.value, 2)
    // Observation withdraws an observer after it was told, and not before: it is told of the change from inside, too.
    expectEqual(seen.entries, [1, 2])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("cancels its subscription when it is released, and is not kept by it")
  func releases() {
    let cancels = Log<Void>()
    weak var released: ObservableValue<Int>?
    do {
      let latest = subject.handleEvents(receiveCancel: { cancels.write(()) }).observableValue(initially: 0)
      released = latest
      subject.send(1)
    }
    #expect(released == nil)
    expectEqual(cancels.count, 1)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, *)
  @Test("is followed by Observations, to the last value")
  func observations() async {
    let latest = subject.observableValue(initially: 0)
    var values: [Int] = []
    for await value in Observations({ latest.value }) {
      values.append(value)
      if value == 3 { break }
      subject.send(value + 1)
    }
    expectEqual(values, [0, 1, 2, 3])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("no change is missed by those who observe on another thread than the publisher sends on")
  func concurrentChanges() async {
    let subject = Locked(subject)
    let latest = subject.withLock { $0 }.observableValue(initially: 0)
    let total = 4_000
    let sending = Task.detached {
      let sender = subject.withLock { $0 }
      for value in 1...total { sender.send(value) }
    }
    var values: [Int] = []
    for await value in Publishers.Observed.guarded({ latest.value }).values {
      values.append(value)
      if value == total { break }
    }
    await sending.value
    expectEqual(values, values.sorted())
  }
}
