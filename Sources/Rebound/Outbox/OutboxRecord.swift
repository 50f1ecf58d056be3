import Foundation

/// One change of an outbox's entries, as it is stored: to read all of them in order is to know what is there.
enum OutboxRecord<Payload: Codable & Sendable>: Codable {
  /// An entry has come, in the place of some that waited.
  case added(OutboxEntry<Payload>, replacing: [OutboxEntryID])
  /// An entry is sent.
  case began(OutboxEntryID)
  /// An attempt has failed, and counts or does not.
  case failed(OutboxEntryID, OutboxEntry<Payload>.Setback, counts: Bool)
  /// An entry or a dead letter is gone: delivered, or given up by the app.
  case removed(OutboxEntryID)
  /// An entry is a dead letter from now on.
  case buried(OutboxEntryID, OutboxDeadLetter<Payload>.Reason, OutboxEntry<Payload>.Setback)
  /// A dead letter is an entry again.
  case revived(OutboxEntryID, expiresAt: Date?)
  /// The number of the next entry; none is ever used twice.
  case numbering(next: UInt64)

  /// Whether it must survive the loss of power before anybody is told.
  ///
  /// Without the others an entry is sent once more than it was counted.
  var isDurable: Bool {
    switch self {
    case .began, .failed: false
    case .added, .removed, .buried, .revived, .numbering: true
    }
  }

  /// The number behind which others are given, if it says one.
  var largestNumber: UInt64? {
    switch self {
    case .added(let entry, _): entry.id.number
    case .numbering(let next): next
    case .began, .failed, .removed, .buried, .revived: nil
    }
  }

  // Short names, since each of them is in every line.
  private enum CodingKeys: String, CodingKey {
    case added = "add"
    case began = "begin"
    case failed = "fail"
    case removed = "remove"
    case buried = "bury"
    case revived = "revive"
    case numbering = "number"
  }

  private enum AddedCodingKeys: String, CodingKey {
    case _0 = "entry"
    case replacing = "replaces"
  }

  private enum BeganCodingKeys: String, CodingKey {
    case _0 = "id"
  }

  private enum FailedCodingKeys: String, CodingKey {
    case _0 = "id"
    case _1 = "failure"
    case counts
  }

  private enum RemovedCodingKeys: String, CodingKey {
    case _0 = "id"
  }

  private enum BuriedCodingKeys: String, CodingKey {
    case _0 = "id"
    case _1 = "reason"
    case _2 = "failure"
  }

  private enum RevivedCodingKeys: String, CodingKey {
    case _0 = "id"
    case expiresAt
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
