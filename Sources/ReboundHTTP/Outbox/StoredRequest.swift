import Foundation
import Rebound

/// A request as an outbox stores it: all that its type said, in bytes, without the user's credential.
///
/// Its body is stored as it is, whatever stands in it.
///
/// A request that names no service of its own is stored below the address of the client's, so that it goes wherever the
/// client's address leads when it is sent.
public struct StoredRequest: Hashable, Codable, Sendable {
  /// One header field.
  struct Field: Hashable, Codable, Sendable {
    let name: String
    let value: String
  }

  /// The name of the request.
  public let operation: String
  /// What to ask for.
  public var method: HTTPMethod { HTTPMethod(rawValue: verb) }
  /// Where to ask, percent-encoded: below the address of the client, or whole if the request names its own service.
  public let target: String
  /// The header fields of the request itself; those of the client are added when it is sent.
  public var headers: HTTPHeaders { HTTPHeaders(fields.map { HTTPHeaders.Field($0.name, $0.value) }) }
  /// What to send along.
  public let body: Data?

  let verb: String
  let hasOwnService: Bool
  let fields: [Field]
  let isAuthenticated: Bool
  /// Whether it may be sent again when an attempt may have arrived.
  let isRepeatable: Bool
  let firstValidStatus: Int
  let lastValidStatus: Int

  /// Takes a request apart.
  ///
  /// - Parameters:
  ///   - redaction: What is a credential, and must not be stored.
  ///   - limit: How many bytes its body may have.
  init<R: Request>(_ request: R, redaction: Redaction, random: RandomSource, limit: Int) throws {
    let standIn = "http://client.invalid/"
    var message = try request.message(base: URL(string: standIn), random: random)
    operation = request.operation
    verb = message.method.rawValue
    let address = message.url.absoluteString
    hasOwnService = request.baseURL != nil
    target = hasOwnService ? address : String(address.dropFirst(standIn.count))
    message.headers["Idempotency-Key"] = nil
    fields = message.headers.map { Field(name: $0.name, value: $0.value) }
    isAuthenticated = request.isAuthenticated
    isRepeatable = request.idempotency != .notIdempotent
    firstValidStatus = request.validStatuses.lowerBound
    lastValidStatus = request.validStatuses.upperBound
    try StoredRequest.refuseSecrets(in: message, of: request.operation, redaction)
    body = try StoredRequest.bytes(of: message.body, upTo: limit)
  }

  /// A credential on the disk outlives the session that it is for; and in a week it is worth nothing.
  private static func refuseSecrets(
    in message: TransportRequest,
    of operation: String,
    _ redaction: Redaction
  ) throws(RequestWithCredential) {
    let parts = URLComponents(url: message.url, resolvingAgainstBaseURL: true)
    if let field = message.headers.first(where: redaction.hasCredential) {
      throw RequestWithCredential(operation: operation, place: "the header field '\(field.name)'")
    }
    let pairs = parts?.percentEncodedQuery?.utf8.split(separator: UInt8(ascii: "&")).map { Substring($0) } ?? []
    if let pair = pairs.first(where: redaction.hasCredential) {
      let name = pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { Redaction.name(pair[..<$0]) }
      throw RequestWithCredential(
        operation: operation,
        place: name.map { "the query parameter '\($0)'" } ?? "the query"
      )
    }
    if parts?.user != nil {
      throw RequestWithCredential(operation: operation, place: "the address")
    }
  }

  private static func bytes(of body: TransportBody, upTo limit: Int) throws -> Data? {
    switch body {
    case .none: return nil
    case .data(let data) where data.count <= limit: return data
    case .data, .file, .stream: break
    }
    let reader = try body.open()
    var data = Data()
    while true {
      let piece = try reader.read(upTo: 65_536)
      if piece.isEmpty { return data }
      data += piece
      if data.count > limit { throw RequestBodyTooLarge(limit: limit) }
    }
  }
}

/// Milder than what is shown: what is wrongly taken for a credential here is not sent at all.
extension Redaction {
  fileprivate func hasCredential(_ field: HTTPHeaders.Field) -> Bool {
    hides(header: field.name) || hasSecretAddress(field)
      || (isCredential(field.value.utf8, of: field.name) && !Redaction.isBasicOfNothing(field.value))
  }

  fileprivate func hasCredential(_ pair: Substring) -> Bool {
    let equals = pair.utf8.firstIndex(of: UInt8(ascii: "="))
    let name = equals.map { Redaction.name(pair[..<$0]) } ?? ""
    let value = equals.map { pair.utf8[$0...].dropFirst() } ?? pair.utf8
    return hides(parameter: name) || isKey(value, of: name) || withoutUsers(String(pair)) != pair
  }
}

extension StoredRequest: CustomStringConvertible {
  /// What it asks for, without body and header fields: "PlaceOrder: POST orders".
  public var description: String { "\(operation): \(verb) \(target.prefix { $0 != "?" })" }
}

/// A request that holds a credential is not stored for later.
public struct RequestWithCredential: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the request.
  public let operation: String
  /// Where the credential is.
  public let place: String

  /// Describes where the credential is.
  ///
  /// - Parameters:
  ///   - operation: The name of the request.
  ///   - place: Where the credential is.
  public init(operation: String, place: String) {
    self.operation = operation
    self.place = place
  }

  /// What happened, and what to do about it.
  public var description: String {
    """
    \(operation) holds a credential in \(place), which must not be written to a disk. Let a middleware of the client add \
    it when the request is sent, such as Authenticating; if it is none, take its name out of the client's redaction.
    """
  }
}

extension RequestWithCredential: LocalizedError {
  /// That it is the program's fault, for people; the description says which.
  public var errorDescription: String? { ProgramMistake.words }
  /// What to do next, for people.
  public var recoverySuggestion: String? { ProgramMistake.suggestion }
}

/// A request's body is larger than the whole outbox may be.
public struct RequestBodyTooLarge: Error, Hashable, Sendable, CustomStringConvertible {
  /// How many bytes the outbox may have.
  public let limit: Int

  /// Describes what fits.
  ///
  /// - Parameter limit: How many bytes the outbox may have.
  public init(limit: Int) {
    self.limit = limit
  }

  /// What happened, and what to do about it.
  public var description: String {
    "The body has more than the \(limit) bytes of the outbox. Raise maxBytes of its policy, or send less."
  }
}

extension RequestBodyTooLarge: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "What you want to send is too large to be kept for later." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Send less at a time." }
}
