#if Curl
  import CCurl

  /// The header fields of a request as libcurl reads them: a list that is in one piece of memory, which the next request's takes
  /// over.
  ///
  /// libcurl's own function for such lists allocates twice for each member, and walks to the end to add it.
  struct CurlFieldList {
    /// What one large request needed is not kept for ever.
    private static let mostBytesKept = 16 << 10

    private var nodes = UnsafeMutableBufferPointer<curl_slist>(start: nil, count: 0)
    private var text = UnsafeMutableBufferPointer<CChar>(start: nil, count: 0)

    /// Takes these fields and lines in place of those before.
    ///
    /// - Returns: The list, which is good until the next call; `nil` if there is nothing in it.
    mutating func set(_ headers: HTTPHeaders, and lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
      reserve(headers, lines)
      guard let first = nodes.baseAddress, var end = text.baseAddress else { return nil }
      var node = first
      headers.forEach { field in
        guard !HTTPHeaders.isFraming(field.name) else { return }
        node = CurlFieldList.append(end, behind: node)
        end = CurlFieldList.write(field.name, at: end)
        // libcurl takes a name with a colon and nothing behind it for the wish to leave the field out.
        end = CurlFieldList.write(field.value.isEmpty ? ";" : ": ", at: end)
        end = CurlFieldList.end(CurlFieldList.write(field.value, at: end))
      }
      for line in lines {
        node = CurlFieldList.append(end, behind: node)
        end = CurlFieldList.end(CurlFieldList.write(line, at: end))
      }
      // The first node only leads to the others.
      return first.pointee.next
    }

    /// - Returns: The node of a line, to which the one before leads.
    private static func append(
      _ line: UnsafeMutablePointer<CChar>,
      behind node: UnsafeMutablePointer<curl_slist>
    ) -> UnsafeMutablePointer<curl_slist> {
      let next = node + 1
      next.initialize(to: curl_slist(data: line, next: nil))
      node.pointee.next = next
      return next
    }

    /// - Returns: What is behind the text.
    private static func write(_ text: String, at place: UnsafeMutablePointer<CChar>) -> UnsafeMutablePointer<CChar> {
      let count = text.utf8.count
      let bytes = UnsafeMutableRawBufferPointer(start: place, count: count)
      // By its bytes in memory, where it has them in one piece.
      text.utf8.withContiguousStorageIfAvailable { bytes.copyMemory(from: UnsafeRawBufferPointer($0)) }
        ?? bytes.copyBytes(from: text.utf8)
      return place + count
    }

    /// - Returns: What is behind the zero at a line's end.
    private static func end(_ place: UnsafeMutablePointer<CChar>) -> UnsafeMutablePointer<CChar> {
      place.pointee = 0
      return place + 1
    }

    private mutating func reserve(_ headers: HTTPHeaders, _ lines: [String]) {
      let nodeCount = 1 + headers.count + lines.count
      if nodes.count < nodeCount {
        nodes.deallocate()
        nodes = .allocate(capacity: max(16, nodeCount))
      }
      // The list begins anew.
      nodes.initializeElement(at: 0, to: curl_slist(data: nil, next: nil))
      // A field has a colon and a space, and a zero at its end.
      let byteCount =
        headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
        + lines.reduce(0) { $0 + $1.utf8.count + 1 }
      if text.count < byteCount || text.count > CurlFieldList.mostBytesKept {
        text.deallocate()
        text = .allocate(capacity: max(512, byteCount))
      }
    }

    func free() {
      nodes.deallocate()
      text.deallocate()
    }
  }
#endif
