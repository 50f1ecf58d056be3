import Foundation

/// What must not be seen in logs, errors and exports: the values of these fields, parameters and members.
///
///     Redaction.standard.headers(["Authorization": "Bearer abc"])   // Authorization: …
///     var redaction = Redaction.standard
///     redaction.parameters.insert("session")
///
/// Everything that this module writes for people or files goes through one of these; nothing else knows what is secret.
/// Names are compared without regard to case.
///
/// No list of names is complete. So what looks like a credential is hidden, too: by its name, if that speaks of a token, a
/// secret, a password, a session, a signature, a cookie or a key to an interface, if `auth`, `pwd` or `pin` is one of its words,
/// or if the last of several is `key`, as in `Ocp-Apim-Subscription-Key`; by its value, if that is a scheme of authentication
/// with its credential, a JSON web token, or a key as the large services write theirs. What is hidden without need is shown by
/// ``showing(_:)``.
public struct Redaction: Hashable, Sendable {
  /// The names of header fields.
  public var headers: Set<String> { didSet { headers = Redaction.folded(headers) } }
  /// The names of parameters: those of a query, of a form, and members of a JSON object at any depth.
  public var parameters: Set<String> { didSet { parameters = Redaction.folded(parameters) } }
  /// Whether what looks like a credential is hidden, too.
  public var isGuessing: Bool
  /// The names of fields and parameters that are shown although they look like a secret.
  public var shown: Set<String> = [] { didSet { shown = Redaction.folded(shown) } }
  /// What stands in the place of a secret.
  public var replacement: String

  /// Makes a list of secrets.
  ///
  /// - Parameters:
  ///   - headers: The names of header fields, of at most 256 bytes.
  ///   - parameters: The names of parameters, of at most 256 bytes.
  ///   - replacement: What stands in the place of a secret.
  ///   - isGuessing: Whether what looks like a credential is hidden, too; otherwise the lists say all.
  public init(
    headers: Set<String>,
    parameters: Set<String>,
    replacement: String = "…",
    guessing isGuessing: Bool = true
  ) {
    self.isGuessing = isGuessing
    self.headers = Redaction.folded(headers)
    self.parameters = Redaction.folded(parameters)
    self.replacement = replacement
  }

  /// Names as they are looked up.
  private static func folded(_ names: Set<String>) -> Set<String> { Set(names.map { $0.lowercased() }) }

  /// Credentials, cookies, keys and passwords under their usual names, and what looks like one.
  public static let standard = Redaction(
    headers: [
      "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "API-Key", "X-Auth-Token",
      "X-CSRF-Token", "X-Amz-Security-Token",
    ],
    parameters: [
      "access_token", "refresh_token", "id_token", "token", "api_key", "apikey", "appid", "key", "password", "passwd",
      "secret", "client_secret", "code", "signature", "sig", "accessToken", "refreshToken",
    ]
  )

  /// The same list, and one more header field.
  public func hiding(header name: String) -> Redaction {
    var copy = self
    copy.headers.insert(name)
    return copy
  }

  /// The same list, and one more parameter.
  public func hiding(parameter name: String) -> Redaction {
    var copy = self
    copy.parameters.insert(name)
    return copy
  }

  /// The same list, which shows a field and a parameter of this name although it looks like that of a secret.
  public func showing(_ name: String) -> Redaction {
    var copy = self
    copy.shown.insert(name)
    return copy
  }

  /// Whether the value of a header field is a secret, as far as its name says.
  public func hides(header name: String) -> Bool { hides(name, among: headers) }

  /// Whether the value of a parameter is a secret, as far as its name says.
  public func hides(parameter name: String) -> Bool { hides(name, among: parameters) }

  /// Whether the value of a parameter is a secret, as far as its name and the value itself say.
  func hides(parameter name: String, value: some Collection<UInt8>) -> Bool {
    hides(parameter: name) || isCredential(value, of: name)
  }

  /// Names in lists have at most so many bytes: to hash a text takes time that grows with the square of a run of combining
  /// marks, and texts come from servers.
  static let longestName = 256

