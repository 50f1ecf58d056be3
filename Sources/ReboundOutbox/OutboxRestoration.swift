import Foundation

/// What a storage held, understood as far as this version of the program can.
///
/// What it cannot understand is carried along and written down again, for a version that can.
struct OutboxRestoration<Payload: Codable & Sendable> {
  private(set) var machine: OutboxMachine<Payload>
  /// The records that were not understood, with the entry that each is about.
  private(set) var carried: [(id: OutboxEntryID?, record: Data)] = []
  private(set) var damage: [OutboxDamage]
  private(set) var interrupted: Set<OutboxEntryID> = []
  /// Whether lines are lost, of which nobody knows what they have said.
  private(set) var hasLostLines = false
  /// How many numbers are left out for the entries of lost lines: a damaged line may have been any number of lines.
  private static var skippedNumbers: UInt64 { 1 << 20 }

  init(
    _ contents: OutboxContents,
    into empty: OutboxMachine<Payload>,
    repeating mayRepeat: (OutboxEntry<Payload>) -> Bool = { _ in true }
  ) {
    machine = empty
    damage = contents.damage
    let coder = OutboxCoder<Payload>()
    var reasons: [OutboxEntryID: String] = [:]
    for data in contents.records {
      do {
        let record = try coder.record(in: data)
        if let number = record.largestNumber, number > OutboxMachine<Payload>.lastNumber {
          throw OutboxNumberTooLarge(number: number)
        }
        replay(record, data)
        // What has added its entry may be damaged.
        if let id = record.id { reserve(id.number) }
      } catch {
        let head = coder.head(in: data)
        if let add = head?.add {
          for id in add.replaces { drop(id) }
          reserve(add.entry.id.number)
          reasons[add.entry.id] = "\(error)"
        }
        carried.append((head?.add.entry.id, data))
      }
    }
    for case .corrupt(let lines, _) in contents.damage where !lines.isEmpty { hasLostLines = true }
    if hasLostLines {
      // They may have added entries, with numbers behind all that can be read.
      reserve(machine.nextNumber - 1 + Self.skippedNumbers)
      // They may have said that one is sent which must not be sent twice.
      for entry in machine.entries where entry.attempts < 1 && !mayRepeat(entry) {
        machine.replay(.begin(id: entry.id), size: 0)
      }
      beginCarried(coder)
    }
    let unreadable = Set(carried.compactMap(\.id)).sorted()
    if let first = unreadable.first { damage.append(.unreadable(unreadable, reasons[first] ?? "")) }
    let unknown = carried.count { $0.id == nil }
    if unknown > 0 { damage.append(.unknown(unknown)) }
  }

  /// Counts an attempt of each entry that only another version can read, and may want to know that.
  private mutating func beginCarried(_ coder: OutboxCoder<Payload>) {
    let begun = carried.compactMap { carried -> OutboxEntryID? in
      if case .begin(let id)? = try? coder.record(in: carried.record) { id } else { nil }
    }
    for id in Set(carried.compactMap(\.id)).subtracting(begun).sorted() {
      if let record = try? coder.data(of: .begin(id: id)) { carried.append((id, record)) }
    }
  }

  private mutating func replay(_ record: OutboxRecord<Payload>, _ data: Data) {
    switch record {
    case .add(_, let replaced, _):
      for id in replaced { drop(id) }
    case .begin(let id):
      if !carry(data, about: id) { interrupted.insert(id) }
    case .remove(let id):
      drop(id)
    case .fail(let id, _, _), .bury(let id, _, _), .revive(let id, _):
      interrupted.remove(id)
      _ = carry(data, about: id)
    case .number:
      break
    }
    machine.replay(record, size: data.count)
  }

  /// Carries a record along if the entry that it is about is.
  private mutating func carry(_ data: Data, about id: OutboxEntryID) -> Bool {
    guard carried.contains(where: { $0.id == id }) else { return false }
    carried.append((id, data))
    return true
  }

  /// Gives a number to no other entry.
  private mutating func reserve(_ number: UInt64) {
    guard number < OutboxMachine<Payload>.lastNumber else { return }
    machine.replay(.number(next: number + 1), size: 0)
  }

  private mutating func drop(_ id: OutboxEntryID) {
    interrupted.remove(id)
    carried.removeAll { $0.id == id }
  }
}

/// A record has a number that no outbox gives.
struct OutboxNumberTooLarge: Error, CustomStringConvertible {
  let number: UInt64

  var description: String { "the number \(number) was never given" }
}
