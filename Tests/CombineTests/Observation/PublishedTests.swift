import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("@Published")
struct PublishedTests {
  final class Model: ObservableObject {
    @Published var number = 0 {
      didSet { log.append("did set \(oldValue) to \(number)") }
    }
    var log: [String] = []
  }

  @Test("the object announces the change, then the new value goes out, and only then the property has it")
  func order() {
    let model = Model()
    let announcing = model.objectWillChange.sink { model.log.append("will change \(model.number)") }
    let receiving = model.$number.sink { model.log.append("received \($0), is \(model.number)") }

    model.number = 1

    expectEqual(model.log, ["received 0, is 0", "will change 0", "received 1, is 0", "did set 0 to 1"])
    withExtendedLifetime((announcing, receiving)) {}
  }

  @Test("an equal value is sent again")
  func equalValues() {
    let model = Model()
    let recorder = Recorder<Int, Never>()
    model.$number.subscribe(recorder)

    model.number = 0

    expectEqual(recorder.values, [0, 0])
  }

  @Test("values count against the demand, and a missed one is made up for by the latest with the next request")
  func demand() {
    let model = Model()
    let recorder = Recorder<Int, Never>(requesting: .max(2))
    model.$number.subscribe(recorder)

    for number in 1...3 { model.number = number }
    expectEqual(recorder.values, [0, 1])
    recorder.request(.max(2))
    expectEqual(recorder.values, [0, 1, 3])
    model.number = 4
    model.number = 5
    expectEqual(recorder.values, [0, 1, 3, 4])
  }

  @Test("without demand nothing comes, and the first request brings the latest")
  func noDemand() {
    let model = Model()
    let recorder = Recorder<Int, Never>(requesting: .none)
    model.$number.subscribe(recorder)

    model.number = 7
    expectEqual(recorder.values, [])
    recorder.request(.unlimited)
    expectEqual(recorder.values, [7])
  }

  @Test("a value set from inside a subscriber goes out first, and the outer value stays")
  func nested() {
    let model = Model()
    let clamping = model.$number.sink { if $0 > 10 { model.number = 10 } }
    let recorder = Recorder<Int, Never>()
    model.$number.subscribe(recorder)

    model.number = 11

    expectEqual(recorder.values, [0, 10, 11])
    expectEqual(model.number, 11)
    clamping.cancel()
  }

  @Test("who subscribes or asks while a value goes round gets that value, and misses nothing")
  func askingInside() {
    let model = Model()
    let late = Recorder<Int, Never>()
    let patient = Recorder<Int, Never>(requesting: .max(1))
    model.$number.subscribe(patient)
    let subscribing = model.$number.dropFirstByHand().sink { _ in
      model.$number.subscribe(late)
      patient.request(.max(1))
    }

    model.number = 1

    expectEqual(late.values, [1])
    expectEqual(patient.values, [0, 1])
    subscribing.cancel()
  }

  @Test("who subscribes while a value goes round gets that value, also after another one was set from inside")
  func askingAfterNested() {
    let model = Model()
    let late = Recorder<Int, Never>()
    let subscribing = model.$number.sink {
      guard $0 == 1 else { return }
      model.number = 2
      model.$number.subscribe(late)
    }

    model.number = 1

    expectEqual(late.values, [1])
    subscribing.cancel()
  }

  @Test("who is asked for while a value goes round gets it once, also after another one was set from inside")
  func askedForInside() {
    let model = Model()
    let waiting = Recorder<Int, Never>(requesting: .none)
    let asking = Recorder<Int, Never>(answering: { value, _ in
      guard value == 1 else { return .none }
      model.number = 2
      waiting.request(.max(2))
      return .none
    })
    model.$number.subscribe(asking)
    model.$number.subscribe(waiting)

    model.number = 1
    expectEqual(waiting.values, [1])
    model.number = 3
    model.number = 4
    expectEqual(waiting.values, [1, 3])
  }

  @Test("the stream outlives the object, without an end")
  func outlivesObject() {
    let recorder = Recorder<Int, Never>()
    weak var released: Model?
    do {
      let model = Model()
      released = model
      model.$number.subscribe(recorder)
    }

    #expect(released == nil)
    expectEqual(recorder.values, [0])
    expectEqual(recorder.completions, [])
  }

  @Test("a property set aside by itself works through its projected value")
  func byItself() {
    var published = Published(initialValue: "a")
    let recorder = Recorder<String, Never>()
    published.projectedValue.subscribe(recorder)

    Subscribers.justSend("b", to: &published.projectedValue)

    expectEqual(recorder.values, ["a", "b"])
  }

