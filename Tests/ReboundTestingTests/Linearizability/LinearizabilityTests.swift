import Dispatch
import Expectations
import ReboundTesting
import StreamSupport
import Testing

/// A place for one number.
private enum RegisterCall: Hashable, CustomStringConvertible {
  case write(Int), read

  var description: String {
    switch self {
    case .write(let value): "write \(value)"
    case .read: "read"
    }
  }
}

private struct RegisterModel: SequentialModel {
  let initial = 0

  func next(_ value: Int, _ call: RegisterCall, _ answer: Int?) -> Int? {
    switch call {
    case .write(let new): new
    case .read: answer == nil || answer == value ? value : nil
    }
  }
}

/// Registers by name, which know nothing of each other.
private struct NamedCall {
  let name: String
  let call: RegisterCall
}

private struct RegistersModel: SequentialModel {
  let initial = 0

  func next(_ value: Int, _ call: NamedCall, _ answer: Int?) -> Int? { RegisterModel().next(value, call.call, answer) }
  func part(of operation: NamedCall) -> AnyHashable { operation.name }
}

@Suite("Linearizability")
struct LinearizabilityTests {
  private typealias History = ConcurrentHistory<RegisterCall, Int>

  /// Calls inside of each other, from the outside in, so that all of them are under way at once.
  private func nest(_ calls: [(RegisterCall, Int)], in history: History) {
    guard let (call, answer) = calls.first else { return }
    history.recordAtOnce(call) {
      nest(Array(calls.dropFirst()), in: history)
      return answer
    }
  }

  @Test("calls one after the other have to be answered in their order")
  func sequential() throws {
    let right = History()
    right.recordAtOnce(.write(1)) { 0 }
    right.recordAtOnce(.read) { 1 }
    try requireLinearizable(right, as: RegisterModel())
    let stale = History()
    stale.recordAtOnce(.write(1)) { 0 }
    stale.recordAtOnce(.read) { 0 }
    #expect(throws: NotLinearizable.self) { try requireLinearizable(stale, as: RegisterModel()) }
  }

  @Test("calls at the same time may have taken effect in any order")
  func concurrent() throws {
    for seen in 0...2 {
      let history = History()
      nest([(.write(1), 0), (.write(2), 0), (.read, seen)], in: history)
      try requireLinearizable(history, as: RegisterModel())
    }
    let impossible = History()
    nest([(.write(1), 0), (.write(2), 0), (.read, 3)], in: impossible)
    #expect(throws: NotLinearizable.self) { try requireLinearizable(impossible, as: RegisterModel()) }
  }

  @Test("a value that was seen is not unseen: two reads, one after the other, beside one write")
  func newOldInversion() {
    let history = History()
    history.recordAtOnce(.write(1)) {
      history.recordAtOnce(.read) { 1 }
      history.recordAtOnce(.read) { 0 }
      return 0
    }
    #expect(throws: NotLinearizable.self) { try requireLinearizable(history, as: RegisterModel()) }
  }

  @Test("a call that has thrown may have taken effect, or not")
  func thrown() throws {
    struct Lost: Error {}
    for seen in 0...1 {
      let history = History()
      #expect(throws: Lost.self) { try history.recordAtOnce(.write(1)) { throw Lost() } }
      history.recordAtOnce(.read) { seen }
      try requireLinearizable(history, as: RegisterModel())
    }
    let both = History()
    #expect(throws: Lost.self) { try both.recordAtOnce(.write(1)) { throw Lost() } }
    both.recordAtOnce(.read) { 1 }
    both.recordAtOnce(.read) { 0 }
    #expect(throws: NotLinearizable.self) { try requireLinearizable(both, as: RegisterModel()) }
  }

  @Test("a call that has not returned need not have taken effect, not even where it never could")
  func stillWaiting() throws {
    struct GaveUp: Error {}
    let history = ConcurrentHistory<ShelfCall, Int>()
    #expect(throws: GaveUp.self) { try history.recordAtOnce(.take) { throw GaveUp() } }
    history.recordAtOnce(.put) { 1 }
    history.recordAtOnce(.take) { 0 }
    try requireLinearizable(history, as: ShelfModel())
  }

