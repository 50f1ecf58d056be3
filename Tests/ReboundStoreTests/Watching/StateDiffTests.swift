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
    #expect(StateDiff.lines(from: State(), to: State()) == [])
    #expect(StateDiff.lines(from: 1, to: 1) == [])
  }

  @Test("names the path of what changed, with both values")
  func paths() {
    #expect(lines { $0.inner.name = "Cat" } == ["inner.name: nil → \"Cat\""])
    #expect(
      lines({ $0.inner.name = "Dog" }, from: State(inner: Inner(name: "Cat"))) == ["inner.name: \"Cat\" → \"Dog\""]
    )
    #expect(lines { $0.pair.1 = "b" } == ["pair..1: \"a\" → \"b\""])
    #expect(StateDiff.lines(from: 1, to: 2) == ["1 → 2"])
  }

  @Test("tells elements that came, went and changed")
  func collections() {
    #expect(lines({ $0.items = [1, 5, 3] }, from: State(items: [1, 2])) == ["items[1]: 2 → 5", "+ items[2]: 3"])
    #expect(lines({ $0.items = [] }, from: State(items: [1])) == ["- items[0]: 1"])
    let tagged = State(inner: Inner(tags: ["a", "b"], counts: ["x": 1, "y": 2]))
    #expect(lines({ $0.inner.tags = ["b", "c"] }, from: tagged) == ["- inner.tags: \"a\"", "+ inner.tags: \"c\""])
    #expect(
      lines({ $0.inner.counts = ["y": 3, "z": 4] }, from: tagged) == [
        "- inner.counts[\"x\"]: 1", "inner.counts[\"y\"]: 2 → 3", "+ inner.counts[\"z\"]: 4",
      ]
    )
  }

  @Test("looks into a case, and tells one case from another")
  func cases() {
    #expect(lines { $0.screen = .detail(id: 1) }.first?.hasPrefix("screen: closed → detail") == true)
    #expect(lines({ $0.screen = .list([2]) }, from: State(screen: .list([1]))) == ["screen.list[0]: 1 → 2"])
  }

  @Test("comes to an end with objects that hold each other")
  func cycles() {
    let (old, new) = (Node(), Node())
    old.next = old
    new.next = new
    new.value = 1
    #expect(StateDiff.lines(from: old, to: new).contains("value: 0 → 1"))
  }
}
