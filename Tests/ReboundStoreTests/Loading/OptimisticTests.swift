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
    #expect(list.value == ["a", "b", "c"])
    #expect(list.rollBack(1) == true)
    #expect(list.value == ["a", "c"])
    #expect(list.confirmed == ["a"])
    #expect(list.rollBack(1) == false)
    #expect(list.value == ["a", "c"])
  }

  @Test("what the server agrees to stays when a later change is taken back")
  func confirms() {
    var list = Optimistic<Add>([])
    list.begin(Add(id: 1, text: "a"))
    list.begin(Add(id: 2, text: "b"))
    #expect(list.confirm(2) == true)
    #expect(list.confirmed == ["b"])
    #expect(list.rollBack(1) == true)
    #expect(list.value == ["b"])
    #expect(list.pending.isEmpty)
    #expect(list.confirm(7) == false)
  }

  @Test("pending changes are made again on top of what the server says")
  func rebases() {
    var list = Optimistic<Add>(["a"])
    list.begin(Add(id: 1, text: "b"))
    list.replaceConfirmed(with: ["x", "y"])
    #expect(list.value == ["x", "y", "b"])
    list.begin(Add(id: 1, text: "B"))
    #expect(list.value == ["x", "y", "B"])
    #expect(list.pending == [Add(id: 1, text: "B")])
  }
}