  private func hides(_ name: String, among names: Set<String>) -> Bool {
    if name.utf8.count <= Redaction.longestName {
      let name = name.lowercased()
      if names.contains(name) { return true }
      if shown.contains(name) { return false }
    }
    return isGuessing && Redaction.speaksOfSecret(name)
  }

  /// Whether the value of a header field is a secret, as far as its name and the value itself say.
  func hides(_ field: HTTPHeaders.Field) -> Bool {
    hides(header: field.name) || isCredential(field.value.utf8, of: field.name)
  }

  /// Fields whose value is an address.
  private static let addresses = ["Location", "Content-Location", "Referer", "Origin"]

  /// The header fields without their secrets; of those that hold addresses, without the secrets of these.
  public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(headers.map { HTTPHeaders.Field($0.name, value(of: $0)) })
  }

  /// What may be seen of the value of a header field.
  func value(of field: HTTPHeaders.Field) -> String {
    hides(field) ? replacement : Redaction.value(of: field, replacingAddresses: archived(address:))
  }

  /// Whether an address in the value of a header field has a secret.
  ///
  /// A fragment is not shown, and need not be one.
  func hasSecretAddress(_ field: HTTPHeaders.Field) -> Bool {
    let shown = Redaction.value(of: field) { address in
      let fragment = address.utf8.drop { $0 != UInt8(ascii: "#") }
      return archived(address: address) + (fragment.isEmpty ? "" : "#\(pairs(String(Substring(fragment.dropFirst()))))")
    }
    return shown != field.value
  }

  private static func value(of field: HTTPHeaders.Field, replacingAddresses shown: (String) -> String) -> String {
    if HTTPHeaders.equal(field.name, "Link") { return links(field.value, replacingAddresses: shown) }
    return addresses.contains { HTTPHeaders.equal($0, field.name) } ? shown(field.value) : field.value
  }

  /// The links of a field, whose addresses stand in brackets (RFC 8288 §3).
  private static func links(_ text: String, replacingAddresses shown: (String) -> String) -> String {
    let pieces = text.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false).map(Substring.init)
    let links = pieces.dropFirst().map { link in
      let end = link.utf8.firstIndex(of: UInt8(ascii: ">")) ?? link.endIndex
      return shown(String(link[..<end])) + link[end...]
    }
    return (pieces.prefix(1).map(String.init) + links).joined(separator: "<")
  }

  /// The address without user, password, and the secrets of its query.
  ///
  /// The result is for people: it need not be an address.
  public func url(_ url: URL) -> String {
    let plain = url.absoluteString
    return url.baseURL == nil && Redaction.isPlain(plain) ? plain : withoutSecrets(url)
  }

  func url(_ address: Address) -> String {
    Redaction.isPlain(address.text) ? address.text : withoutSecrets(address.url)
  }

  /// Whether there is nothing to leave out: without an @, ?, # or % there is not.
  private static func isPlain(_ address: String) -> Bool {
    let mayBeSecret = { (byte: UInt8) in byte == 0x40 || byte == 0x3F || byte == 0x23 || byte == 0x25 }
    return address.utf8.withContiguousStorageIfAvailable { !$0.contains(where: mayBeSecret) }
      ?? !address.utf8.contains(where: mayBeSecret)
  }

  private func withoutSecrets(_ url: URL) -> String {
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return replacement }
    let credentials = components.percentEncodedUser != nil ? "\(replacement)@" : ""
    let query = components.percentEncodedQuery.map { "?\(pairs($0))" } ?? ""
    components.percentEncodedUser = nil
    components.percentEncodedPassword = nil
    components.percentEncodedQuery = nil
    components.percentEncodedFragment = nil
    let text = withoutUsers(components.string ?? replacement)
    guard !credentials.isEmpty, let start = text.range(of: "//") else { return text + query }
    return text.replacingCharacters(in: start, with: "//\(credentials)") + query
  }

  /// The pairs of a query or form without their secrets.
  public func pairs(_ text: String) -> String {
    // By bytes: to whoever reads it, an equals sign with an accent on it is an equals sign.
    text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { part in
      // First, since in an address that is a part of it the first equals sign may be one of a password.
      let pair = withoutUsers(String(Substring(part)))
      guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
        return isCredential(pair.utf8, of: "") ? replacement : pair
      }
      let value = pair.utf8[pair.utf8.index(after: equals)...]
      return hides(parameter: Redaction.name(pair[..<equals]), value: value) || hasSecretPair(value)
        ? "\(pair[..<equals])=\(replacement)" : pair
    }
    .joined(separator: "&")
  }

  /// Whether a value, as a query or form spells it, is itself a text with a secret pair in it: an address, say, to go back to.
  private func hasSecretPair(_ value: Substring.UTF8View) -> Bool {
    guard value.contains(where: { "=%".utf8.contains($0) }) else { return false }
    let text = String(decoding: DecodedText(decoding: Array(value)).bytes, as: UTF8.self)
    return withoutPairs(text) != text
  }

  /// The name of a parameter, as a query or form spells it; empty if that is no text.
  package static func name(_ text: Substring) -> String {
    text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
  }

  /// The text of a body without its secrets: the values of the members of JSON objects in it, and of pairs as forms and queries
  /// have them, such as `password=hunter2&name=x`.
  ///
  /// The text may be cut off anywhere, and need not be either. For prose, with header fields in it perhaps, see ``line(_:)``.
  public func text(_ text: String) -> String { members(withoutPairs(text)) }

  /// The text without the values of secret members of JSON objects in it.
  func members(_ text: String) -> String {
    var scanner = SecretScanner(text, self)
    return scanner.run()
  }
}

