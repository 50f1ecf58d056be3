extension Fault {
  private static func inBody(_ name: String, _ head: String, _ steps: Step...) -> Fault {
    Fault(name, at: .body, [.readBody, .send(head)] + steps)
  }

  private static let chunked = head(fields: ["Transfer-Encoding: chunked"])
  private static let gzip = ["Content-Encoding: gzip"]

  /// The connection ends before the Content-Length is reached.
  public static let closeInBody = inBody("close in body", head(length: 100), .send("half"), .close)
  /// The connection is reset before the Content-Length is reached.
  public static let resetInBody = inBody("reset in body", head(length: 100), .send("half"), .stall, .reset)
  /// The rest of the body never comes.
  public static let stallInBody = inBody("stall in body", head(length: 100), .send("half"), .stall, .reset)
  /// The body never begins.
  public static let stallAfterHead = inBody("stall after head", head(length: 100), .stall, .reset)
  /// The connection ends where the body should begin.
  public static let closeAfterHead = inBody("close after head", head(length: 100), .close)

  /// The connection ends in the middle of a chunk.
  public static let closeInChunk = inBody("close in chunk", chunked, .send("A\r\nhalf"), .close)
  /// The connection ends between two chunks.
  public static let closeBetweenChunks = inBody("close between chunks", chunked, .send("4\r\nhalf\r\n"), .close)
  /// The connection is reset in the middle of a chunk.
  public static let resetInChunk = inBody("reset in chunk", chunked, .send("A\r\nhalf"), .stall, .reset)
  /// The next chunk never comes.
  public static let stallInChunk = inBody("stall in chunk", chunked, .send("4\r\nhalf\r\n"), .stall, .reset)
  /// Fields follow the last chunk, as they may (RFC 9112 §7.1.2), and all is well.
  public static let trailers = inBody(
    "trailers",
    head(fields: ["Transfer-Encoding: chunked", "Trailer: X-Sum"]),
    .send("2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n")
  )
  /// A line behind the last chunk is no field.
  public static let brokenTrailer = inBody("broken trailer", chunked, .send("2\r\nok\r\n0\r\nNonsense\r\n\r\n"), .close)
  /// The size of a chunk is no number.
  public static let wordForChunkSize = inBody("word for chunk size", chunked, .send("zz\r\nhalf\r\n0\r\n\r\n"), .close)
  /// The size of a chunk is more than any number holds.
  public static let hugeChunkSize = inBody(
    "huge chunk size",
    chunked,
    .send("FFFFFFFFFFFFFFFFFF\r\nhalf\r\n0\r\n\r\n"),
    .close
  )
  /// A chunk is longer than it says.
  public static let overlongChunk = inBody("overlong chunk", chunked, .send("2\r\nhalf\r\n0\r\n\r\n"), .close)

  /// More bytes come than the Content-Length says; those are not the body.
  public static let bytesAfterBody = inBody("bytes after body", head(length: 2), .send("ok and more"), .close)
  /// Two fields say different lengths.
  public static let twoLengths = inBody(
    "two lengths",
    head(length: 2, fields: ["Content-Length: 8"]),
    .send("ok"),
    .close
  )
  /// The body comes byte by byte, and all is well.
  public static let drippingBody = inBody("dripping body", head(length: 64), .drip([UInt8](repeating: 46, count: 64)))
  /// The body ends with the connection, as it may, and all is well.
  public static let bodyUntilClose = inBody(
    "body until close",
    head(fields: ["Connection: close"]),
    .send("ok"),
    .close
  )
  /// The connection ends after a response that promised to keep it open.
  public static let closeAfterAnswer = inBody("close after answer", head(length: 2), .send("ok"), .close)
  /// A response that has no body brings one.
  public static let bodyAfter204 = inBody("body after 204", head(204, length: 2), .send("ok"), .close)
  /// A response that has no body brings one.
  public static let bodyAfter304 = inBody("body after 304", head(304, length: 2), .send("ok"), .close)

  /// A body in gzip that is what it says, and all is well.
  public static let gzippedAnswer = gzipped("gzipped answer", Gzip.zeros(count: 2))
  /// A body in Brotli (RFC 7932) that is what it says, and all is well.
  public static let brotliAnswer = inBody(
    "brotli answer",
    head(length: 6, fields: ["Content-Encoding: br"]),
    .send([0x8B, 0x00, 0x80] + Array("ok".utf8) + [0x03])
  )
  /// A body in a coding that does not exist.
  public static let unknownCoding = inBody(
    "unknown coding",
    head(length: 2, fields: ["Content-Encoding: rot13"]),
    .send("bx"),
    .close
  )
  /// A body that is in gzip only by name.
  public static let plainForGzip = gzipped("plain for gzip", Array("no gzip at all".utf8))
  /// A body in gzip whose second half is missing, though its length is as announced.
  public static let halfGzip = gzipped("half gzip", Array(Gzip.zeros(count: 100_000).prefix(200)))
  /// A body in two members of gzip, one behind the other, as it may be (RFC 1952 §2.2).
  public static let gzipMembers = gzipped("gzip in two members", Gzip.zeros(count: 2) + Gzip.zeros(count: 2))
  /// A body in gzip with bytes behind its end.
  public static let bytesAfterGzip = gzipped("bytes after gzip", Gzip.zeros(count: 2) + Array("more".utf8))
  /// A body in gzip that is a thousandth of what comes out of it.
  ///
  /// - Parameter count: How many bytes come out.
  public static func gzipBomb(of count: Int) -> Fault {
    gzipped("gzip bomb", Gzip.zeros(count: count))
  }

  private static func gzipped(_ name: String, _ body: [UInt8]) -> Fault {
    inBody(name, head(length: body.count, fields: gzip), .send(body))
  }

  /// Full stops, to the next 64 KiB, and how many that is.
  static func flood(of count: Int) -> (step: Step, count: Int) {
    let piece = [UInt8](repeating: 46, count: 65_536)
    let count = min(max(count, 0), .max - piece.count)
    let times = (count + piece.count - 1) / piece.count
    return (.flood(piece, times: times), times * piece.count)
  }

  /// A body that goes on and on.
  ///
  /// - Parameter count: How many bytes at most, to the next 64 KiB.
  public static func endlessBody(of count: Int) -> Fault {
    let flood = flood(of: count)
    return inBody("endless body", head(length: flood.count), flood.step)
  }
}