  @Test("a copy of the wrapper is the same property, and one made of its value is another")
  func copied() {
    final class Copy {
      @Published var shared: Int
      @Published var own: Int
      init(_ other: Published<Int>, of value: Int) {
        _shared = other
        _own = Published(initialValue: value)
      }
    }
    let original = Published(initialValue: 1)
    let (one, two) = (Copy(original, of: 1), Copy(original, of: 1))
    one.shared = 2
    one.own = 2

    expectEqual(two.shared, 2)
    expectEqual(two.own, 1)
  }

  @Test("setting the projected value changes nothing")
  func projectedValueSetter() {
    let model = Model()
    let other = Model()
    other.number = 5
    let recorder = Recorder<Int, Never>()
    model.$number.subscribe(recorder)

    model.$number = other.$number
    model.number = 1

    expectEqual(recorder.values, [0, 1])
  }

  @Test("the subscription names itself and shows what it connects until it is cancelled")
  func reflection() {
    let model = Model()
    let recorder = Recorder<Int, Never>(requesting: .max(3))
    var subscription: (any Subscription)?
    model.$number.subscribe(AnySubscriber(receiveSubscription: { subscription = $0 }))
    model.$number.subscribe(recorder)

    expectEqual(subscription.map { "\($0)" }, "PublishedSubject")
    expectEqual(
      subscription.map { Mirror(reflecting: $0).children.map(\.label) },
      [
        "parent", "downstream", "demand", "subject",
      ]
    )
  }

  @Test("strings set and read on many threads arrive whole, and the last one is what everybody has")
  func threads() {
    final class Shared { @Published var text = "" }
    // Reading and setting the property on any thread is what is tested.
    nonisolated(unsafe) let shared = Shared()
    let recorder = Recorder<String, Never>()
    DispatchQueue.concurrentPerform(iterations: 4) { index in
      if index == 0 { shared.$text.subscribe(recorder) }
      for round in 0..<500 {
        shared.text = "a text too long to be kept in place, \(index) \(round)"
        #expect(shared.text.hasPrefix("a text"))
      }
    }

    expectEqual(recorder.values.last, shared.text)
  }

  @Test("numbers set and read on many threads arrive, and the last one is what everybody has")
  func threadsWithNumbers() {
    final class Shared { @Published var number = 0 }
    // Reading and setting the property on any thread is what is tested.
    nonisolated(unsafe) let shared = Shared()
    let recorder = Recorder<Int, Never>()
    DispatchQueue.concurrentPerform(iterations: 4) { index in
      if index == 0 { shared.$number.subscribe(recorder) }
      for round in 1...500 {
        shared.number = index * 1_000 + round
        #expect(shared.number > 0)
      }
    }

    expectEqual(recorder.values.last, shared.number)
  }

  /// An object that puts another property in the place of its own.
  final class Replacer {
    @Published var number = 0
    func replace() { _number = Published(initialValue: 100) }
  }

  @Test("a subscriber may end all and put another property in the place of the one that is telling it")
  func replacedInside() {
    let object = Replacer()
    var received: [Int] = []
    var subscriptions: [AnyCancellable] = []
    for isFirst in [true, false] {
      subscriptions.append(
        object.$number.sink {
          received.append($0)
          guard $0 == 2, isFirst else { return }
          object.replace()
          // Now nothing keeps what is being sent from but the round.
          subscriptions = []
        }
      )
    }
    object.number = 1
    object.number = 2
    expectEqual(received, [0, 0, 1, 1, 2])
    expectEqual(object.number, 100)

    let later = object.$number.sink { received.append($0) }
    object.number = 3
    expectEqual(received, [0, 0, 1, 1, 2, 100, 3])
    withExtendedLifetime(later) {}
  }

  @Test("a property that has been replaced goes once nobody listens any more")
  func replacedIsReleased() {
    final class Value {}
    final class Holder {
      @Published var value: Value
      init(_ value: Value) { self.value = value }
      func replace() { _value = Published(initialValue: Value()) }
    }
    weak var first: Value?
    let holder: Holder
    do {
      let value = Value()
      first = value
      holder = Holder(value)
    }
    var subscription: AnyCancellable?
    subscription = holder.$value.dropFirst().sink { _ in
      holder.replace()
      subscription?.cancel()
    }
    holder.value = Value()
    #expect(first == nil)
    _ = subscription
  }
}

extension Subscribers {
  /// Assigns one value, the way `assign(to:)` does for a property of an object.
  fileprivate static func justSend<Value>(_ value: Value, to published: inout Published<Value>.Publisher) {
    Just(value).assign(to: &published)
  }
}

extension Publisher {
  /// Leaves out the first value.
  fileprivate func dropFirstByHand() -> Publishers.Filter<Self> {
    var isFirst = true
    return filter { _ in
      defer { isFirst = false }
      return !isFirst
    }
  }
}
