import Foundation

/// One change of an outbox's entries, as it is stored: to read all of them in order is to know what is there.
///
/// The names are those of the file, and short, since each of them is in every line.
enum OutboxRecord<Payload: Codable & Sendable>: Codable {
  /// An entry has come, in the place of some that waited; for as many seconds as the policy says, or as it says itself.
  case add(entry: OutboxEntry<Payload>, replaces: [OutboxEntryID], timeToLive: TimeInterval? = nil)
  /// An entry is sent.
  case begin(id: OutboxEntryID)
  /// An attempt has failed, and counts or does not.
  case fail(id: OutboxEntryID, failure: OutboxEntry<Payload>.Setback, counts: Bool)
  /// An entry or a dead letter is gone: delivered, or given up by the app.
  case remove(id: OutboxEntryID)
  /// An entry is a dead letter from now on.
  case bury(id: OutboxEntryID, reason: OutboxDeadLetter<Payload>.Reason, failure: OutboxEntry<Payload>.Setback)
  /// A dead letter is an entry again.
  case revive(id: OutboxEntryID, expiresAt: Date?)
  /// The number of the next entry; none is ever used twice.
  case number(next: UInt64)

  /// Whether it must survive the loss of power before anybody is told.
  ///
  /// Without the others an entry is sent once more than it was counted. So for one that must not be sent twice, `begin` must
  /// survive as well; an outbox sees to that.
  var isDurable: Bool {
    switch self {
    case .begin, .fail: false
    case .add, .remove, .bury, .revive, .number: true
    }
  }

  /// The entry that it is about; `nil` for none.
  var id: OutboxEntryID? {
    switch self {
    case .add(let entry, _, _): entry.id
    case .begin(let id), .fail(let id, _, _), .remove(let id), .bury(let id, _, _), .revive(let id, _): id
    case .number: nil
    }
  }

  /// The number behind which others are given, if it says one.
  var largestNumber: UInt64? {
    switch self {
    case .add(let entry, _, _): entry.id.number
    case .number(let next): next
    case .begin, .fail, .remove, .bury, .revive: nil
    }
  }
}

/// What can be read of an entry whose payload cannot.
struct OutboxRecordHead: Decodable {
  struct Added: Decodable {
    struct Entry: Decodable { let id: OutboxEntryID }
    let entry: Entry
    let replaces: [OutboxEntryID]
  }

  let add: Added
}

/// Writes and reads records.
struct OutboxCoder<Payload: Codable & Sendable> {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init() {
    // The same entry gives the same bytes, and no slash is escaped, so that a journal can be read by people.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  func data(of record: OutboxRecord<Payload>) throws -> Data { try encoder.encode(record) }

  func record(in data: Data) throws -> OutboxRecord<Payload> {
    try decoder.decode(OutboxRecord<Payload>.self, from: data)
  }

  func head(in data: Data) -> OutboxRecordHead? { try? decoder.decode(OutboxRecordHead.self, from: data) }
}
