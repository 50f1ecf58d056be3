import Combine
import Rebound
import ReboundTesting
import Testing

@Suite("Marbles")
struct MarblesTests {
  @Test("show a retry, as it is drawn")
  func retry() throws {
    try expect {
      "a-#"
      $0.retry(.constant(.ticks(2)), times: 1, time: $1.time)
      "a---a-#"
      SubscriptionRows("^-#", "----^-#")
    }
  }

  @Test("show a chain that needs no scheduler, and one of two inputs")
  func otherChains() throws {
    try expect {
      "a-b-c-|"
      $0.filter { $0 != "b" }
      "a---c-|"
    }
    try expect {
      "a---c-|"
      "--b-|"
      $0.merge(with: $1)
      "a-b-c-|"
    }
    try expect {
      "a---b-|"
      "--#"
      $0.merge(with: $1.catch { _ in Just("x").setFailureType(to: MarbleFailure.self) }).delay(
        for: .ticks(1),
        scheduler: $2
      )
      "-a-x-b-|"
    }
  }

  @Test("let a hot input begin at its mark, and drop what nobody asked for")
  func hot() throws {
    try expect {
      "a-^-b-c-|"
      $0.map { $0 }
      "--b-c-|"
    }
    try expect {
      "^-abc-|"
      $0.map { $0 }
      DemandRow("1-----")
      "--a---|"
    }
    try expect {
      "^a-b-c|"
      $0.map { $0 }
      DemandRow("--^---")
      "---b-c|"
    }
  }

  @Test("let a hot input tell all its subscribers of one event before the next, as a subject does")
  func hotInTurns() throws {
    try expect {
      "^-(ab)-(c|)"
      $0.merge(with: $0)
      "--(aabb)-(cc|)"
    }
    try expect {
      "^-(ab)|"
      $0.combineLatest($0) { $0 == $1 ? "=" : "x" }
      "--(=x=)|"
    }
    try expect { input in
      "^-(abc|)"
      input.first().append(input)
      "--(abc|)"
    }
  }

  @Test("let a cold input wait for the demand")
  func cold() throws {
    try expect {
      "ab(cd)|"
      $0.map { $0 }
      DemandRow("1--2---*")
      "a--(bc)---(d|)"
    }
  }

  @Test("let the subscriber cancel, and see it at the input")
  func cancel() throws {
    try expect {
      "a-b-c-|"
      $0.map { $0 }
      DemandRow("---!")
      "a-b"
      SubscriptionRows("^--!")
    }
    try expect {
      "a-b-c-|"
      $0.prefix(2)
      "a-(b|)"
      SubscriptionRows("^-!")
    }
  }

  @Test("take an empty demand row for one that requests everything at once")
  func emptyDemand() throws {
    try expect {
      "a-|"
      $0.map { $0 }
      DemandRow("")
      "a-|"
    }
  }

  @Test("stand for values of any type")
  func values() throws {
    try Marbles(["a": 1, "b": 2, "c": 3]).expect {
      "a-b-|"
      $0.scan(0, +)
      "a-c-|"
    }
    try Marbles(inputs: ["a": 1, "b": 2], outputs: ["x": "1", "y": "2"]).expect {
      "a-b-#"
      $0.map { "\($0)" }
      "x-y-#"
    }
    try Marbles(failure: Busy()).expect {
      "#"
      $0.retry(.immediate, times: 1, time: $1.time)
      "---#"
      SubscriptionRows("(^#)", "---(^#)")
    }
  }

  private struct Busy: RetryAfterProviding {
    var retryAfter: Duration? { .ticks(3) }
  }
}
