import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundOutbox

@Suite("Outbox: what it makes of any records")
struct OutboxRestorationTests {
  private typealias Machine = OutboxMachine<String>

  private static func entry(_ id: String, payload: String = "p", attempts: String = "0") -> String {
    #"{"add":{"entry":{"id":\#(id),"key":"k","payload":"\#(payload)","idempotencyKey":"i","enqueuedAt":0,"#
      + #""attempts":\#(attempts)},"replaces":[]}}"#
  }

  private static func restored(_ records: String...) -> OutboxRestoration<String> {
    let empty = Machine(.standard, random: .system)
    return OutboxRestoration(OutboxContents(records: records.map { Data($0.utf8) }), into: empty)
  }

  @Test(
    "a number that leaves none for the next entry is carried along, not used",
    arguments: ["18446744073709551615", "18446744073709551614", "9223372036854775809"]
  )
  func largestNumber(number: String) throws {
    for record in [Self.entry(number), #"{"number":{"next":\#(number)}}"#, Self.entry(number, attempts: #""none""#)] {
      let restored = Self.restored(record)
      expectEqual(restored.carried.map(\.record), [Data(record.utf8)])
      #expect(!restored.damage.isEmpty)
      var (machine, change) = (restored.machine, Machine.Change())
      let date = Date(timeIntervalSince1970: 0)
      let draft = machine.draft("new", key: "k", idempotencyKey: "i", timeToLive: nil, date: date)
      try machine.add(draft, replacing: [], size: 1, &change)
      expectEqual(machine.entries.map(\.payload), ["new"])
    }
  }

  @Test(
    "the number of an entry is given to no other, also if what has added it is damaged",
    arguments: [
      #"{"begin":{"id":7}}"#, #"{"fail":{"id":7,"failure":{"text":"t","date":1},"counts":true}}"#,
      #"{"remove":{"id":7}}"#,
      #"{"bury":{"id":7,"reason":"expired","failure":{"text":"t","date":1}}}"#, #"{"revive":{"id":7}}"#,
    ]
  )
  func numberOfDamage(record: String) {
    expectEqual(Self.restored(Self.entry("1"), record).machine.nextNumber, 8)
  }

  @Test("an entry's own time to live is still known when all records were written anew")
  func ownTimeInFewestRecords() throws {
    var (machine, change) = (Machine(.standard, random: .system), Machine.Change())
    let date = Date(timeIntervalSince1970: 0)
    let entry = machine.draft("a", key: "k", idempotencyKey: "i", timeToLive: 30, date: date)
    try machine.add(entry, replacing: [], timeToLive: 30, size: 1, &change)
    machine.giveUp(at: date + 30, &change)
    let records = try machine.records.map(OutboxCoder<String>().data)
    let restored = OutboxRestoration(OutboxContents(records: records), into: Machine(.standard, random: .system))
    machine = restored.machine
    let isRevived = machine.revive(entry.id, date: date + 100, &change)
    #expect(isRevived)
    expectEqual(machine.entries.map(\.expiresAt), [date + 130])
  }

  @Test("damaged lines may have added entries behind all that can be read, whose numbers are given to no other")
  func numbersOfDamage() {
    let contents = OutboxContents(
      records: [Data(Self.entry("1").utf8)],
      // Where a line break is damaged, one line was several.
      damage: [.torn(bytes: 9), .corrupt(lines: [3], keptAt: "/copy")]
    )
    let restored = OutboxRestoration(contents, into: Machine(.standard, random: .system))
    expectEqual(restored.machine.nextNumber, 2 + 1 << 20)
    #expect(restored.hasLostLines)
    #expect(!Self.restored(Self.entry("1")).hasLostLines)
  }

