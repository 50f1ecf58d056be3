import NIOHTTP1

/// Reads an answer in HTTP/1.1 (RFC 9112), as a value: bytes go in, head and body come out.
struct AnswerParser {
  struct Head {
    let status: Int
    let version: HTTPVersion
    let headers: HTTPHeaders
  }

  enum Part {
    case head(Head)
    case body(ArraySlice<UInt8>)
  }

  private enum Phase {
    case statusLine, fields, sized(Int), chunkSize, chunk(Int), chunkEnd, trailers, untilClose, complete
  }

  private static let headLimit = 81_920

  private let isBodiless: Bool
  private var phase = Phase.statusLine
  private var rest: ArraySlice<UInt8> = []
  private var headCount = 0
  private var (version, status) = (HTTPVersion(major: 1, minor: 1), 0)
  private var headers = HTTPHeaders()

  init(isBodiless: Bool) {
    self.isBodiless = isBodiless
  }

  var isComplete: Bool { if case .complete = phase { true } else { false } }

  /// The server sends no more.
  mutating func end() throws -> [Part] {
    switch phase {
    case .untilClose, .complete:
      phase = .complete
      return []
    case .statusLine, .fields: throw HTTPClientError.remoteConnectionClosed
    case .sized, .chunkSize, .chunk, .chunkEnd, .trailers: throw HTTPParserError.invalidEOFState
    }
  }

  mutating func take(_ bytes: ArraySlice<UInt8>) throws -> [Part] {
    rest += bytes
    var parts: [Part] = []
    while let part = try next() { parts += part }
    return parts
  }

  /// Takes one step; `nil` if that needs more bytes.
  private mutating func next() throws -> [Part]? {
    switch phase {
    case .complete: return nil
    case .sized(let count): return takeBody(count) { $0 == count ? .complete : .sized(count - $0) }
    case .chunk(let count): return takeBody(count) { $0 == count ? .chunkEnd : .chunk(count - $0) }
    case .untilClose: return takeBody(.max) { _ in .untilClose }
    case .statusLine, .fields, .chunkSize, .chunkEnd, .trailers: return try takeLine().map { try read($0) }
    }
  }

  private mutating func takeBody(_ limit: Int, _ next: (Int) -> Phase) -> [Part]? {
    guard !rest.isEmpty else { return nil }
    let bytes = rest.prefix(limit)
    rest = rest.dropFirst(bytes.count)
    phase = next(bytes.count)
    return [.body(bytes)]
  }

  private mutating func takeLine() throws -> String? {
    if case .statusLine = phase, !"HTTP/1.".utf8.starts(with: rest.prefix(7)) { throw HTTPParserError.invalidVersion }
    guard let end = rest.firstIndex(of: 10) else {
      if rest.count > Self.headLimit { throw HTTPParserError.headerOverflow }
      return nil
    }
    headCount += end - rest.startIndex
    guard headCount <= Self.headLimit else { throw HTTPParserError.headerOverflow }
    let line = rest[..<end]
    rest = rest[(end + 1)...]
    return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
  }

  private mutating func read(_ line: String) throws -> [Part] {
    switch phase {
    case .statusLine:
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count >= 2, words[1].utf8.count == 3, let number = Int(words[1]) else {
        throw HTTPParserError.invalidStatus
      }
      version = HTTPVersion(major: 1, minor: words[0].last == "0" ? 0 : 1)
      (status, headers, phase) = (number, HTTPHeaders(), .fields)
    case .fields:
      if line.isEmpty { return try endHead() }
      let (name, value) = try field(line)
      headers.add(name: name, value: value)
    case .chunkSize:
      guard let count = Int(String(line.prefix { $0 != ";" }).trimmed, radix: 16), count >= 0 else {
        throw HTTPParserError.invalidChunkSize
      }
      phase = count == 0 ? .trailers : .chunk(count)
    case .chunkEnd:
      guard line.isEmpty else { throw HTTPParserError.strictModeAssertion }
      phase = .chunkSize
    case .trailers: if line.isEmpty { phase = .complete } else { _ = try field(line) }
    case .sized, .chunk, .untilClose, .complete: break
    }
    return []
  }

  private func field(_ line: String) throws -> (name: String, value: String) {
    guard let colon = line.firstIndex(of: ":"), !line.utf8.contains(0) else {
      throw HTTPParserError.invalidHeaderToken
    }
    return (String(line[..<colon]), String(line[line.index(after: colon)...]).trimmed)
  }

  private mutating func endHead() throws -> [Part] {
    guard status >= 200 || status == 101 else {
      phase = .statusLine
      return []
    }
    if isBodiless || status == 204 || status == 304 {
      phase = .complete
    } else if headers["Transfer-Encoding"].last?.lowercased() == "chunked" {
      phase = .chunkSize
    } else if let length = headers["Content-Length"].first {
      guard let count = Int(length), count >= 0 else { throw HTTPParserError.invalidContentLength }
      phase = count > 0 ? .sized(count) : .complete
    } else {
      phase = .untilClose
    }
    return [.head(Head(status: status, version: version, headers: headers))]
  }
}

extension String {
  /// Without the spaces and tabs around it.
  fileprivate var trimmed: String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    return String(String(drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
  }
}
