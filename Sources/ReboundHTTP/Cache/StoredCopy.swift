import Foundation
import Rebound
import ReboundOutbox

/// A copy as it stands in a storage: bytes that say themselves whether they are whole.
///
/// ```text
/// "rbd-http"  8 bytes
/// version     4 bytes, the most significant first, as all numbers
/// checksum    4 bytes: CRC-32 of all that follows
/// length      8 bytes: of all that follows
/// head        4 bytes: the length of the JSON; then the JSON
/// body        the rest
/// ```
///
/// What may be a credential does not get there: of addresses, identities and the request's fields there are digests alone,
/// of the answer's fields none that the client's ``Redaction`` hides. An answer with a credential in an address is not stored
/// at all, but for one that a middleware adds to what was asked for, which is left out. The body is there as it came.
struct StoredCopy: Sendable {
  static let version: UInt32 = 2
  /// How many bytes there are besides the head's JSON and the body.
  private static let frame = 28
  private static let magic = Data("rbd-http".utf8)
  /// What the cache goes by; none of it is a secret, whatever a redaction says.
  private static let needed = ["Cache-Control", "Vary", "Expires", "Date", "Age", "ETag", "Last-Modified"]
  /// As old as anything may be (RFC 9111 §1.2.2).
  private static let greatestAge = Duration.seconds(1 << 31)

  /// Why bytes are no copy.
  enum Damage: String, Error {
    case foreign = "it is none of a cache"
    case otherVersion = "it is of another version of the format"
    case torn = "its length is not what it says"
    case corrupt = "its checksum is wrong"
    case malformed = "its head cannot be read"
    case otherAddress = "it is a copy of something else"
  }

  private struct Head: Codable {
    struct Field: Codable {
      let name: String
      let value: String
    }

    /// The digest of what was asked for, and by whom.
    let key: String
    /// The request's fields that the answer depends on, each with the digest of its value.
    let variant: [Field]
    let status: Int
    let fields: [Field]
    /// The address that answered, if that is another than was asked.
    let address: String?
    let httpVersion: String?
    /// When it was stored, by the device's clock, in milliseconds since the beginning of 1970.
    let storedAt: Int64
    /// How old it was then, in milliseconds.
    let age: Int64
    /// How old it may be before the redirects that led to it are to be followed anew, in milliseconds; absent if none did.
    let reach: Int64?
    /// Where those led, if that is not the address that answered alone.
    let way: [String]?
    let receivedAt: Int64
    /// The same for the copy in the first place of its key and those in second places that belong to it.
    let family: String?
  }

  private let head: Head
  private let body: Data

  // MARK: Writing

  /// The bytes for a copy; `nil` if it may not be stored, because a credential would be.
  static func bytes(
    of copy: CachedCopy,
    for key: HTTPCacheKeyDigest,
    answering url: URL,
    now: Duration,
    wallClock: Duration,
    redaction: Redaction,
    family: String? = nil
  ) -> Data? {
    let address = shownAddress(of: copy, asked: copy.way.last ?? url, redaction)
    let isElsewhere = address != url
    let addresses = copy.way + (isElsewhere ? [address] : [])
    if addresses.contains(where: { hasCredential($0, redaction) }) { return nil }
    let fields = copy.head.headers.filter { field in
      !redaction.hides(field) || needed.contains { HTTPHeaders.equal($0, field.name) }
    }
    // Without its address a field says less than the server did: of a list, that there is no further page.
    if fields.contains(where: redaction.hasSecretAddress) { return nil }
    let head = Head(
      key: key.text,
      variant: copy.variant.map { Head.Field(name: $0.name, value: key.digest(of: $0)) },
      status: copy.head.status,
      fields: fields.map { Head.Field(name: $0.name, value: $0.value) },
      address: isElsewhere ? address.absoluteString : nil,
      httpVersion: copy.head.httpVersion,
      storedAt: wallClock.inMilliseconds,
      age: min(copy.age(now: now), greatestAge).inMilliseconds,
      reach: copy.reach?.age.inMilliseconds,
      way: copy.reach.flatMap { $0.way == [address] ? nil : $0.way.map(\.absoluteString) },
      receivedAt: copy.receivedAt.secondsSinceEpoch,
      family: family
    )
    guard let json = try? JSONEncoder().encode(head) else { return nil }
    return framed(json, copy.body)
  }

  /// Puts a head and a body together.
  static func framed(_ json: Data, _ body: Data) -> Data {
    var content = Data(capacity: json.count + body.count + frame)
    content.append(UInt32(clamping: json.count))
    content += json
    content += body
    var bytes = magic
    bytes.append(version)
    bytes.append(CRC32.checksum(of: content))
    bytes.append(UInt64(content.count))
    return bytes + content
  }

