import Expectations
import Foundation
import ReboundStore
import Testing

@Suite("StateDiff")
struct StateDiffTests {
  private struct Inner: Equatable {
    var name: String?
    var tags: Set<String> = []
    var counts: [String: Int] = [:]
  }

  private enum Screen {
    case list([Int])
    case detail(id: Int)
    case closed
  }

  private final class Node {
    var next: Node?
    var value = 0
  }

  private class Branch {
    weak var parent: Branch?
    var branches: [Branch] = []
    var value = 0
  }

  private final class Leaf: Branch {
    var colour = "green"
  }

  /// Describes itself, but for what it hides.
  private struct Hiding: CustomDebugStringConvertible {
    var shown = 1
    var hidden: [String] = []
    var debugDescription: String { "hiding \(shown)" }
  }

  private struct State {
    var inner = Inner()
    var items: [Int] = []
    var screen = Screen.closed
    var pair = (1, "a")
  }

  private func lines(_ change: (inout State) -> Void, from start: State = State()) -> [String] {
    var after = start
    change(&after)
    return StateDiff.lines(from: start, to: after)
  }

  @Test("says nothing about equal values")
  func equal() {
    expectEqual(StateDiff.lines(from: State(), to: State()), [])
    expectEqual(StateDiff.lines(from: 1, to: 1), [])
  }

  @Test("names the path of what changed, with both values")
  func paths() {
    expectEqual(lines { $0.inner.name = "Cat" }, ["inner.name: nil → \"Cat\""])
    expectEqual(
      lines({ $0.inner.name = "Dog" }, from: State(inner: Inner(name: "Cat"))),
      ["inner.name: \"Cat\" → \"Dog\""]
    )
    expectEqual(lines { $0.pair.1 = "b" }, ["pair..1: \"a\" → \"b\""])
    expectEqual(StateDiff.lines(from: 1, to: 2), ["1 → 2"])
  }

  @Test("tells elements that came, went and changed")
  func collections() {
    expectEqual(lines({ $0.items = [1, 5, 3] }, from: State(items: [1, 2])), ["items[1]: 2 → 5", "+ items[2]: 3"])
    expectEqual(lines({ $0.items = [] }, from: State(items: [1])), ["- items[0]: 1"])
    let tagged = State(inner: Inner(tags: ["a", "b"], counts: ["x": 1, "y": 2]))
    expectEqual(lines({ $0.inner.tags = ["b", "c"] }, from: tagged), ["- inner.tags: \"a\"", "+ inner.tags: \"c\""])
    expectEqual(
      lines({ $0.inner.counts = ["y": 3, "z": 4] }, from: tagged),
      [
        "- inner.counts[\"x\"]: 1", "inner.counts[\"y\"]: 2 → 3", "+ inner.counts[\"z\"]: 4",
      ]
    )
  }

  @Test("looks into a case, and tells one case from another")
  func cases() {
    expectEqual(lines { $0.screen = .detail(id: 1) }.first?.hasPrefix("screen: closed → detail"), true)
    expectEqual(lines({ $0.screen = .list([2]) }, from: State(screen: .list([1]))), ["screen.list[0]: 1 → 2"])
  }

  @Test("comes to an end with objects that hold each other")
  func cycles() {
    let (old, new) = (Node(), Node())
    old.next = old
    new.next = new
    new.value = 1
    expectEqual(StateDiff.lines(from: old, to: new), ["value: 0 → 1"])
    expectEqual(StateDiff.lines(from: old, to: old), [])
  }

  @Test("compares objects once, however many ways lead back to them")
  func waysBack() {
    func tree() -> Branch {
      let root = Branch()
      root.branches = (0..<4).map { _ in Branch() }
      for branch in root.branches { branch.parent = root }
      return root
    }
    let (old, new) = (tree(), tree())
    new.branches[3].value = 1
    expectEqual(StateDiff.lines(from: old, to: new), ["branches[3].value: 0 → 1"])
  }

  @Test("sees what is near, though the way by which it was met first ends far below")
  func shorterWay() {
    func list() -> [Node] {
      let all = (0..<20).map { _ in Node() }
      for (node, next) in zip(all, all.dropFirst()) { node.next = next }
      return all
    }
    let (old, new) = (list(), list())
    new[19].value = 1
    #expect(StateDiff.lines(from: old, to: new).contains("[19].value: 0 → 1"))
  }

  @Test("tells what an object has inherited, too")
  func inherited() {
    let (old, new) = (Leaf(), Leaf())
    new.value = 1
    new.colour = "red"
    expectEqual(StateDiff.lines(from: old, to: new), ["value: 0 → 1", "colour: \"green\" → \"red\""])
  }

