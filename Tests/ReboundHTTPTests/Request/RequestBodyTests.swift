import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("RequestBody")
struct RequestBodyTests {
  /// All bytes of a body, read in pieces of a size that fits nothing.
  static func bytes(of body: TransportBody) throws -> Data {
    let reader = try body.open()
    var all = Data()
    while true {
      let piece = try reader.read(upTo: 7)
      #expect(piece.count <= 7)
      if piece.isEmpty { return all }
      all += piece
    }
  }

  static func made(_ body: RequestBody, random: RandomSource = .seeded(1)) throws -> (
    text: String, message: TransportRequest
  ) {
    let message = try Anything(method: .post, body: body).message(base: .service, random: random)
    return (String(decoding: try bytes(of: message.body), as: UTF8.self), message)
  }

  @Test("JSON is sent as JSON")
  func json() throws {
    let (text, message) = try Self.made(.json(Place(name: "Rome", temperature: 12)))
    try expectEqual(JSONDecoder().decode(Place.self, from: Data(text.utf8)), Place(name: "Rome", temperature: 12))
    expectEqual(message.headers["Content-Type"], "application/json")
    expectEqual(message.body.length, Int64(text.utf8.count))
  }

  @Test("what JSON cannot say is an invalid request, not a crash")
  func jsonFails() {
    #expect(throws: InvalidRequest.self) { try Self.made(.json(Double.nan)) }
  }

  @Test("a form is encoded once, with + for a space")
  func form() throws {
    let (text, message) = try Self.made(.form(["user": "Jo & Co", "sum": "1+1", "city": "Köln"]))
    expectEqual(text, "user=Jo+%26+Co&sum=1%2B1&city=K%C3%B6ln")
    expectEqual(message.headers["Content-Type"], "application/x-www-form-urlencoded")
  }

  @Test("a multipart body has its parts between boundaries, and reads files while it is sent")
  func multipart() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
    try Data("file's content".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let body = RequestBody.multipart([
      .field("title", "Hello"),
      .data("raw", Data([0, 1, 2]), fileName: "a.bin"),
      .file("photo", file, fileName: "p.txt", contentType: "text/plain"),
    ])
    let (text, message) = try Self.made(body)
    let type = try #require(message.headers["Content-Type"])
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = type.dropFirst("multipart/form-data; boundary=".count)
    let expected = """
      --\(boundary)\r
      Content-Disposition: form-data; name="title"\r
      \r
      Hello\r
      --\(boundary)\r
      Content-Disposition: form-data; name="raw"; filename="a.bin"\r
      Content-Type: application/octet-stream\r
      \r
      \u{0}\u{1}\u{2}\r
      --\(boundary)\r
      Content-Disposition: form-data; name="photo"; filename="p.txt"\r
      Content-Type: text/plain\r
      \r
      file's content\r
      --\(boundary)--\r

      """
    expectEqual(text, expected)
    expectEqual(message.body.length, Int64(text.utf8.count))
    #expect(message.body.isReplayable)
    try expectEqual(Self.bytes(of: message.body), Data(text.utf8), "a second reading gives the same")
  }

  @Test("a file in a multipart body is sent whole through a symbolic link")
  func multipartLink() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
    let link = file.appendingPathExtension("link")
    defer { for url in [file, link] { try? FileManager.default.removeItem(at: url) } }
    try Data("file's content".utf8).write(to: file)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    let (text, message) = try Self.made(.multipart([.file("photo", link, fileName: "p.txt")]))
    #expect(text.contains("\r\n\r\nfile's content\r\n--"))
    expectEqual(message.body.length, Int64(text.utf8.count))
  }

  @Test("a file in a multipart body that grows is sent as far as it went when the body was made")
  func multipartGrowth() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("ten bytes.".utf8).write(to: file)
    let body = RequestBody.multipart([.file("log", file, fileName: "l.txt"), .field("title", "Hello")])
    let message = try Anything(method: .post, body: body).message(base: .service, random: .seeded(1))
    try Data("ten bytes. and more".utf8).write(to: file)
    let text = String(decoding: try Self.bytes(of: message.body), as: UTF8.self)
    #expect(text.contains("\r\n\r\nten bytes.\r\n--"))
    expectEqual(message.body.length, Int64(text.utf8.count))
  }

  @Test("a file in a multipart body that has given way to another since the body was made is not sent")
  func multipartReplacement() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
    let other = file.appendingPathExtension("other")
    defer { for url in [file, other] { try? FileManager.default.removeItem(at: url) } }
    try Data("ten bytes.".utf8).write(to: file)
    let body = RequestBody.multipart([.file("log", file, fileName: "l.txt"), .field("title", "Hello")])
    let message = try Anything(method: .post, body: body).message(base: .service, random: .seeded(1))
    #expect(try Self.bytes(of: message.body).count > 10)
    try Data("another, of more bytes.".utf8).write(to: other)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: other, to: file)
    #expect(throws: BodyFileReplaced()) { try Self.bytes(of: message.body) }
  }

  @Test("a name of a part cannot end its line")
  func multipartNames() throws {
    let (text, _) = try Self.made(.multipart([.data("a\"\r\nX: y", Data(), fileName: "\"b\n")]))
    #expect(text.contains(#"name="a%22%0D%0AX: y"; filename="%22b%0A""#))
  }

  @Test("a quote ends no name, whatever marks follow it, and a line break none, however it is made")
  func multipartNamesWithMarks() throws {
    let part = MultipartPart.data("a\"\u{301}; filename=\"x", Data(), fileName: "\r\n\r\u{301}\n\u{301}")
    let (text, _) = try Self.made(.multipart([part]))
    let expected = "name=\"a%22\u{301}; filename=%22x\"; filename=\"%0D%0A%0D\u{301}%0A\u{301}\"\r\n"
    #expect(Data(text.utf8).range(of: Data(expected.utf8)) != nil)
  }

  @Test("a boundary that stands in the data is drawn again")
  func multipartBoundary() throws {
    let first = try Self.made(.multipart([.field("a", "")]), random: .seeded(7)).message.headers["Content-Type"]
    let boundary = try #require(first?.split(separator: "=").last)
    let second = try Self.made(.multipart([.field("a", "x\(boundary)x")]), random: .seeded(7))
    #expect(second.message.headers["Content-Type"] != first)
    #expect(second.text.contains("x\(boundary)x"))
  }

  @Test("data that contains every boundary is refused")
  func multipartHostile() {
    let all = "rebound-" + String(repeating: "0", count: 32)
    #expect(throws: InvalidRequest.self) { try Self.made(.multipart([.field("a", all)]), random: .fixed(0)) }
  }

  @Test("a file that is not there is an invalid request, before anything is sent")
  func missingFile() {
    let nowhere = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    #expect(throws: InvalidRequest.self) { try Self.made(.file(nowhere)) }
    #expect(throws: InvalidRequest.self) { try Self.made(.multipart([.file("a", nowhere)])) }
  }

  @Test("a stream that can be read once says so, and refuses a second reading")
  func onceOnly() throws {
    var pieces = ["ab", "c", ""].map { Data($0.utf8) }[...]
    // Read by this test alone, on one thread.
    nonisolated(unsafe) let next = { () -> Data in pieces.popFirst() ?? Data() }
    let stream = BodyStream.once(length: 3) { _ in next() }
    let (text, message) = try Self.made(.stream(stream, contentType: "text/plain"))
    expectEqual(text, "abc")
    #expect(!message.body.isReplayable)
    #expect(throws: BodyStream.AlreadyRead.self) { try message.body.open() }
  }
}
