import Combine
import Expectations
import Foundation
import ReboundTesting
import StreamSupport
import Synchronization
import Testing

/// Properties that threads change, and objects that watch them.
@Suite("Properties while threads race", .serialized)
struct ObservationRaceTests {
  private let crew = RaceCrew(size: 3)
  private let rounds = StressSettings.rounds * 5

  private class Model: ObservableObject {
    @Published var number = 0
    @Published var text = ""
  }

  private final class Submodel: Model {
    @Published var flag = false
  }

  private final class Plain: ObservableObject {}

  /// Unchecked, because the lock guards the value.
  private final class Target: @unchecked Sendable {
    private let lock = Lock()
    private var stored: [Int] = []

    var number: Int {
      get { lock.withLock { stored.last ?? -1 } }
      set { lock.withLock { stored.append(newValue) } }
    }

    var all: [Int] { lock.withLock { stored } }
  }

  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
  }

  @Test("what a published property tells last is what it holds, though two threads set it while others come")
  func twoWriters() {
    for round in 0..<rounds {
      let model = Model()
      let (early, late) = (Recorder<Int, Never>(), Recorder<Int, Never>())
      model.$number.subscribe(early)
      let hasReturned = crew.run([
        { for number in 1...8 { model.number = number } },
        { for number in 11...18 { model.number = number } },
        { model.$number.subscribe(late) },
      ])
      #expect(hasReturned && early.values.last == model.number && late.values.last == model.number, "round \(round)")
      for writer in [1...8, 11...18] {
        expectEqual(early.values.filter(writer.contains), Array(writer), "round \(round): \(early.values)")
        let seen = late.values.filter(writer.contains)
        expectEqual(seen, Array(writer.suffix(seen.count)), "round \(round): \(late.values)")
      }
      early.cancel()
      late.cancel()
    }
  }

  @Test("a property that strings are stored in is told and read as a whole")
  func references() {
    for round in 0..<rounds {
      let model = Model()
      let recorder = Recorder<String, Never>()
      let longs = (0..<6).map { String(repeating: "\($0)", count: 40) }
      let hasReturned = crew.run([
        { for text in longs { model.text = text } },
        { for _ in longs { #expect(Set(model.text).count <= 1) } },
        { model.$text.subscribe(recorder) },
      ])
      #expect(hasReturned && recorder.values.last == longs.last, "round \(round)")
      recorder.cancel()
    }
  }

  @Test("all threads that ask an object first get the same publisher, which tells every change that follows")
  func objectWillChange() {
    for round in 0..<rounds {
      let model = Submodel()
      let recorders = (0..<3).map { _ in Recorder<Void, Never>() }
      let found = (0..<3).map { _ in Found() }
      let hasReturned = crew.run(
        (0..<3).map { index in
          {
            let publisher = model.objectWillChange
            found[index].publisher = publisher
            publisher.subscribe(recorders[index])
            if index == 2 { model.number = 1 }
          }
        }
      )
      let before = recorders.map(\.values.count)
      model.flag = true
      model.text = "new"
      #expect(
        hasReturned && Set(found.compactMap { $0.publisher.map(ObjectIdentifier.init) }).count == 1,
        "round \(round)"
      )
      expectEqual(recorders.map(\.values.count), before.map { $0 + 2 }, "round \(round)")
      for recorder in recorders { recorder.cancel() }
    }
  }

  /// Written by one thread, read when all are done.
  private final class Found {
    var publisher: ObservableObjectPublisher?
  }

  @Test("an object without published properties has one publisher, while others come and go")
  func ownPublisher() {
    for round in 0..<rounds {
      let recorder = Recorder<Void, Never>()
      let object = Plain()
      let found = (0..<2).map { _ in Found() }
      let hasReturned = crew.run([
        { found[0].publisher = object.objectWillChange },
        { found[1].publisher = object.objectWillChange },
        { for plain in (0..<20).map({ _ in Plain() }) { plain.objectWillChange.send() } },
      ])
      found[0].publisher?.subscribe(recorder)
      object.objectWillChange.send()
      #expect(hasReturned && found[0].publisher === found[1].publisher && recorder.values.count == 1, "round \(round)")
      recorder.cancel()
    }
  }

  @Test("an assignment that is cancelled while values come lets go of its object, and values arrive in order")
  func assignOn() {
    for round in 0..<rounds {
      weak var released: Target?
      let subject = PassthroughSubject<Int, Never>()
      do {
        let target = Target()
        released = target
        let assignment = subject.assign(to: \.number, on: target)
        let hasReturned = crew.run([
          { for number in 0..<8 { subject.send(number) } },
          { assignment.cancel() },
        ])
        subject.send(9)
        let all = target.all
        #expect(hasReturned && all == Array(0..<all.count), "round \(round): \(all)")
      }
      #expect(released == nil, "round \(round)")
    }
  }

  @Test("an assignment that is cancelled and ended at once lets go of its object once")
  func assignEnds() {
    for round in 0..<rounds {
      weak var released: Target?
      let cancels = Counter()
      do {
        let target = Target()
        released = target
        let subject = PassthroughSubject<Int, Never>()
        let assignment = subject.handleEvents(receiveCancel: { cancels.add() }).assign(to: \.number, on: target)
        let hasReturned = crew.run([
          { subject.send(completion: .finished) },
          { assignment.cancel() },
          { assignment.cancel() },
        ])
        #expect(hasReturned && cancels.value <= 1, "round \(round)")
      }
      #expect(released == nil, "round \(round)")
    }
  }

  @Test("a published property that is assigned to while it is set, and goes, cancels what it was assigned")
  func assignToPublished() {
    for round in 0..<rounds {
      let subject = PassthroughSubject<Int, Never>()
      let cancels = Counter()
      weak var released: Model?
      do {
        let model = Model()
        released = model
        let hasReturned = crew.run([
          { for number in 0..<8 { subject.send(number) } },
          { subject.handleEvents(receiveCancel: { cancels.add() }).assign(to: &model.$number) },
          { for number in 10..<18 { model.number = number } },
        ])
        subject.send(8)
        #expect(hasReturned && model.number == 8, "round \(round): \(model.number)")
      }
      subject.send(9)
      #expect(released == nil && cancels.value == 1, "round \(round): \(cancels.value) cancels")
    }
  }

  @Test("an object that goes while its property is assigned to cancels what it was assigned")
  func assignToPublishedOfALeaver() {
    for round in 0..<rounds {
      let subject = PassthroughSubject<Int, Never>()
      let cancels = Counter()
      let holder = Holder()
      weak let released = holder.model
      if let model = holder.model {
        subject.handleEvents(receiveCancel: { cancels.add() }).assign(to: &model.$number)
      }
      let hasReturned = crew.run([
        { for number in 0..<8 { subject.send(number) } },
        { holder.drop() },
        { for number in 10..<18 { holder.model?.number = number } },
      ])
      #expect(hasReturned && released == nil && cancels.value == 1, "round \(round): \(cancels.value) cancels")
    }
  }

  /// Holds a model until a thread drops it.
  ///
  /// Unchecked, because the lock guards the reference.
  private final class Holder: @unchecked Sendable {
    private let lock = Lock()
    private var held: Model? = Model()

    var model: Model? { lock.withLock { held } }

    func drop() {
      let dropped = lock.withLock {
        let model = held
        held = nil
        return model
      }
      withExtendedLifetime(dropped) {}
    }
  }
}