  @Test("compares what describes itself by its description, and does not look into it")
  func describesItself() {
    let old = Hiding()
    expectEqual(StateDiff.lines(from: old, to: Hiding(shown: 2, hidden: ["a"])), ["hiding 1 → hiding 2"])
    expectEqual(StateDiff.lines(from: [old], to: [Hiding(hidden: ["a"])]), ["[0]: changed"])
    expectEqual(StateDiff.lines(from: old, to: Hiding(hidden: ["a"])), ["changed"])
    expectEqual(StateDiff.lines(from: old, to: old), [])
    expectEqual(StateDiff.lines(from: Duration.seconds(1), to: Duration.seconds(2)), ["1.0 seconds → 2.0 seconds"])
  }

  /// All are described alike.
  private struct Secret: Hashable, CustomStringConvertible {
    var value: Int
    var description: String { "•••" }
  }

  @Test("elements and keys that are described alike are told apart all the same")
  func describedAlike() {
    func secrets(_ values: Int...) -> Set<Secret> { Set(values.map { Secret(value: $0) }) }
    struct Holder { var secrets: Set<Secret> }
    expectEqual(
      StateDiff.lines(from: Holder(secrets: secrets(1)), to: Holder(secrets: secrets(2))),
      ["secrets: changed"]
    )
    expectEqual(StateDiff.lines(from: secrets(1, 2), to: secrets(2, 1)), [])
    expectEqual(
      StateDiff.lines(from: Holder(secrets: secrets(1)), to: Holder(secrets: secrets(1, 2))),
      ["+ secrets: •••"]
    )
    func owners(_ values: [Int: String]) -> [Secret: String] {
      Dictionary(uniqueKeysWithValues: values.map { (Secret(value: $0), $1) })
    }
    expectEqual(StateDiff.lines(from: owners([1: "a"]), to: owners([2: "a"])), ["[•••]: changed"])
    expectEqual(StateDiff.lines(from: owners([1: "a", 2: "b"]), to: owners([1: "a"])), ["- [•••]: \"b\""])
    expectEqual(
      StateDiff.lines(from: owners([1: "a", 2: "b"]), to: owners([1: "a", 2: "c"])),
      ["[•••]: \"b\" → \"c\""]
    )
    expectEqual(StateDiff.lines(from: owners([1: "a", 2: "a"]), to: owners([3: "a"])), ["[•••]: changed"])
    expectEqual(StateDiff.lines(from: [Secret(value: 1)], to: [Secret(value: 2)]), ["[0]: changed"])
  }

  @Test("what is equal to itself under another name is another element still")
  func equalByIdentity() {
    struct Person: Hashable {
      var id: Int
      var name: String
      static func == (one: Person, other: Person) -> Bool { one.id == other.id }
      func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
    let (old, new) = (Person(id: 1, name: "Ann"), Person(id: 1, name: "Bob"))
    expectEqual(
      StateDiff.lines(from: Set([old]), to: Set([new])),
      [
        "- : Person(id: 1, name: \"Ann\")", "+ : Person(id: 1, name: \"Bob\")",
      ]
    )
    expectEqual(StateDiff.lines(from: [old], to: [new]), ["[0].name: \"Ann\" → \"Bob\""])
  }

  @Test("another type, another case, and what only knows itself that it is another are changes")
  func changesThatNothingTells() {
    struct Other: CustomStringConvertible { var description: String { "•••" } }
    enum Hidden: CustomStringConvertible {
      case one(Other), two(Other)
      var description: String { "•••" }
    }
    struct Mirrored: Equatable, CustomReflectable {
      var id: Int
      var customMirror: Mirror { Mirror(self, children: ["name": "a"]) }
    }
    struct Holder { var value: Any }
    func lines(_ before: Any, _ after: Any) -> [String] {
      StateDiff.lines(from: Holder(value: before), to: Holder(value: after))
    }
    expectEqual(lines(Secret(value: 1), Other()), ["value: changed"])
    expectEqual(lines(Hidden.one(Other()), Hidden.two(Other())), ["value: changed"])
    expectEqual(lines(Mirrored(id: 1), Mirrored(id: 2)), ["value: changed"])
  }

  @Test("values that are equal are no change, wherever they keep what they are made of")
  func equalStorage() {
    func isEqual<Value: Equatable>(_ one: Value, _ other: Value) {
      #expect(one == other && StateDiff.lines(from: one, to: other) == [])
    }
    isEqual(AttributedString("a"), AttributedString("a"))
    isEqual(Data(repeating: 1, count: 200), Data(repeating: 1, count: 200))
    isEqual([Data(repeating: 1, count: 200)], [Data(repeating: 1, count: 200)])
    expectEqual(StateDiff.lines(from: Data([1, 2]), to: Data([1, 3])).last, "bytes[1]: 2 → 3")
    // A number that is none is not equal to itself, and no change for that.
    struct Holder: Equatable {
      var number = Double.nan
      var numbers: Set = [Double.nan]
    }
    expectEqual(StateDiff.lines(from: Holder(), to: Holder()), [])
  }
}
