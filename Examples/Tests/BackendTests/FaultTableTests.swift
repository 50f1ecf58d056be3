import Testing

@testable import Backend

@Suite("FaultTable")
struct FaultTableTests {
  private func rule(_ path: String, _ kind: FaultRule.Kind, times: Int? = nil) -> FaultRule {
    FaultRule(
      path: path,
      kind: kind,
      status: nil,
      reason: nil,
      retryAfter: nil,
      latency: .milliseconds(1500),
      times: times
    )
  }

  @Test("without rules there are no faults")
  func empty() {
    var table = FaultTable()
    #expect(table.take(for: "/a") == nil)
    #expect(table.report.isEmpty)
  }

  @Test("a path's own rule comes before the one for any path")
  func precedence() {
    var table = FaultTable()
    table.set(rule("*", .drop))
    table.set(rule("/a", .none))
    #expect(table.take(for: "/a")?.kind == FaultRule.Kind.none)
    #expect(table.take(for: "/b")?.kind == .drop)
  }

  @Test("a rule that has been served as often as asked steps aside, and is still reported")
  func times() {
    var table = FaultTable()
    table.set(rule("/a", .garbage, times: 2))
    table.set(rule("*", .drop))
    #expect((1...3).map { _ in table.take(for: "/a")?.kind } == [.garbage, .garbage, .drop])
    #expect(table.report.map(\.remaining) == [0, nil])
    #expect(table.report.map(\.served) == [2, 1])
    #expect(table.report.map(\.latencyMilliseconds) == [1500, 1500])
  }

  @Test("a new rule for a path replaces the old one in its place, and counts anew")
  func replaced() {
    var table = FaultTable()
    table.set(rule("/a", .drop, times: 1))
    table.set(rule("/b", .drop))
    _ = table.take(for: "/a")
    table.set(rule("/a", .truncate, times: 1))
    #expect(table.report.map(\.path) == ["/a", "/b"])
    #expect(table.report.first?.served == 0)
    #expect(table.take(for: "/a")?.kind == .truncate)
  }

  @Test("removing all leaves nothing in force")
  func removed() {
    var table = FaultTable()
    table.set(rule("*", .drop))
    table.removeAll()
    #expect(table.take(for: "/a") == nil)
  }
}
