import Foundation

@testable import ReboundOutbox

extension FuzzTarget {
  /// The records of an outbox, of any version or from anybody, and what an outbox does with them.
  static let outbox = FuzzTarget(
    "outbox",
    seeds: [
      "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}" + #"""
        {"number":{"next":4}}
        {"add":{"entry":{"id":4,"key":"a","payload":"p","idempotencyKey":"i","enqueuedAt":0,"attempts":0},"replaces":[]}}
        {"begin":{"id":4}}
        {"fail":{"id":4,"failure":{"text":"t","date":1},"counts":true}}
        {"bury":{"id":4,"reason":"expired","failure":{"text":"t","date":1}}}
        {"revive":{"id":4,"expiresAt":1e300}}
        {"add":{"entry":{"id":5,"key":"a","payload":"q","idempotencyKey":"i","enqueuedAt":0,"attempts":0},"replaces":[4]}}
        {"remove":{"id":5}}
        """#,
      "\0\0\0\0\0\0\0\0" + #"""
        {"add":{"entry":{"id":7,"key":"b","payload":7,"idempotencyKey":"i","enqueuedAt":0,"attempts":0},"replaces":[]}}
        {"bury":{"id":7,"reason":"refused","failure":{"text":"t","date":1}}}
        {"later":{"id":7}}
        {"add":{"entry":{"id":8,"key":"b","payload":"x","idempotencyKey":"i","enqueuedAt":-1e308,"expiresAt":-1e308,"attempts":9},"replaces":[8]}}
        """#,
    ],
    words: [
      "18446744073709551615", "18446744073709551614", "9223372036854775807", "-9223372036854775808", #""replaces":[4]"#,
      #""attempts":"#, #""counts":false"#, #""expiresAt":"#, #"{"begin":{"id":4}}"#, #"{"number":{"next":"#, "1e308",
    ]
  ) { input in
    let steps = (0..<8).map { _ in Int(input.byte()) }
    let records = input.rest().split(separator: 0x0A).map { Data($0) }
    let empty = OutboxMachine<String>(.standard, random: .system)
    let restored = OutboxRestoration(OutboxContents(records: records), into: empty)
    expect(restored.carried.allSatisfy { records.contains($0.record) }, "a record that was not there is carried")
    var machine = restored.machine
    check(machine)
    checkRewriting(machine)
    use(&machine, steps)
    check(machine)
    checkRewriting(machine)
  }

  /// What an outbox does sooner or later with what it has read.
  private static func use(_ machine: inout OutboxMachine<String>, _ steps: [Int]) {
    var change = OutboxMachine<String>.Change()
    var elapsed = Duration.zero
    for step in steps {
      elapsed += .seconds(step)
      let date = Date(timeIntervalSince1970: Double(step) * 1e6)
      let now = OutboxMachine<String>.Moment(elapsed: elapsed, date: date)
      let ids = machine.entries.map(\.id) + machine.deadLetters.map(\.id)
      let id = ids.isEmpty ? OutboxEntryID(1) : ids[step % ids.count]
      switch step % 8 {
      case 0:
        let entry = machine.draft("new", key: "a", idempotencyKey: "i", timeToLive: nil, date: date)
        expect(!ids.contains(entry.id), "the name \(entry.id) is given twice")
        try? machine.add(entry, replacing: step > 99 ? machine.waiting(for: "a") : [], size: 1, &change)
      case 1: _ = machine.cancel(id, &change)
      case 2: _ = machine.revive(id, date: date, &change)
      case 3: _ = machine.discard(id, &change)
      case 4: machine.giveUp(at: date, &change)
      case 5: machine.settle(id, .tryLater(CancellationError(), after: .seconds(step)), at: now, &change)
      case 6: machine.settle(id, step > 99 ? .delivered : .unreachable(CancellationError()), at: now, &change)
      default: _ = machine.begin(at: now, &change)
      }
      if let due = machine.nextDue(after: now, delivers: true) { expect(due >= .zero, "due in \(due)") }
    }
    machine.interrupt()
  }

  private static func check(_ machine: OutboxMachine<String>) {
    let (pending, dead) = (machine.entries.map(\.id), machine.deadLetters.map(\.id))
    expectEqual(Set(pending + dead).count, pending.count + dead.count, "an entry is there twice")
    for id in pending + dead { expect(id.number < machine.nextNumber, "\(id) will be given again") }
    let waiting = Set(machine.entries.map(\.key)).sorted().flatMap { machine.waiting(for: $0) }
    expect(Set(waiting).count == waiting.count, "an entry waits twice")
    expect(Set(waiting).isSubset(of: pending), "something waits that is not there")
  }

  /// An outbox writes its file anew from time to time, and it must mean the same.
  private static func checkRewriting(_ machine: OutboxMachine<String>) {
    let coder = OutboxCoder<String>()
    guard let records = try? machine.records.map(coder.data) else { return expect(false, "it cannot be written") }
    let empty = OutboxMachine<String>(.standard, random: .system)
    let again = OutboxRestoration(OutboxContents(records: records), into: empty)
    expect(again.carried.isEmpty && again.damage.isEmpty, "what was written is not understood")
    expectEqual(again.machine.entries, machine.entries, "the entries")
    expectEqual(again.machine.deadLetters, machine.deadLetters, "the dead letters")
    expectEqual(again.machine.nextNumber, machine.nextNumber, "the next number")
  }
}
