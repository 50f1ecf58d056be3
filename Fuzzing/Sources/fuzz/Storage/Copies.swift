import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// The files of a cache: torn, damaged, written by anybody.
  static let copies = FuzzTarget(
    "copies",
    seeds: [
      "\0\0\0\0\0\0\0\0" + head(fields: #"[{"name":"Cache-Control","value":"max-age=60"}]"#, variant: "[]"),
      "\u{1}\0\u{20}\u{4}\0\u{10}\0\u{20}" + head(fields: "[]", variant: #"[{"name":"Accept","value":"00"}]"#),
      "\u{3}\0\u{9}\u{80}\0\u{1}\0\u{1}Cache-Control: max-age=60\nETag: \"1\"\nVary: Accept\nSet-Cookie: a=secret-word",
      "\u{6}\0\u{30}\u{8}\0\u{1}\0\u{1}Vary: Authorization\nAge: 5\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
    ],
    words: [
      #""key":"#, #""variant":"#, #""fields":"#, #""age":"#, #""storedAt":"#, #""receivedAt":"#, #""address":"#,
      #""status":"#, "rbd-http", "9223372036854775807", "-9223372036854775808", "1e99", "null", "[]", "{}",
      "Cache-Control: ", "Vary: ", "\u{301}",
    ]
  ) { input in
    let (change, place, value) = (input.number(below: 8), input.integer(), input.byte())
    let (storedAt, readAt) = (Duration.seconds(input.integer() / 1_000), Duration.seconds(input.integer() / 1_000))
    let rest = input.rest()
    checkAnyCopy(Data(rest), at: readAt)
    // With a frame around them, so that most inputs get behind the checksum.
    checkAnyCopy(StoredCopy.framed(Data(rest), Data(rest.prefix(8))), at: readAt)
    let headers = HTTPHeaders(fields(in: String(decoding: rest, as: UTF8.self)))
    let response = HTTPResponse(
      head: ResponseHead(status: 200, headers: headers, url: anyURL),
      body: Data(rest.suffix(64)),
      receivedAt: HTTPDate(secondsSinceEpoch: 784_111_777)
    )
    guard let copy = CachedCopy(response, to: copyRequest, now: .zero) else { return }
    guard var bytes = stored(copy, storedAt) else { return expect(false, "it could not be written") }
    checkWritten(bytes, copy, storedAt, readAt)
    let whole = bytes
    damage(&bytes, change, at: Int(place.magnitude % UInt64(bytes.count)), value)
    if bytes != whole { expect((try? StoredCopy(bytes, of: copyKey)) == nil, "a damaged file is read") }
  }

  private static let copyKey = HTTPCacheKeyDigest(HTTPCache.Key(url: anyURL.absoluteString, identity: "user-name"))
  private static let copyRequest = TransportRequest(
    anyURL,
    headers: ["Accept": "a", "Authorization": "Bearer secret-word"]
  )

  private static func head(fields: String, variant: String) -> String {
    #"{"key":"\#(copyKey.text)","variant":\#(variant),"status":200,"fields":\#(fields),"storedAt":0,"age":0,"receivedAt":0}"#
  }

  private static func stored(_ copy: CachedCopy, _ storedAt: Duration) -> Data? {
    StoredCopy.bytes(
      of: copy,
      for: copyKey,
      answering: anyURL,
      now: .zero,
      wallClock: storedAt,
      redaction: .standard
    )
  }

  private static func checkAnyCopy(_ bytes: Data, at wallClock: Duration) {
    guard let stored = try? StoredCopy(bytes, of: copyKey) else { return }
    guard let copy = stored.copy(answering: copyRequest, for: copyKey, now: .zero, wallClock: wallClock) else { return }
    expect((.zero ... .seconds(Int64(1) << 31)).contains(copy.age(now: .zero)), "an age of \(copy.age(now: .zero))")
    expect(copy.answers(copyRequest), "it is no answer to what it was read for")
    _ = copy.isFresh(now: .seconds(1))
    _ = copy.response(.fresh, now: .seconds(1))
  }

  /// What comes back is what was written, but for secrets, and never fresher.
  private static func checkWritten(_ bytes: Data, _ copy: CachedCopy, _ storedAt: Duration, _ readAt: Duration) {
    for secret in ["secret-word", "user-name"] where !copy.body.contains(Data(secret.utf8)) {
      let isShown = copy.head.headers.contains {
        !HTTPHeaders.equal($0.name, "Set-Cookie") && Data(($0.name + $0.value).utf8).contains(Data(secret.utf8))
      }
      expect(isShown || !bytes.contains(Data(secret.utf8)), "'\(secret)' is in the file")
    }
    guard let stored = try? StoredCopy(bytes, of: copyKey) else { return expect(false, "what was written is not read") }
    guard let again = stored.copy(answering: copyRequest, for: copyKey, now: .zero, wallClock: readAt) else {
      return expect(false, "it is no answer to what it was written for")
    }
    expectEqual(again.body, copy.body, "the body")
    expectEqual(again.variant, copy.variant, "what it depends on")
    expect(again.age(now: .zero) >= min(copy.age(now: .zero), .seconds(Int64(1) << 31)), "it has become younger")
    expect(copy.isFresh(now: .zero) || !again.isFresh(now: .zero), "it has become fresh")
  }
}

extension Data {
  fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}
