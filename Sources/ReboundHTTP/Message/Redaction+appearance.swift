import Foundation

extension Redaction {
  /// Words that names of secrets have in them, without what stands between the words of a name.
  private static let words = [
    "token", "secret", "passw", "passphrase", "apikey", "accesskey", "privatekey", "credential", "signature", "session",
    "authoriz", "cookie", "jwt", "csrf", "xsrf",
  ].map { Array($0.utf8) }

  /// Words that are a secret's only if they stand for themselves: "author" and "pinned" are none.
  private static let wholeWords = ["auth", "pwd", "pin"].map { Array($0.utf8) }
  private static let key = Array("key".utf8)
  /// Keys that open nothing: those of a call, of a handshake (RFC 6455 §11.3.1), of copies, and what everybody may know.
  private static let openKeys = [
    "idempotencykey", "websocketkey", "surrogatekey", "cachekey", "publickey", "partitionkey", "sortkey", "foreignkey",
    "rowkey",
  ]
  .map { Array($0.utf8) }

  /// Whether a name is one that secrets have: "X-Access-Token", "sessionid", "x-amz-signature", "X-Master-Key".
  ///
  /// - Complexity: O(n) in the length of the name, of which no more than 1,024 bytes are looked at.
  static func speaksOfSecret(_ name: String) -> Bool {
    let bytes = Array(name.utf8.prefix(1_024))
    let letters = bytes.compactMap { byte -> UInt8? in
      if isUpper(byte) { return byte | 0x20 }
      return isLower(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? byte : nil
    }
    if has(letters, words) { return true }
    guard has(letters, wholeWords + [key]) else { return false }
    let ownWords = parted(bytes)
    if ownWords.contains(where: wholeWords.contains) { return true }
    return ownWords.count > 1 && ownWords.last == key
      && !openKeys.contains { letters.suffix($0.count).elementsEqual($0) }
  }

  private static func has(_ letters: [UInt8], _ words: [[UInt8]]) -> Bool {
    letters.indices.contains { start in words.contains { letters[start...].starts(with: $0) } }
  }

  /// The words of a name in lower case, whatever they are parted by: "X-Master-Key", "x_master_key", "xMasterKey2".
  private static func parted(_ name: [UInt8]) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var isWithin = false
    for (index, byte) in name.enumerated() {
      guard isUpper(byte) || isLower(byte) else {
        isWithin = false
        continue
      }
      if isWithin, !beginsWord(name, at: index) {
        words[words.count - 1].append(byte | 0x20)
      } else {
        words.append([byte | 0x20])
      }
      isWithin = true
    }
    return words
  }

  /// Whether a letter behind another begins a word: the K of "masterKey" and "APIKey", but not the A of "OAuth".
  private static func beginsWord(_ name: [UInt8], at index: Int) -> Bool {
    guard isUpper(name[index]) else { return false }
    if isLower(name[index - 1]) { return true }
    let isBehindTwo = index > 1 && isUpper(name[index - 2])
    return isBehindTwo && index + 1 < name.count && isLower(name[index + 1])
  }

  private static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
  private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

  /// How the keys of large services begin.
  private static let beginnings = [
    "sk_live_", "sk_test_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "AIza",
  ]
  .map { Array($0.utf8) }
  private static let schemes = [
    "basic ", "bearer ", "digest ", "negotiate ", "basic%20", "bearer%20", "basic+", "bearer+",
  ]
  .map { Array($0.utf8) }

  /// Whether a value looks like a credential, and may not be shown all the same.
  func isCredential(_ value: some Collection<UInt8>, of name: String) -> Bool {
    isGuessing && Redaction.isCredential(value) && !shows(name)
  }

  /// The same for tokens and keys alone: sentences, too, begin with the words that schemes of authentication are named by.
  func isKey(_ value: some Collection<UInt8>, of name: String) -> Bool {
    isGuessing && Redaction.isKey(value) && !shows(name)
  }

  private func shows(_ name: String) -> Bool {
    name.utf8.count <= Redaction.longestName && shown.contains(name.lowercased())
  }

  /// Whether a value begins as a user with a password does, and has none (RFC 7617 §2): "Basic training".
  static func isBasicOfNothing(_ value: String) -> Bool {
    guard HTTPHeaders.begins(value, with: "basic ") else { return false }
    let letters = value.utf8.dropFirst(6).drop { $0 == UInt8(ascii: " ") }.prefix { !" ,;=".utf8.contains($0) }
    let padding = String(repeating: "=", count: -letters.count & 3)
    return Data(base64Encoded: "\(Substring(letters))\(padding)")?.contains(UInt8(ascii: ":")) != true
  }

  /// Whether a value is a scheme of authentication with its credential (RFC 9110 §11.4), a JSON web token (RFC 7519), or a
  /// key that begins as those of a large service do.
  ///
  /// - Complexity: O(1).
  static func isCredential(_ value: some Collection<UInt8>) -> Bool {
    let start = Array(value.prefix(32))
    let lower = start.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    return schemes.contains { lower.starts(with: $0) && lower.count > $0.count } || isKey(start)
  }

  private static func isKey(_ value: some Collection<UInt8>) -> Bool {
    let start = Array(value.prefix(32))
    // All tokens begin with `{"` in the base of 64; no word does.
    if start.count >= 20, start.starts(with: "eyJ".utf8) { return true }
    return start.count >= 20 && beginnings.contains { start.starts(with: $0) }
  }
}