  @Test("an empty history is fine, and so is one of which nothing has returned")
  func empty() throws {
    struct Lost: Error {}
    let history = History()
    try requireLinearizable(history, as: RegisterModel())
    #expect(throws: Lost.self) { try history.recordAtOnce(.read) { throw Lost() } }
    try requireLinearizable(history, as: RegisterModel())
  }

  @Test("parts that know nothing of each other are checked by themselves")
  func parts() throws {
    let history = ConcurrentHistory<NamedCall, Int>()
    // 200 names at once would be more orders than anybody can try.
    for number in 0..<200 {
      history.recordAtOnce(NamedCall(name: "\(number)", call: .write(number))) { 0 }
      history.recordAtOnce(NamedCall(name: "\(number)", call: .read)) { number }
    }
    try requireLinearizable(history, as: RegistersModel())
    history.recordAtOnce(NamedCall(name: "17", call: .read)) { 18 }
    #expect(throws: NotLinearizable.self) { try requireLinearizable(history, as: RegistersModel()) }
  }

  @Test("what fits nowhere is said, with the calls as lines")
  func explanation() throws {
    let history = History()
    history.recordAtOnce(.write(1)) { history.recordAtOnce(.write(2)) { 0 } }
    history.recordAtOnce(.read) { 3 }
    let error = try #require(
      #expect(throws: NotLinearizable.self) { try requireLinearizable(history, as: RegisterModel()) }
    )
    expectEqual(
      error.description,
      """
      no order of these calls explains their answers:
      write 1 → 0  ████···
      write 2 → 0  ·██····
      read → 3     ····██·
      possible: write 1 → 0, write 2 → 0
      but then not: read → 3
      """
    )
  }

  @Test("finds the order of a long history of many threads, and the lie that is put into it")
  func threads() throws {
    let register = LockedRegister()
    let history = History()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<40 {
        if number.isMultiple(of: 3) {
          history.recordAtOnce(.write(thread * 100 + number)) {
            register.write(thread * 100 + number)
            return 0
          }
        } else {
          history.recordAtOnce(.read) { register.read() }
        }
      }
    }
    expectEqual(history.count, 320)
    try requireLinearizable(history, as: RegisterModel())
    history.recordAtOnce(.read) { -1 }
    #expect(throws: NotLinearizable.self) { try requireLinearizable(history, as: RegisterModel()) }
  }

  @Test("a lost update across a wait is found under simulation, with its history")
  func lostUpdate() throws {
    let failure = try #require(
      #expect(throws: SimulationFailure.self) {
        try simulate(runs: 200) {
          let counter = HastyCounter()
          let history = ConcurrentHistory<CounterCall, Int>()
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { await history.record(.add) { await counter.add() } } }
          }
          try requireLinearizable(history, as: CounterModel())
        }
      }
    )
    #expect(failure.cause is NotLinearizable)
    #expect("\(failure)".contains("add → 1"))
  }
}

private final class LockedRegister: Sendable {
  private let value = Locked(0)

  func write(_ new: Int) { value.withLock { $0 = new } }
  func read() -> Int { value.withLock { $0 } }
}

private enum ShelfCall { case put, take }

/// Answers how many things lie there afterwards; whoever takes waits for one.
private struct ShelfModel: SequentialModel {
  let initial = 0

  func next(_ count: Int, _ call: ShelfCall, _ answer: Int?) -> Int? {
    let after = call == .put ? count + 1 : count - 1
    return after >= 0 && (answer == nil || answer == after) ? after : nil
  }
}

private enum CounterCall { case add }

private struct CounterModel: SequentialModel {
  let initial = 0

  func next(_ count: Int, _ call: CounterCall, _ answer: Int?) -> Int? {
    answer == nil || answer == count + 1 ? count + 1 : nil
  }
}

/// Reads, waits, and writes: what another has written meanwhile is lost.
private actor HastyCounter {
  private var count = 0

  func add() async -> Int {
    let before = count
    await Task.yield()
    count = before + 1
    return count
  }
}