  @Test("damaged lines may have said that an entry is sent, which counts for those that must not be sent twice")
  func attemptsOfDamage() {
    let begin = #"{"begin":{"id":2}}"#
    // Of the attempt that it takes back, the beginning is damaged.
    let unreached = #"{"fail":{"id":4,"failure":{"text":"t","date":1},"counts":false}}"#
    let records = ["1", "2", "3", "4"].map { Self.entry($0, payload: $0 == "3" ? "often" : "once") }
    for isDamaged in [true, false] {
      let contents = OutboxContents(
        records: (records + [begin, unreached]).map { Data($0.utf8) },
        damage: isDamaged ? [.corrupt(lines: [3], keptAt: "/copy")] : [.torn(bytes: 9)]
      )
      let empty = Machine(.standard, random: .system)
      let restored = OutboxRestoration(contents, into: empty) { $0.payload != "once" }
      expectEqual(restored.machine.entries.map(\.attempts), isDamaged ? [1, 1, 0, 1] : [0, 1, 0, 0])
      expectEqual(restored.interrupted, [OutboxEntryID(2)])
    }
  }

  @Test("and for those that only another version can read, once")
  func attemptsOfDamageOfAnotherVersion() {
    func add(_ id: Int) -> String { #"{"add":{"entry":{"id":\#(id),"payload":{"later":1}},"replaces":[]}}"# }
    func begin(_ id: Int) -> String { #"{"begin":{"id":\#(id)}}"# }
    let contents = OutboxContents(
      records: [add(1), add(2), begin(2)].map { Data($0.utf8) },
      damage: [.corrupt(lines: [3], keptAt: "/copy")]
    )
    let restored = OutboxRestoration(contents, into: Machine(.standard, random: .system))
    expectEqual(restored.carried.map(\.record), [add(1), add(2), begin(2), begin(1)].map { Data($0.utf8) })
  }

  @Test("attempts stay at the largest and the smallest number instead of going beyond them")
  func attempts() {
    let most = Self.restored(Self.entry("1", attempts: "\(Int.max)"), #"{"begin":{"id":1}}"#)
    expectEqual(most.machine.entries.map(\.attempts), [.max])
    var (machine, change) = (most.machine, Machine.Change())
    let now = Machine.Moment(elapsed: .zero, date: Date(timeIntervalSince1970: 0))
    expectEqual(machine.begin(at: now, &change).map(\.attempts), [.max])
    let failed = #"{"fail":{"id":1,"failure":{"text":"t","date":1},"counts":false}}"#
    expectEqual(Self.restored(Self.entry("1", attempts: "\(Int.min)"), failed).machine.entries.map(\.attempts), [.min])
  }

  @Test("all that is stored of an entry that cannot be decoded is carried along, its attempts too")
  func carriesAttempts() {
    let add = #"{"add":{"entry":{"id":1,"payload":{"later":1}},"replaces":[]}}"#
    let begin = #"{"begin":{"id":1}}"#
    let failed = #"{"fail":{"id":1,"failure":{"text":"t","date":1},"counts":false}}"#
    let restored = Self.restored(add, begin, failed, begin)
    expectEqual(restored.carried.map(\.record), [add, begin, failed, begin].map { Data($0.utf8) })
    // It is not sent by this version.
    #expect(restored.interrupted.isEmpty)
    let removed = Self.restored(add, begin, #"{"remove":{"id":1}}"#)
    #expect(removed.carried.isEmpty)
  }

  @Test("an entry that was written twice is there once, as it was written last")
  func twice() {
    let machine = Self.restored(Self.entry("1", payload: "old"), Self.entry("2"), Self.entry("1", payload: "new"))
      .machine
    expectEqual(machine.entries.map(\.payload), ["new", "p"])
    expectEqual(machine.waiting(for: "k"), [OutboxEntryID(1), OutboxEntryID(2)])
    let buried = #"{"bury":{"id":1,"reason":"expired","failure":{"text":"t","date":1}}}"#
    let again = Self.restored(Self.entry("1"), buried, Self.entry("1", payload: "new")).machine
    expectEqual(again.entries.map(\.payload), ["new"])
    #expect(again.deadLetters.isEmpty)
  }
}
