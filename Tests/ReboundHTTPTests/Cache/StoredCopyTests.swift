import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundHTTP

@Suite("StoredCopy")
struct StoredCopyTests {
  private static let url = URL(fileURLWithPath: "/").appendingPathComponent("orders")
  private static let key = HTTPCacheKeyDigest(HTTPCache.Key(url: url.absoluteString, identity: "ada"))

  private static func copy(
    _ headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""],
    body: String = "body",
    at address: URL = url,
    to message: TransportRequest = TransportRequest(url)
  ) throws -> CachedCopy {
    let response = HTTPResponse(
      head: ResponseHead(status: 200, headers: headers, url: address, httpVersion: "HTTP/2"),
      body: Data(body.utf8),
      receivedAt: HTTPDate(secondsSinceEpoch: 1_000)
    )
    return try #require(CachedCopy(response, to: message, now: .seconds(5)))
  }

  private static func bytes(
    _ copy: CachedCopy,
    storedAt: Duration = .seconds(1_000),
    redaction: Redaction = .standard
  ) -> Data? {
    StoredCopy.bytes(
      of: copy,
      for: key,
      answering: url,
      now: .seconds(15),
      wallClock: storedAt,
      redaction: redaction
    )
  }

  private static func restored(
    _ bytes: Data,
    for message: TransportRequest = TransportRequest(url),
    wallClock: Duration = .seconds(1_000)
  ) throws -> CachedCopy? {
    try StoredCopy(bytes, of: key).copy(answering: message, for: key, now: .seconds(700), wallClock: wallClock)
  }

  @Test("it comes back as it was, as old as it is by now")
  func roundTrip() throws {
    let bytes = try #require(Self.bytes(try Self.copy()))
    let copy = try #require(try Self.restored(bytes, wallClock: .seconds(1_030)))
    expectEqual(copy.head, (try Self.copy()).head)
    expectEqual(copy.body, Data("body".utf8))
    expectEqual(copy.body.startIndex, 0)
    expectEqual(copy.receivedAt, HTTPDate(secondsSinceEpoch: 1_000))
    // Ten seconds when it was stored, and thirty since then.
    expectEqual(copy.age(now: .seconds(700)), .seconds(40))
    #expect(copy.isFresh(now: .seconds(719)))
    #expect(!copy.isFresh(now: .seconds(720)))
  }

  @Test("cut off anywhere, it is none")
  func truncated() throws {
    let bytes = try #require(Self.bytes(try Self.copy()))
    for count in 0..<bytes.count {
      #expect(throws: StoredCopy.Damage.self, "\(count) bytes") { try StoredCopy(bytes.prefix(count), of: Self.key) }
      #expect(throws: StoredCopy.Damage.self, "from \(count)") {
        try StoredCopy(bytes.dropFirst(count + 1), of: Self.key)
      }
    }
    #expect(throws: StoredCopy.Damage.torn) { try StoredCopy(bytes + [0], of: Self.key) }
  }

  @Test("with any bit of it turned, it is none")
  func turnedBits() throws {
    let bytes = try #require(Self.bytes(try Self.copy()))
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: StoredCopy.Damage.self, "bit \(bit)") { try StoredCopy(damaged, of: Self.key) }
    }
  }

  @Test("of a slice of more bytes, it is read as well")
  func slice() throws {
    let bytes = try #require(Self.bytes(try Self.copy()))
    try expectEqual(Self.restored((Data([1, 2, 3]) + bytes).dropFirst(3))?.body, Data("body".utf8))
  }

  @Test(
    "a whole with a head that says nothing is none",
    arguments: ["", "{}", "[]", "null", "{\"key\":1}", String(repeating: "[", count: 10_000)]
  )
  func senselessHead(json: String) {
    let bytes = StoredCopy.framed(Data(json.utf8), Data())
    #expect(throws: StoredCopy.Damage.malformed) { try StoredCopy(bytes, of: Self.key) }
  }

  @Test("another version, another file, and a copy of something else are named as what they are")
  func kinds() throws {
    var bytes = try #require(Self.bytes(try Self.copy()))
    let other = HTTPCacheKeyDigest(HTTPCache.Key(url: Self.url.absoluteString, identity: "bob"))
    #expect(throws: StoredCopy.Damage.otherAddress) { try StoredCopy(bytes, of: other) }
    #expect(throws: StoredCopy.Damage.foreign) { try StoredCopy(Data(), of: Self.key) }
    #expect(throws: StoredCopy.Damage.foreign) { try StoredCopy(Data(count: 100), of: Self.key) }
    bytes[11] = 1
    #expect(throws: StoredCopy.Damage.otherVersion) { try StoredCopy(bytes, of: Self.key) }
  }

  // MARK: Time

  @Test("stored in the future, because the clock was set back, it is as old as can be", arguments: [2, 3_600, 1_000])
  func clockSetBack(seconds: Int) throws {
    let bytes = try #require(Self.bytes(try Self.copy()))
    let copy = try #require(try Self.restored(bytes, wallClock: .seconds(1_000 - seconds)))
    expectEqual(copy.age(now: .seconds(700)), .seconds(Int64(1) << 31))
    #expect(!copy.isFresh(now: .seconds(700)))
  }

  @Test("a clock that is back by less than a second changes nothing")
  func clockThatDiffers() throws {
    let bytes = try #require(Self.bytes(try Self.copy()))
    let copy = try #require(try Self.restored(bytes, wallClock: .milliseconds(999_001)))
    expectEqual(copy.age(now: .seconds(700)), .seconds(10))
  }

  @Test("clocks and ages beyond all numbers are no harm", arguments: [.min, -1, 0, .max / 1_000] as [Int64])
  func extremeClocks(seconds: Int64) throws {
    let bytes = try #require(Self.bytes(try Self.copy(), storedAt: .seconds(seconds)))
    for now in [Int64.min, 0, Int64.max / 1_000] {
      let copy = try #require(try Self.restored(bytes, wallClock: .seconds(now)))
      #expect((.seconds(10) ... .seconds(Int64(1) << 31)).contains(copy.age(now: .seconds(700))))
    }
  }

  // MARK: Variants

  @Test("it answers the requests alone that have the same in the fields that it depends on")
  func variant() throws {
    let italian = TransportRequest(Self.url, headers: ["accept-language": "it"])
    let german = TransportRequest(Self.url, headers: ["Accept-Language": "de"])
    let copy = try Self.copy(["Cache-Control": "max-age=60", "Vary": "Accept-Language, X-Other"], to: italian)
    let bytes = try #require(Self.bytes(copy))
    try expectEqual(Self.restored(bytes, for: italian)?.variant, copy.variant)
    #expect(try Self.restored(bytes, for: german) == nil)
    #expect(try Self.restored(bytes) == nil)
  }

  @Test("names of fields know no case, values do")
  func fieldDigests() {
    let digest = Self.key.digest(of: HTTPHeaders.Field("Accept", "a"))
    expectEqual(Self.key.digest(of: HTTPHeaders.Field("accept", "a")), digest)
    #expect(Self.key.digest(of: HTTPHeaders.Field("Accept", "A")) != digest)
  }

  // MARK: Secrets

  @Test("no credential gets into the bytes: of addresses, users and the request's fields there are digests alone")
  func secrets() throws {
    let headers: HTTPHeaders = [
      "Cache-Control": "max-age=60", "Vary": "Authorization", "Set-Cookie": "session=hidden1",
      "X-Auth-Token": "hidden2",
      "X-Other": "Bearer hidden3", "X-Kept": "shown", "Content-Type": "text/plain",
    ]
    let message = TransportRequest(Self.url, headers: ["Authorization": "Bearer hidden4"])
    let bytes = try #require(Self.bytes(try Self.copy(headers, to: message)))
    let text = String(decoding: bytes, as: UTF8.self)
    for secret in ["hidden", "ada", "orders"] { #expect(!text.contains(secret), "\(secret)") }
    let copy = try #require(try Self.restored(bytes, for: message))
    let names = copy.head.headers.map(\.name)
    expectEqual(names, ["Cache-Control", "Vary", "X-Kept", "Content-Type"])
    for secret in ["ada", "orders"] { #expect(!"\(Self.key.name)".contains(secret)) }
  }

  @Test(
    "an answer with a credential in the address of a field is not stored, any other is, with the field as it came",
    arguments: [
      ("Link", "<https://api.example/a?page=2&x=1#part>; rel=\"next\", </a#part>", true),
      ("Content-Location", "/a#v2", true),
      ("Location", "/a?q=1", true), ("Link", "</?q=1>; rel=prev, </?api_key=abc>; rel=next", false),
      ("Link", "<https://api.example/a?page_token=abc&x=1>; rel=\"next\"", false), ("Location", "/?token=abc", false),
      ("Content-Location", "https://me:word@api.example/a", false), ("Location", "/a#access_token=abc", false),
    ]
  )
  func addressesInFields(name: String, value: String, isStored: Bool) throws {
    let bytes = Self.bytes(try Self.copy(["Cache-Control": "max-age=60", name: value]))
    expectEqual(bytes != nil, isStored)
    if let bytes { try expectEqual(Self.restored(bytes)?.head.headers[name], value) }
  }

  @Test("what the cache goes by is there whatever a redaction says, or it would be good for longer than it may")
  func neededFields() throws {
    let headers: HTTPHeaders = [
      "Cache-Control": "no-cache", "ETag": "\"1\"", "Last-Modified": "Sun Nov  6 08:49:37 1994",
    ]
    let redaction = Redaction(headers: ["Cache-Control", "etag", "Last-Modified"], parameters: [])
    let bytes = try #require(Self.bytes(try Self.copy(headers), redaction: redaction))
    try expectEqual(Self.restored(bytes)?.head.headers, headers)
  }

  @Test(
    "an answer that a redirect with a credential has led to is not stored, any other is",
    arguments: [
      ("https://cdn.example/a?X-Amz-Signature=abc", false), ("https://me:word@cdn.example/a", false),
      ("https://cdn.example/a?page=2", true), ("https://cdn.example/a", true),
    ]
  )
  func redirected(address: String, isStored: Bool) throws {
    let url = try #require(URL(string: address))
    let bytes = Self.bytes(try Self.copy(at: url))
    expectEqual(bytes != nil, isStored)
    if let bytes { try expectEqual(Self.restored(bytes)?.head.url, url) }
  }

  @Test(
    "where redirects have led comes back in their order, and with a credential in one of them it is not stored",
    arguments: [
      ("https://cdn.example/a?page=2", "https://cdn.example/b", true),
      ("https://cdn.example/a?X-Amz-Signature=abc", "https://cdn.example/b", false),
      ("https://cdn.example/a", "https://cdn.example/b?X-Amz-Signature=abc", false),
    ]
  )
  func way(first: String, last: String, isStored: Bool) throws {
    let way = try [first, last].map { try #require(URL(string: $0)) }
    var (chain, place): (RedirectChain?, URL) = (nil, Self.url)
    let receivedAt = HTTPDate(secondsSinceEpoch: 1_000)
    for next in way {
      let redirect = HTTPResponse(head: ResponseHead(status: 301, url: place), receivedAt: receivedAt)
      chain = RedirectChain(redirect, to: TransportRequest(place), next: TransportRequest(next), after: chain)
      place = next
    }
    // Middleware has sent it to more than that.
    let sent = try #require(URL(string: "https://cdn.example/b?edition=7"))
    var head = ResponseHead(status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""], url: sent)
    head.redirectChain = chain
    let response = HTTPResponse(head: head, receivedAt: receivedAt)
    let copy = try #require(CachedCopy(response, to: TransportRequest(Self.url), now: .seconds(5)))
    let bytes = Self.bytes(copy)
    expectEqual(bytes != nil, isStored)
    guard let bytes else { return }
    let restored = try #require(try Self.restored(bytes))
    expectEqual(restored.way, way)
    expectEqual(restored.head.url, sent)
    expectEqual(restored.question(HTTPRequest(TransportRequest(Self.url)))?.question?.url, way[1])
  }

  @Test(
    "what middleware adds to the query of what was asked for, such as a key, is left out of what is stored",
    arguments: [
      ("?appid=s3cret", nil), ("?q=1&appid=s3cret#a", nil), ("?edition=7", "?edition=7"), ("", nil),
    ] as [(String, String?)]
  )
  func addedKey(query: String, kept: String?) throws {
    let sent = try #require(URL(string: Self.url.absoluteString + query))
    let bytes = try #require(Self.bytes(try Self.copy(at: sent)))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("s3cret"))
    let restored = try #require(try Self.restored(bytes))
    expectEqual(restored.head.url.absoluteString, Self.url.absoluteString + (kept ?? ""))
  }

  @Test("no address and identity together are those of another pair")
  func keys() {
    let pairs = [("a", "b"), ("a +b", nil), ("a", nil), ("a", ""), ("a -", nil), ("", "a +b")]
    let names = pairs.map { HTTPCacheKeyDigest(HTTPCache.Key(url: $0.0, identity: $0.1)) }
    expectEqual(Set(names.map(\.text)).count, pairs.count)
    expectEqual(Set(names.map(\.name)).count, pairs.count)
    // All copies of an address have a part of the name in common.
    expectEqual(names[0].name.address, names[2].name.address)
    #expect(names[0].name.address != names[1].name.address)
  }
}
