extension Fault {
  private static func afterRequest(_ name: String, _ steps: Step...) -> Fault {
    Fault(name, at: .head, [.readBody] + steps)
  }

  /// The connection ends in order where the response should begin.
  public static let emptyReply = afterRequest("empty reply", .close)
  /// The connection is reset where the response should begin.
  public static let resetBeforeHead = afterRequest("reset before head", .reset)
  /// There never is a response.
  public static let stallBeforeHead = afterRequest("stall before head", .stall, .reset)

  /// The connection ends in the status line.
  public static let closeInStatusLine = afterRequest("close in status line", .send("HTTP/1.1 20"), .close)
  /// The connection is reset in the status line.
  public static let resetInStatusLine = afterRequest("reset in status line", .send("HTTP/1.1 20"), .reset)
  /// The status line never ends.
  public static let stallInStatusLine = afterRequest("stall in status line", .send("HTTP/1.1 20"), .stall, .reset)

  /// The connection ends among the fields.
  public static let closeInFields = afterRequest("close in fields", .send("HTTP/1.1 200 OK\r\nX-Half: "), .close)
  /// The connection is reset among the fields.
  public static let resetInFields = afterRequest("reset in fields", .send("HTTP/1.1 200 OK\r\nX-Half: "), .reset)
  /// The fields never end.
  public static let stallInFields = afterRequest(
    "stall in fields",
    .send("HTTP/1.1 200 OK\r\nX-Half: "),
    .stall,
    .reset
  )

  /// The response is not HTTP at all.
  public static let notHTTP = afterRequest("not HTTP", .send("Hello, who is there?\r\n\r\n"), .close)
  /// The response is random bytes.
  public static let binaryGarbage = afterRequest(
    "binary garbage",
    .send((0..<512).map { UInt8(($0 * 151 + 7) % 251) }),
    .close
  )
  /// The status is no number.
  public static let wordForStatus = afterRequest(
    "word for status",
    .send("HTTP/1.1 fine OK\r\nContent-Length: 0\r\n\r\n"),
    .close
  )
  /// The protocol has a version that does not exist.
  public static let unknownVersion = afterRequest(
    "unknown version",
    .send("HTTP/7.3 200 OK\r\nContent-Length: 0\r\n\r\n"),
    .close
  )
  /// The Content-Length is negative.
  public static let negativeLength = afterRequest(
    "negative length",
    .send("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"),
    .close
  )
  /// The Content-Length is a number in another notation.
  public static let hexadecimalLength = afterRequest(
    "hexadecimal length",
    .send("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok"),
    .close
  )
  /// The Content-Length is larger than anybody can count to.
  public static let overflowingLength = afterRequest(
    "overflowing length",
    .send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok"),
    .close
  )
  /// The response wants credentials, and says which (RFC 7617).
  public static let challenge = afterRequest(
    "challenge for credentials",
    .send(head(401, length: 2, fields: ["WWW-Authenticate: Basic realm=\"here\""]) + "ok")
  )
  /// A line of the head is no field.
  public static let fieldWithoutColon = afterRequest(
    "field without a colon",
    .send("HTTP/1.1 200 OK\r\nNonsense\r\nContent-Length: 2\r\n\r\nok"),
    .close
  )
  /// A field has a NUL in it.
  public static let nulInField = afterRequest(
    "NUL in a field",
    .send("HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 2\r\n\r\nok"),
    .close
  )
  /// The lines of the head end without a CR, as a client may allow (RFC 9112 §2.2), and all is well.
  public static let lineFeedsAlone = afterRequest(
    "line feeds alone",
    .send("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
    .close
  )
  /// The server changes to a protocol that nobody has asked for.
  public static let unaskedUpgrade = afterRequest(
    "unasked upgrade",
    .send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nhello"),
    .close
  )
  /// A single field is longer than any client takes.
  public static let hugeField = afterRequest(
    "huge field",
    .send("HTTP/1.1 200 OK\r\nX-Huge: "),
    .flood(Array(repeating: UInt8(ascii: "x"), count: 4096), times: 256),
    .send("\r\nContent-Length: 0\r\n\r\n"),
    .close
  )
  /// There are more fields than any client takes.
  public static let endlessFields = afterRequest(
    "endless fields",
    .send("HTTP/1.1 200 OK\r\n"),
    .flood(Array("X-More: \(String(repeating: "x", count: 1000))\r\n".utf8), times: 2000),
    .send("Content-Length: 0\r\n\r\n"),
    .close
  )
  /// There are ten thousand fields, each of them short, and all is well.
  public static let manyFields = afterRequest(
    "ten thousand fields",
    .send("HTTP/1.1 200 OK\r\n"),
    .flood(Array("X: y\r\n".utf8), times: 10_000),
    .send("Content-Length: 2\r\n\r\nok")
  )
  /// The head comes byte by byte, and all is well.
  public static let drippingHead = afterRequest("dripping head", .drip(head(200, length: 2)), .send("ok"))

  /// Interim responses come first, and all is well.
  public static let interimResponses = afterRequest(
    "interim responses",
    .send("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"),
    .send(head(200, length: 2) + "ok")
  )
  /// After an interim response the connection ends.
  public static let closeAfterInterim = afterRequest(
    "close after interim",
    .send("HTTP/1.1 103 Early Hints\r\n\r\n"),
    .close
  )

  /// The answer points back to where it came from.
  ///
  /// - Parameter path: The path that this fault is programmed for.
  public static func redirectLoop(at path: String) -> Fault {
    redirect(to: path, name: "redirect loop")
  }

  /// The answer points somewhere else.
  ///
  /// - Parameters:
  ///   - location: The value of the Location field.
  ///   - status: One of 301, 302, 303, 307 and 308.
  ///   - name: What the fault is called; `nil` for "redirect" and the status.
  public static func redirect(to location: String, status: Int = 302, name: String? = nil) -> Fault {
    afterRequest(name ?? "redirect \(status)", .send(head(status, length: 0, fields: ["Location: \(location)"])))
  }

  /// A redirect that does not say where to.
  public static let redirectToNowhere = afterRequest("redirect to nowhere", .send(head(302, length: 0)))

  /// A redirect that brings a body, which nobody needs.
  ///
  /// - Parameter count: How many bytes, to the next 64 KiB.
  public static func redirectWithBody(of count: Int) -> Fault {
    let flood = flood(of: count)
    return afterRequest(
      "redirect with large body",
      .send(head(302, length: flood.count, fields: ["Location: /elsewhere"])),
      flood.step
    )
  }

  /// A response with a status, and a body where the status allows one.
  public static func status(_ code: Int, fields: [String] = []) -> Fault {
    let hasBody = code >= 200 && code != 204 && code != 304
    return afterRequest(
      "status \(code)",
      .send(head(code, length: hasBody ? 2 : nil, fields: fields) + (hasBody ? "ok" : ""))
    )
  }

  /// A response that is not wrong at all.
  ///
  /// - Parameters:
  ///   - body: What it brings.
  ///   - fields: Lines of its head, besides those of every response.
  public static func answer(_ body: String = "ok", fields: [String] = []) -> Fault {
    answer(Array(body.utf8), fields: fields)
  }

  /// A response that is not wrong at all.
  ///
  /// - Parameters:
  ///   - body: What it brings.
  ///   - fields: Lines of its head, besides those of every response.
  public static func answer(_ body: [UInt8], fields: [String] = []) -> Fault {
    afterRequest("answer", .send(head(200, length: body.count, fields: fields)), .send(body))
  }

  /// The answer to a HEAD request: fields, and no body.
  public static let headOnly = afterRequest("head only", .send(head(200, length: 2)))
}
