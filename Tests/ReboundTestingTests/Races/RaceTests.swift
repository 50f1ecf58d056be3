import Combine
import Expectations
import Foundation
import ReboundTesting
import Testing

@Suite("Races")
struct RaceTests {
  private struct Failed: Error {}

  @Test("run all closures of a round at the same time, on threads of their own")
  func together() throws {
    try race(rounds: 50) { round in
      let count = Count()
      // Each waits for the others: one after the other they would never return.
      let body = {
        count.add()
        while count.value < 3 { sched_yield() }
      }
      try round.run(body, body, body)
      expectEqual(count.value, 3, "\(round)")
    }
  }

  @Test("keep what is safe safe, and what was cancelled silent")
  func subject() throws {
    var rounds = 0
    try race(rounds: 100, seed: 7) { round in
      rounds += 1
      let subject = PassthroughSubject<Int, Never>()
      let recorder = Recorder<Int, Never>()
      subject.subscribe(recorder)
      try round.run(
        { subject.send(1) },
        { recorder.cancel() }
      )
      subject.send(2)
      #expect(recorder.values.count <= 1 && !recorder.values.contains(2), "\(round)")
    }
    expectEqual(rounds, 100)
  }

  @Test("draw the same for the same seed")
  func seeded() throws {
    func draws() throws -> [UInt64] {
      var draws: [UInt64] = []
      try race(rounds: 3, seed: 5) { round in
        expectEqual(round.description, "round \(round.number), seed \(5 + round.number)")
        draws.append(round.random.next())
      }
      return draws
    }
    try expectEqual(draws(), draws())
    expectEqual(Set(try draws()).count, 3)
  }

  @Test("say which round failed, and how to play it again")
  func failure() {
    let failure = #expect(throws: RaceFailure.self) {
      try race(rounds: 10, seed: 40) { round in
        if round.number == 2 { throw Failed() }
      }
    }
    expectEqual(failure?.round, 2)
    expectEqual(
      failure?.description,
      "Round 2 of the race failed: Failed(). race(rounds: 1000, seed: 42) begins with it."
    )
  }

  @Test("end with an error when closures do not return")
  func stuck() {
    let door = DispatchSemaphore(value: 0)
    let failure = #expect(throws: RaceFailure.self) {
      try race(rounds: 1) { round in
        try round.run({ door.wait() }, {}, limit: .milliseconds(20))
      }
    }
    door.signal()
    #expect(failure?.cause is RaceStuck)
  }

  @Test("have new threads when a body goes on after closures that do not return")
  func goesOn() throws {
    let door = DispatchSemaphore(value: 0)
    try race(rounds: 2) { round in
      guard round.number == 0 else {
        let count = Count()
        // Those of the round before come back while these run.
        let open = { for _ in 0..<2 { door.signal() } }
        try round.run(open, { for _ in 0..<1_000 { count.add() } }, limit: .seconds(10))
        expectEqual(count.value, 1_000)
        return
      }
      #expect(throws: RaceStuck.self) { try round.run({ door.wait() }, { door.wait() }, limit: .milliseconds(20)) }
    }
  }

  /// Unchecked, because the lock guards the number.
  private final class Count: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0

    var value: Int { lock.withLock { number } }
    func add() { lock.withLock { number += 1 } }
  }
}
