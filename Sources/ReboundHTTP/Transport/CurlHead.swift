#if Curl
  import Foundation

  /// Puts the head of an answer together from the lines in which libcurl hands it over.
  struct CurlHead {
    /// `nil` as long as they are those of the answer before.
    private var fields: [HTTPHeaders.Field]?
    private var fieldCount = 0
    /// The last field, once it goes on in further lines.
    ///
    /// It grows in its place: to make it anew for each of many lines would take ever longer.
    private var folded: (name: String, value: String)?
    /// `nil` before the first line of a head: what comes without one is passed over.
    private var status: Int?
    /// Whether the head has been returned.
    private(set) var isTold = false

    /// Whether the server speaks another protocol from here on.
    var changesProtocol: Bool { status == 101 }

    /// Takes a line with its end; returns the head once it is complete, and only once.
    ///
    /// Informational answers are passed over, and so is what comes behind the body.
    ///
    /// - Parameter memory: What the handle's answer before this one said; afterwards what this one says.
    mutating func take(
      _ line: UnsafeRawBufferPointer,
      from address: Address,
      remembering memory: inout CurlHeadTable
    ) -> ResponseHead? {
      guard !isTold else { return nil }
      var count = line.count
      while count > 0, line[count - 1] == 0x0A || line[count - 1] == 0x0D { count -= 1 }
      let text = UnsafeRawBufferPointer(rebasing: line[..<count])
      guard let first = text.first else {
        guard let status, status >= 200 else { return nil }
        unfold()
        isTold = true
        let headers = memory.end(fields, fieldCount)
        return ResponseHead(status: status, headers: headers, address: address, httpVersion: memory.version)
      }
      if first == UInt8(ascii: "H"), text.starts(with: "HTTP/".utf8) {
        status = memory.begin(text)
        (fields, fieldCount, folded) = (nil, 0, nil)
      } else if status == nil {
        return nil
      } else if CurlHead.isSpace(first), fieldCount > 0 {
        fold(text, &memory)
      } else if memory.hasLine(text, at: fieldCount) {
        unfold()
        fields?.append(memory.fields[fieldCount])
        fieldCount += 1
      } else if let field = memory.field(of: text, at: fieldCount) {
        unfold()
        change(memory) { $0.append(field) }
        fieldCount += 1
      }
      return nil
    }

    /// Goes on with the value above (RFC 9112 §5.2).
    private mutating func fold(_ text: UnsafeRawBufferPointer, _ memory: inout CurlHeadTable) {
      if folded == nil {
        folded = change(memory) { $0.popLast() }.map { ($0.name, $0.value) }
        memory.forget(fieldCount - 1)
      }
      folded?.value += " "
      folded?.value += CurlHead.trimmed(text)
    }

    /// Changes the fields, which are those of the head before no longer.
    private mutating func change<Result>(
      _ memory: CurlHeadTable,
      _ body: (inout [HTTPHeaders.Field]) -> Result
    ) -> Result {
      var all = fields.take() ?? Array(memory.fields[..<fieldCount])
      defer { fields = all }
      return body(&all)
    }

    private mutating func unfold() {
      if let (name, value) = folded.take() { fields?.append(HTTPHeaders.Field(name, value)) }
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    fileprivate static func trimmed(_ bytes: UnsafeRawBufferPointer) -> String {
      var (start, end) = (0, bytes.count)
      while start < end, isSpace(bytes[start]) { start += 1 }
      while start < end, isSpace(bytes[end - 1]) { end -= 1 }
      return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }
  }

  /// The head of a handle's last answer, line by line: for HTTP/1 what the dynamic table is for HTTP/2 (RFC 7541 §2.3.2), by place.
  ///
  /// A server says nearly the same each time, and a line that it has said before need not become text once more.
  struct CurlHeadTable {
    private static let longestLine = 256
    private static let mostLines = 32

    private(set) var version: String?
    private(set) var fields: [HTTPHeaders.Field] = []
    private var status = 0
    private var statusLine: [UInt8] = []
    /// Those of the fields, at the same places; an empty one is not remembered, and what is behind the last field is of no head.
    private var lines: [[UInt8]] = []
    /// Whether lines have taken the places of others, and the fields not yet.
    private var isOpen = false

    /// Begins a head with its first line, and says its status.
    mutating func begin(_ line: UnsafeRawBufferPointer) -> Int {
      // The head before was an informational one, or broke off.
      if isOpen { self = CurlHeadTable() }
      isOpen = true
      guard !CurlHeadTable.equal(statusLine, line) else { return status }
      let isInWord = { (byte: UInt8) in byte != 0x20 }
      let word = line.prefix(while: isInWord)
      let next = line[word.endIndex...].drop { !isInWord($0) }.prefix(while: isInWord)
      version = String(decoding: word, as: UTF8.self)
      status = Int(String(decoding: next, as: UTF8.self)) ?? 0
      statusLine = CurlHeadTable.remembered(line)
      return status
    }

    /// Whether a line is the one that was at that place among the fields.
    func hasLine(_ line: UnsafeRawBufferPointer, at place: Int) -> Bool {
      place < lines.count && place < fields.count && CurlHeadTable.equal(lines[place], line)
    }

    /// The field that another line says; `nil` if it says none.
    mutating func field(of line: UnsafeRawBufferPointer, at place: Int) -> HTTPHeaders.Field? {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      if place < lines.count {
        lines[place] = CurlHeadTable.remembered(line)
      } else if place < CurlHeadTable.mostLines {
        lines.append(CurlHeadTable.remembered(line))
      }
      let name = String(decoding: UnsafeRawBufferPointer(rebasing: line[..<colon]), as: UTF8.self)
      return HTTPHeaders.Field(name, CurlHead.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])))
    }

    /// Does not remember the line of a field that has more of them.
    mutating func forget(_ place: Int) {
      if place < lines.count { lines[place] = [] }
    }

    /// Ends a head, and hands out its fields.
    ///
    /// - Parameters:
    ///   - new: Its fields; `nil` if they are those of the head before, or the first of those.
    ///   - count: How many those are.
    mutating func end(_ new: [HTTPHeaders.Field]?, _ count: Int) -> HTTPHeaders {
      isOpen = false
      if let new { fields = new } else if count < fields.count { fields.removeLast(fields.count - count) }
      return HTTPHeaders(fields)
    }

    private static func equal(_ known: [UInt8], _ line: UnsafeRawBufferPointer) -> Bool {
      guard known.count == line.count, let start = line.baseAddress else { return false }
      return known.withUnsafeBytes { bytes in bytes.baseAddress.map { memcmp($0, start, line.count) == 0 } ?? false }
    }

    private static func remembered(_ line: UnsafeRawBufferPointer) -> [UInt8] {
      line.count <= longestLine ? Array(line) : []
    }
  }
#endif
