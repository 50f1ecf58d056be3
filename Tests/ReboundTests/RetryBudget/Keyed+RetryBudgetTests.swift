import Expectations
import Rebound
import Testing

@Suite("Keyed+RetryBudget")
struct KeyedRetryBudgetTests {
  @Test("each key has a budget of its own, with the numbers that were given")
  func apart() throws {
    let budgets = try Keyed<String, RetryBudget>.ratio(0.5, window: .seconds(1), floor: 1)
    for _ in 0..<4 { budgets["sick"].begin(at: .zero) }
    // Kept: one that is forgotten is given back.
    let granted = ["sick", "well"].map { key in (0..<9).compactMap { _ in budgets[key].grant(at: .zero) } }
    expectEqual(granted.map(\.count), [3, 1])
    expectEqual(budgets.count, 2)
  }

  @Test("no more are kept than may be")
  func limit() throws {
    let budgets = try Keyed<Int, RetryBudget>.ratio(0.5, limit: 2)
    for number in 0..<9 { budgets[number].begin(at: .zero) }
    expectEqual(budgets.count, 2)
  }

  @Test("numbers that make no sense are refused when it is made")
  func refused() {
    #expect(throws: InvalidPolicy.self) { try Keyed<String, RetryBudget>.ratio(-1) }
    #expect(throws: InvalidPolicy.self) { try Keyed<String, RetryBudget>.ratio(0.2, window: .zero) }
    #expect(throws: InvalidPolicy.self) { try Keyed<String, RetryBudget>.ratio(0.2, floor: -1) }
  }
}
