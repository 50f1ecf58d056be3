import Expectations
import ReboundStore
import Testing

@Suite("Optimistic")
struct OptimisticTests {
  private struct Add: OptimisticChange, Equatable {
    let id: Int
    var text: String

    func apply(to value: inout [String]) { value.append(text) }
  }

  @Test("shows a change at once, and takes back only the one that failed")
  func rollsBack() {
    var list = Optimistic<Add>(["a"])
    list.begin(Add(id: 1, text: "b"))
    list.begin(Add(id: 2, text: "c"))
    expectEqual(list.value, ["a", "b", "c"])
    expectEqual(list.rollBack(1), true)
    expectEqual(list.value, ["a", "c"])
    expectEqual(list.confirmed, ["a"])
    expectEqual(list.rollBack(1), false)
    expectEqual(list.value, ["a", "c"])
  }

  @Test("what the server agrees to stays when a later change is taken back")
  func confirms() {
    var list = Optimistic<Add>([])
    list.begin(Add(id: 1, text: "a"))
    list.begin(Add(id: 2, text: "b"))
    expectEqual(list.confirm(2), true)
    expectEqual(list.confirmed, ["b"])
    expectEqual(list.rollBack(1), true)
    expectEqual(list.value, ["b"])
    #expect(list.pending.isEmpty)
    expectEqual(list.confirm(7), false)
  }

  @Test("changes keep their order, in whichever the server agrees to them")
  func confirmsInAnyOrder() {
    struct Rename: OptimisticChange {
      let id: Int
      let name: String
      func apply(to value: inout String) { value = name }
    }
    var name = Optimistic<Rename>("")
    for (id, text) in ["a", "b", "c"].enumerated() { name.begin(Rename(id: id, name: text)) }
    expectEqual(name.confirm(1), true)
    expectEqual(name.confirm(1), false)
    #expect((name.confirmed, name.value) == ("b", "c"))
    expectEqual(name.pending.map(\.id), [0, 2])
    expectEqual(name.confirm(0), true)
    #expect((name.confirmed, name.value) == ("b", "c"))
    expectEqual(name.rollBack(2), true)
    #expect((name.confirmed, name.value) == ("b", "b"))
    #expect(name.pending.isEmpty)
  }

  @Test("what the server says has the changes in it that it has agreed to")
  func rebasesConfirmed() {
    var list = Optimistic<Add>([])
    list.begin(Add(id: 1, text: "a"))
    list.begin(Add(id: 2, text: "b"))
    list.confirm(2)
    list.replaceConfirmed(with: ["b"])
    expectEqual(list.value, ["b", "a"])
    expectEqual(list.confirm(1), true)
    expectEqual(list.confirmed, ["b", "a"])
  }

  @Test("pending changes are made again on top of what the server says")
  func rebases() {
    var list = Optimistic<Add>(["a"])
    list.begin(Add(id: 1, text: "b"))
    list.replaceConfirmed(with: ["x", "y"])
    expectEqual(list.value, ["x", "y", "b"])
    list.begin(Add(id: 1, text: "B"))
    expectEqual(list.value, ["x", "y", "B"])
    expectEqual(list.pending, [Add(id: 1, text: "B")])
  }
}
