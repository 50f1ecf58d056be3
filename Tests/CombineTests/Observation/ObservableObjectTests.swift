import Combine
import Dispatch
import Expectations
import Foundation
import ReboundTesting
import Testing

@Suite("ObservableObject")
struct ObservableObjectTests {
  class Base {
    @Published var inherited = 0
  }

  class Middle<Value>: Base, ObservableObject {
    @Published var value: Value
    let constant = Published(initialValue: "")
    var withoutAttribute = Published(initialValue: 0.0)
    var plain = 0

    init(_ value: Value) { self.value = value }
  }

  final class Leaf: Middle<[Int]> {
    @Published var own = false
  }

  @Test("every published field announces changes: own, inherited, generic, constant, without the attribute")
  func allFields() {
    let leaf = Leaf([])
    var changes = 0
    let cancellable = leaf.objectWillChange.sink { changes += 1 }

    leaf.own = true
    leaf.value = [1]
    leaf.inherited = 1
    var constant = leaf.constant.projectedValue
    Just("x").assign(to: &constant)
    Just(1.0).assign(to: &leaf.withoutAttribute.projectedValue)
    leaf.plain = 1

    expectEqual(changes, 5)
    cancellable.cancel()
  }

  @Test("the publisher is the same each time, and another one for each object")
  func stable() {
    let first = Leaf([])
    let second = Leaf([])

    #expect(first.objectWillChange === first.objectWillChange)
    #expect(first.objectWillChange !== second.objectWillChange)
  }

  final class Empty: ObservableObject {
    let number = 0
  }

  @Test("an object without published fields has one publisher, too, as long as it lives")
  func withoutFields() {
    let object = Empty()
    let other = Empty()
    let recorder = Recorder<Void, Never>()
    object.objectWillChange.subscribe(recorder)

    object.objectWillChange.send()
    other.objectWillChange.send()

    expectEqual(recorder.values.count, 1)
    #expect(object.objectWillChange === object.objectWillChange)
  }

  @Test("a class may forge its mirror, and its fields announce their changes all the same")
  func forgedMirror() {
    final class Forged: ObservableObject, CustomReflectable {
      @Published var number = 0
      var customMirror: Mirror { Mirror(self, children: [:]) }
    }
    let forged = Forged()
    let recorder = Recorder<Void, Never>()
    forged.objectWillChange.subscribe(recorder)

    forged.number = 1

    expectEqual(recorder.values.count, 1)
  }

  // Unchecked because its class says so, too.
  final class Download: Operation, ObservableObject, @unchecked Sendable {
    @Published var progress = 0
    var label = ""
    @Published var note = ""
  }

  // Unchecked because its class says so, too.
  final class Reader: JSONDecoder, ObservableObject, @unchecked Sendable {
    @Published var count = 0
  }

  final class Node: NSObject, ObservableObject {
    @Published var name = ""
  }

  @Test("fields of subclasses of a library's classes are found")
  func librarySubclasses() {
    func changes<Object: ObservableObject>(of object: Object, _ change: (Object) -> Void) -> Int
    where Object.ObjectWillChangePublisher == ObservableObjectPublisher {
      let recorder = Recorder<Void, Never>()
      object.objectWillChange.subscribe(recorder)
      change(object)
      #expect(object.objectWillChange === object.objectWillChange)
      return recorder.values.count
    }
    expectEqual(
      changes(of: Download()) {
        $0.progress = 1
        $0.label = "not published"
        $0.note = "a"
      },
      2
    )
    expectEqual(changes(of: Reader()) { $0.count += 1 }, 1)
    expectEqual(changes(of: Node()) { $0.name = "a" }, 1)
  }

  @Test("changes before anybody asked for the publisher are announced to nobody")
  func beforeAnybodyAsked() {
    let leaf = Leaf([])
    leaf.own = true
    leaf.inherited = 1
    let recorder = Recorder<Void, Never>()
    leaf.objectWillChange.subscribe(recorder)
    #expect(recorder.values.isEmpty)
    leaf.own = false
    expectEqual(recorder.values.count, 1)
  }

  @Test("a field that was replaced announces changes again when the publisher is next asked for", arguments: [0, 1, 2])
  func replacedField(index: Int) {
    final class Model: ObservableObject {
      @Published var first = 0
      @Published var second = 0
      @Published var third = 0

      func replace(_ index: Int) {
        switch index {
        case 0: _first = Published(initialValue: 5)
        case 1: _second = Published(initialValue: 5)
        default: _third = Published(initialValue: 5)
        }
      }
    }
    let model = Model()
    let publisher = model.objectWillChange
    let recorder = Recorder<Void, Never>()
    publisher.subscribe(recorder)
    model.replace(index)

    #expect(model.objectWillChange === publisher)
    model.first = 1
    model.second = 1
    model.third = 1

    expectEqual(recorder.values.count, 3)
  }

  @Test("a reference that leads nowhere is not followed in the search for fields")
  func danglingReference() {
    final class Child: ObservableObject {
      unowned var parent: Base
      @Published var number = 0
      init(_ parent: Base) { self.parent = parent }
    }
    var parent: Base? = Base()
    let child = parent.map(Child.init)
    parent = nil
    let recorder = Recorder<Void, Never>()
    child?.objectWillChange.subscribe(recorder)

    child?.number = 1

    expectEqual(recorder.values.count, 1)
  }

  @Test("a class with a publisher of its own decides itself what it announces")
  func ownPublisher() {
    final class Own: ObservableObject {
      let objectWillChange = PassthroughSubject<String, Never>()
      @Published var number = 0
    }
    let own = Own()
    let recorder = Recorder<String, Never>()
    own.objectWillChange.subscribe(recorder)

    own.number = 1
    own.objectWillChange.send("by hand")

    expectEqual(recorder.values, ["by hand"])
  }

  @Test("fields do not keep their object alive, nor does somebody who listens to it")
  func releases() {
    weak var released: Leaf?
    let recorder = Recorder<Void, Never>()
    do {
      let leaf = Leaf([])
      released = leaf
      leaf.objectWillChange.subscribe(recorder)
    }

    #expect(released == nil)
    expectEqual(recorder.completions, [])
  }

  @Test("threads that ask at the same time get the same publisher")
  func threads() {
    for _ in 0..<50 {
      // Asking on any thread is what is tested.
      nonisolated(unsafe) let leaf = Leaf([])
      let recorder = Recorder<Void, Never>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in leaf.objectWillChange.subscribe(recorder) }

      leaf.own = true

      expectEqual(recorder.values.count, 4)
    }
  }
}
