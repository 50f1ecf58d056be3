import Expectations
import Rebound
import Testing

@Suite("TimeoutMachine")
struct TimeoutMachineTests {
  private typealias Situation = TimeoutMachine.Situation

  private let policies: [String: TimeoutPolicy] = [
    "total": .total(.seconds(30)),
    "attempt": .attempt(.seconds(10)),
    "first": .firstValue(.seconds(5)),
    "between": .betweenValues(.seconds(3)),
  ]

  struct Row: Sendable {
    let policy: String
    let elapsed: Int
    let waitingSince: Int?
    let values: Int
    let verdict: TimeoutMachine.Verdict
  }

  private static let rows: [Row] = [
    Row(policy: "total", elapsed: 0, waitingSince: nil, values: 0, verdict: .wait(until: .seconds(30))),
    Row(policy: "total", elapsed: 29, waitingSince: 1, values: 9, verdict: .wait(until: .seconds(30))),
    Row(
      policy: "total",
      elapsed: 30,
      waitingSince: nil,
      values: 0,
      verdict: .expired(TimedOut(.total, limit: .seconds(30)))
    ),
    Row(
      policy: "attempt",
      elapsed: 11,
      waitingSince: nil,
      values: 2,
      verdict: .expired(TimedOut(.attempt, limit: .seconds(10), elapsed: .seconds(11), values: 2))
    ),
    Row(policy: "first", elapsed: 100, waitingSince: nil, values: 0, verdict: .rest),
    Row(policy: "first", elapsed: 100, waitingSince: 100, values: 0, verdict: .wait(until: .seconds(105))),
    Row(
      policy: "first",
      elapsed: 105,
      waitingSince: 100,
      values: 0,
      verdict: .expired(TimedOut(.firstValue, limit: .seconds(5), elapsed: .seconds(105)))
    ),
    Row(policy: "first", elapsed: 200, waitingSince: 100, values: 1, verdict: .rest),
    Row(policy: "between", elapsed: 7, waitingSince: nil, values: 1, verdict: .rest),
    Row(policy: "between", elapsed: 7, waitingSince: 5, values: 1, verdict: .wait(until: .seconds(8))),
    Row(
      policy: "between",
      elapsed: 8,
      waitingSince: 5,
      values: 1,
      verdict: .expired(TimedOut(.betweenValues, limit: .seconds(3), elapsed: .seconds(8), values: 1))
    ),
    Row(
      policy: "between",
      elapsed: 3,
      waitingSince: 0,
      values: 0,
      verdict: .expired(TimedOut(.betweenValues, limit: .seconds(3)))
    ),
  ]

  @Test("reaches each limit at its moment, not before, and only while it runs", arguments: rows)
  func table(row: Row) throws {
    let situation = Situation(
      elapsed: .seconds(row.elapsed),
      waitingSince: row.waitingSince.map { .seconds($0) },
      values: row.values
    )
    expectEqual(TimeoutMachine(try #require(policies[row.policy])).verdict(situation), row.verdict)
  }

  @Test("reaches the nearest of several limits, and of equal ones that for more")
  func nearest() throws {
    let policy = try TimeoutPolicy(total: .seconds(9), attempt: .seconds(9), firstValue: .seconds(4), name: "weather")
    let machine = TimeoutMachine(policy)
    expectEqual(machine.verdict(Situation(waitingSince: .zero)), .wait(until: .seconds(4)))
    expectEqual(machine.verdict(Situation(waitingSince: .seconds(6))), .wait(until: .seconds(9)))
    let expired = machine.verdict(Situation(elapsed: .seconds(9), waitingSince: .seconds(6)))
    expectEqual(expired, .expired(TimedOut(.total, limit: .seconds(9), name: "weather")))
  }

  @Test("asks the limit between values for the first one only where that has none of its own")
  func firstHasItsOwn() throws {
    let machine = TimeoutMachine(try TimeoutPolicy(firstValue: .seconds(10), betweenValues: .seconds(2)))
    expectEqual(machine.verdict(Situation(waitingSince: .zero)), .wait(until: .seconds(10)))
    expectEqual(machine.verdict(Situation(waitingSince: .zero, values: 1)), .wait(until: .seconds(2)))
  }
}