/// Copies a text, and leaves out the values of members of JSON objects that are secret.
private struct SecretScanner {
  private let bytes: [UInt8]
  private let redaction: Redaction
  private var position = 0
  private var copied: [UInt8] = []

  init(_ text: String, _ redaction: Redaction) {
    bytes = Array(text.utf8)
    self.redaction = redaction
  }

  mutating func run() -> String {
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "\"") else {
        copy()
        continue
      }
      let name = quoted()
      if isSecret(name), let value = valueStart() {
        copied += name + bytes[position..<value]
        position = value
        skipValue()
        copied += Array("\"\(redaction.replacement)\"".utf8)
        continue
      }
      // The text may begin inside of a text in quotes, so the second of two quotes may be the first of the next two.
      let isClosed = name.count > 1 && name.last == UInt8(ascii: "\"")
      let isCredential = redaction.isGuessing && Redaction.isCredential(name.dropFirst())
      copied += isCredential ? ArraySlice("\"\(redaction.replacement)".utf8) : isClosed ? name.dropLast() : name
      if isClosed { position -= 1 }
    }
    return String(decoding: copied, as: UTF8.self)
  }

  private mutating func copy() {
    copied.append(bytes[position])
    position += 1
  }

  private func isSecret(_ quoted: ArraySlice<UInt8>) -> Bool {
    if quoted.count <= SecretScanner.longestEscapedName, quoted.contains(UInt8(ascii: "\\")) {
      // What is no text of JSON is no name of a member.
      return (try? JSONDecoder().decode(String.self, from: Data(quoted))).map { redaction.hides(parameter: $0) }
        ?? false
    }
    return redaction.hides(parameter: String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self))
  }

  /// No name of a secret is longer, also if each of its letters is escaped; and decoding takes long.
  private static let longestEscapedName = 512

  /// Passes over a text in quotes, or what there is of it.
  private mutating func quoted() -> ArraySlice<UInt8> {
    let start = position
    position += 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position = min(position + 1, bytes.count)
    return bytes[start..<position]
  }

  /// Where the value begins, if a colon stands behind the name, with white space around it or not.
  private func valueStart() -> Int? {
    var end = position
    while end < bytes.count, isBlank(bytes[end]) { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ":") else { return nil }
    end += 1
    while end < bytes.count, isBlank(bytes[end]) { end += 1 }
    return end
  }

  private mutating func skipValue() {
    var depth = 0
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        _ = quoted()
        if depth == 0 { return }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return }
        depth -= 1
        position += 1
        if depth == 0 { return }
      case UInt8(ascii: ",") where depth == 0:
        return
      default:
        position += 1
      }
    }
  }

  private func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
  }
}
