import Foundation

/// The public types of errors, found in sources as the compiler reads them: by what they are declared to conform to.
struct ErrorTypes {
  /// A declaration of a type, a protocol or an extension.
  private struct Declaration {
    let keyword: String
    /// With the names of the types around it: "BodyStream.AlreadyRead".
    let name: String
    let isPublic: Bool
    /// The names behind the colon.
    let parents: Set<String>
  }

  private static let keywords: Set = ["struct", "enum", "class", "actor", "extension", "protocol"]
  private static let modifiers: Set = [
    "final", "indirect", "nonisolated", "public", "open", "package", "internal", "private", "fileprivate",
  ]

  private var declarations: [String: [Declaration]] = [:]

  /// Reads the sources of a module.
  mutating func read(_ source: String, of module: String) {
    declarations[module, default: []] += Self.declarations(in: SwiftCode(source).tokens)
  }

  /// The modules that were read.
  var modules: [String] { declarations.keys.sorted() }

  /// The names of a module's public errors; those inside of others with a dot.
  func names(in module: String) -> Set<String> {
    let found = declarations[module] ?? []
    let open = Set(found.filter { $0.isPublic && !["extension", "protocol"].contains($0.keyword) }.map(\.name))
    let protocols = errorProtocols
    return open.intersection(
      found.filter { $0.keyword != "protocol" && !$0.parents.isDisjoint(with: protocols) }.map(\.name)
    )
  }

  /// What makes a type one of an error.
  private var errorProtocols: Set<String> {
    let candidates = declarations.values.joined().filter { $0.keyword == "protocol" }
    var found: Set = ["Error", "LocalizedError", "RecoverableError", "CustomNSError"]
    while true {
      let more = candidates.filter { !found.contains($0.name) && !$0.parents.isDisjoint(with: found) }
      if more.isEmpty { return found }
      found.formUnion(more.map(\.name))
    }
  }

  private static func declarations(in tokens: [String]) -> [Declaration] {
    var found: [Declaration] = []
    /// The name of what each open brace belongs to; `nil` for one that is no type's.
    var scopes: [String?] = []
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      if keywords.contains(token), isDeclared(at: index, in: tokens) {
        let isPublic = tokens[..<index].reversed().prefix { modifiers.contains($0) }
          .contains { ["public", "open"].contains($0) }
        index += 1
        let ownName = Self.name(in: tokens, at: &index)
        let name = (scopes.compactMap { $0 } + [ownName]).joined(separator: ".")
        let parents = Self.parents(in: tokens, at: &index)
        found.append(Declaration(keyword: token, name: name, isPublic: isPublic, parents: parents))
        scopes.append(ownName)
      } else if token == "{" {
        scopes.append(nil)
      } else if token == "}" {
        _ = scopes.popLast()
      }
      index += 1
    }
    return found
  }

  /// Whether a keyword declares what follows, and is none of `class func`, `import struct` or `case actor(Name)`.
  private static func isDeclared(at index: Int, in tokens: [String]) -> Bool {
    guard index + 1 < tokens.count, tokens[index + 1].first?.isUppercase == true else { return false }
    return index == 0 || tokens[index - 1] != "import"
  }

  /// A name, with those before its dots.
  private static func name(in tokens: [String], at index: inout Int) -> String {
    var name = tokens[index]
    index += 1
    while index + 1 < tokens.count, tokens[index] == "." {
      name += ".\(tokens[index + 1])"
      index += 2
    }
    return name
  }

  /// What stands behind the colon; stops at the brace.
  private static func parents(in tokens: [String], at index: inout Int) -> Set<String> {
    var (parents, depth, isBehindColon): (Set<String>, Int, Bool) = ([], 0, false)
    var isBeforeWhere = true
    while index < tokens.count, tokens[index] != "{" {
      switch tokens[index] {
      case "<": depth += 1
      case ">": depth -= 1
      case ":" where depth == 0: isBehindColon = true
      case "where": isBeforeWhere = false
      case let token where isBehindColon && isBeforeWhere && depth == 0: parents.insert(token)
      default: break
      }
      index += 1
    }
    return parents
  }
}

/// Swift's source without its comments and the literals of text.
private struct SwiftCode {
  private let bytes: [UInt8]

  init(_ source: String) {
    bytes = Array(source.utf8)
  }

  /// Words and signs, in order; the signs one by one.
  var tokens: [String] {
    var (tokens, index): ([String], Int) = ([], 0)
    while index < bytes.count {
      let byte = bytes[index]
      if Self.isWord(byte) {
        let end = bytes[index...].firstIndex { !Self.isWord($0) } ?? bytes.count
        tokens.append(String(decoding: bytes[index..<end], as: UTF8.self))
        index = end
      } else if let end = endOfCommentOrLiteral(at: index) {
        index = end
      } else {
        if byte > UInt8(ascii: " ") { tokens.append(String(UnicodeScalar(byte))) }
        index += 1
      }
    }
    return tokens
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
    default: false
    }
  }

  private func has(_ text: String, at index: Int) -> Bool { bytes[index...].starts(with: text.utf8) }

  private func endOfCommentOrLiteral(at start: Int) -> Int? {
    if has("//", at: start) { return bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count }
    if has("/*", at: start) { return endOfComment(at: start) }
    let hashes = bytes[start...].prefix { $0 == UInt8(ascii: "#") }.count
    guard has("\"", at: start + hashes) else { return nil }
    return endOfLiteral(at: start + hashes, hashes: String(repeating: "#", count: hashes))
  }

  private func endOfComment(at start: Int) -> Int {
    var (index, depth) = (start, 0)
    while index < bytes.count {
      if has("/*", at: index) {
        (index, depth) = (index + 2, depth + 1)
      } else if has("*/", at: index) {
        (index, depth) = (index + 2, depth - 1)
        if depth == 0 { return index }
      } else {
        index += 1
      }
    }
    return index
  }

  private func endOfLiteral(at start: Int, hashes: String) -> Int {
    let quotes = has("\"\"\"", at: start) ? "\"\"\"" : "\""
    var index = start + quotes.utf8.count
    while index < bytes.count {
      if has(quotes + hashes, at: index) { return index + quotes.utf8.count + hashes.utf8.count }
      if has("\\\(hashes)(", at: index) {
        index = endOfInterpolation(at: index + 1 + hashes.utf8.count)
      } else if hashes.isEmpty, bytes[index] == UInt8(ascii: "\\") {
        index += 2
      } else {
        index += 1
      }
    }
    return index
  }

  private func endOfInterpolation(at start: Int) -> Int {
    var (index, depth) = (start, 0)
    while index < bytes.count {
      if let end = endOfCommentOrLiteral(at: index) {
        index = end
        continue
      }
      if bytes[index] == UInt8(ascii: "(") { depth += 1 }
      if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
      index += 1
      if depth == 0 { break }
    }
    return index
  }
}