  /// The address that answered; or that which was asked for, if the two differ in their queries alone, and there is a credential
  /// in the first: a middleware has added it, and does so each time.
  private static func shownAddress(of copy: CachedCopy, asked: URL, _ redaction: Redaction) -> URL {
    let address = copy.head.url
    let isBeforeQuery = { (byte: UInt8) in byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#") }
    let isAsked = address.absoluteString.utf8.prefix(while: isBeforeQuery)
      .elementsEqual(asked.absoluteString.utf8.prefix(while: isBeforeQuery))
    return isAsked && hasCredential(address, redaction) ? asked : address
  }

  private static func hasCredential(_ url: URL, _ redaction: Redaction) -> Bool {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.percentEncodedUser == nil else {
      return true
    }
    guard let query = parts.percentEncodedQuery else { return false }
    return redaction.pairs(query) != query
  }

  // MARK: Reading

  /// Reads bytes; whatever they are, nothing worse than an error comes of it.
  ///
  /// - Parameters:
  ///   - bytes: What a storage has.
  ///   - key: What it is to be a copy of.
  init(_ bytes: Data, of key: HTTPCacheKeyDigest) throws(Damage) {
    let bytes = bytes.startIndex == 0 ? bytes : Data(bytes)
    guard bytes.count >= StoredCopy.frame, bytes.prefix(8) == StoredCopy.magic else { throw .foreign }
    guard bytes.number(at: 8, UInt32.self) == StoredCopy.version else { throw .otherVersion }
    let content = bytes.dropFirst(24)
    guard bytes.number(at: 16, UInt64.self) == UInt64(content.count) else { throw .torn }
    guard bytes.number(at: 12, UInt32.self) == CRC32.checksum(of: content) else { throw .corrupt }
    let count = Int(bytes.number(at: 24, UInt32.self))
    let rest = content.dropFirst(4)
    guard count <= rest.count, let head = try? JSONDecoder().decode(Head.self, from: Data(rest.prefix(count))) else {
      throw .malformed
    }
    guard head.key == key.text else { throw .otherAddress }
    let addresses = (head.way ?? []) + (head.address.map { [$0] } ?? [])
    guard head.age >= 0, addresses.allSatisfy({ URL(string: $0) != nil }) else { throw .malformed }
    self.head = head
    // A copy of its own, whose indices begin at zero.
    body = Data(rest.dropFirst(count))
  }

  /// What tells it from other answers of its key: the names of the fields that it depends on, and digests of their values.
  var variant: [HTTPHeaders.Field] { head.variant.map { HTTPHeaders.Field($0.name, $0.value) } }

  /// The same for the copy in the first place of its key and those in second places that belong to it.
  var family: String? { head.family }

  /// The copy, if it is an answer to a request.
  ///
  /// A copy that seems to have been stored in the future, because the clock was set back, is as old as can be: nobody knows
  /// its age, so the server is asked. Clocks of several machines may differ by a second.
  ///
  /// - Parameters:
  ///   - message: The request, for the key that it was read for.
  ///   - key: That key.
  ///   - now: The client's time.
  ///   - wallClock: The device's.
  func copy(
    answering message: TransportRequest,
    for key: HTTPCacheKeyDigest,
    now: Duration,
    wallClock: Duration
  ) -> CachedCopy? {
    let variant = head.variant.map { HTTPHeaders.Field($0.name, message.headers[$0.name] ?? "") }
    guard zip(variant, head.variant).allSatisfy({ key.digest(of: $0) == $1.value }) else { return nil }
    let elapsed = wallClock - .milliseconds(head.storedAt)
    let age = elapsed < .seconds(-1) ? StoredCopy.greatestAge : .milliseconds(head.age) + max(elapsed, .zero)
    let address = head.address.flatMap { URL(string: $0) } ?? message.url
    return CachedCopy(
      head: ResponseHead(
        status: head.status,
        headers: HTTPHeaders(head.fields.map { HTTPHeaders.Field($0.name, $0.value) }),
        url: address,
        httpVersion: head.httpVersion
      ),
      body: body,
      variant: variant,
      age: min(age, StoredCopy.greatestAge),
      now: now,
      receivedAt: HTTPDate(secondsSinceEpoch: head.receivedAt),
      reach: head.reach.map { age in
        CachedCopy.Reach(way: head.way?.compactMap { URL(string: $0) } ?? [address], age: .milliseconds(age))
      }
    )
  }
}

/// What an answer is kept under, as a storage may know it.
struct HTTPCacheKeyDigest: Hashable, Sendable {
  /// The digest of address and identity.
  let text: String
  /// Where the answer is kept, unless it depends on fields of the request and another variant of it is kept there.
  let name: HTTPCacheEntryName

  init(_ key: HTTPCache.Key) {
    // With its length, so that no address and identity together are those of another pair.
    let identity = key.identity.map { "+\($0)" } ?? "-"
    text = SHA256Digest.hexadecimal(of: "\(key.url.utf8.count) \(key.url) \(identity)")
    name = HTTPCacheEntryName(address: HTTPCacheKeyDigest.address(key.url), copy: String(text.prefix(32)))
  }

  /// What all copies of an address are kept under.
  static func address(_ url: String) -> String { String(SHA256Digest.hexadecimal(of: url).prefix(32)) }

  /// The digest of a request's field, another for each key.
  func digest(of field: HTTPHeaders.Field) -> String {
    let name = String(decoding: field.name.utf8.map(HTTPHeaders.lowercased), as: UTF8.self)
    return SHA256Digest.hexadecimal(of: "\(text) \(name): \(field.value)")
  }

  /// Where a variant is kept if another has the first place.
  ///
  /// - Parameter variant: Names of fields, and digests of their values.
  func name(of variant: [HTTPHeaders.Field]) -> HTTPCacheEntryName {
    let all = variant.reduce(into: text) { $0 += " \($1.value)" }
    return HTTPCacheEntryName(address: name.address, copy: String(SHA256Digest.hexadecimal(of: all).prefix(32)))
  }
}

extension Duration {
  /// The length in whole milliseconds, as many as there are in a number.
  var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, isTooLongInAll) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return isTooLong || isTooLongInAll ? (seconds < 0 ? .min : .max) : sum
  }
}

extension Data {
  /// Adds a number, its most significant byte first.
  fileprivate mutating func append(_ number: some FixedWidthInteger) {
    for shift in stride(from: type(of: number).bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// The number at a place that is there, for bytes that begin at zero.
  fileprivate func number<Number: FixedWidthInteger>(at place: Int, _: Number.Type) -> Number {
    self[place..<place + Number.bitWidth / 8].reduce(0) { $0 << 8 | Number($1) }
  }
}
