import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("TransportBody")
struct TransportBodyTests {
  private let folder = TemporaryFolder()

  init() throws {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
  }

  private func write(_ count: Int, to name: String = "file") throws -> URL {
    let file = folder.url.appending(path: name)
    try Data(repeating: 46, count: count).write(to: file)
    return file
  }

  @Test("a link has the length of the file that it leads to, at the end of all links")
  func links() throws {
    let file = try write(1_000)
    let (link, linkToLink) = (folder.url.appending(path: "link"), folder.url.appending(path: "link to link"))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    // From its own folder, as most links are written.
    try FileManager.default.createSymbolicLink(atPath: linkToLink.path, withDestinationPath: "link")
    for link in [file, link, linkToLink] {
      expectEqual(TransportBody.file(link).length, 1_000)
      try expectEqual(RequestBodyTests.bytes(of: .file(link)).count, 1_000)
    }
  }

  @Test("what is no file has no length: a folder, a device, a link that leads nowhere")
  func noFiles() throws {
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "nowhere")
    for place in [folder.url, URL(filePath: "/dev/null"), link] {
      #expect(TransportBody.file(place).length == nil)
      #expect(TransportBody.file(place).measured.length == nil)
    }
  }

  @Test("what is no file is not read, and nobody waits for it: a folder, a device, a pipe, a link to one")
  func unreadable() throws {
    let (pipe, link) = (folder.url.appending(path: "pipe"), folder.url.appending(path: "link"))
    try #require(mkfifo(pipe.path, 0o600) == 0)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
    // With a writer, to open it would not block, either.
    let writer = open(pipe.path, O_RDWR)
    defer { close(writer) }
    for place in [folder.url, URL(filePath: "/dev/null"), pipe, link] {
      #expect(throws: BodyNotAFile()) { try TransportBody.file(place).open() }
      #expect(throws: BodyNotAFile()) { try TransportBody.file(place).measured.open() }
    }
  }

  @Test("a file that was measured is read as far as it went then, however it grows")
  func growth() throws {
    let file = try write(1_000)
    let body = TransportBody.file(file).measured
    _ = try write(1_500)
    #expect(body.length == 1_000 && body.isReplayable)
    for _ in 0..<2 { try expectEqual(RequestBodyTests.bytes(of: body).count, 1_000) }
    expectEqual(TransportBody.file(file).length, 1_500)
  }

  @Test("a file that was measured and has shrunk cannot be read to its end")
  func shrinking() throws {
    let body = TransportBody.file(try write(1_000)).measured
    _ = try write(400)
    #expect(throws: BodyLengthMismatch.short(400, of: 1_000)) { try RequestBodyTests.bytes(of: body) }
  }

  @Test("a file that was measured and has given way to another is not read", arguments: [400, 1_000, 1_500])
  func replacement(count: Int) throws {
    let file = try write(1_000)
    let body = TransportBody.file(file).measured
    try expectEqual(RequestBodyTests.bytes(of: body).count, 1_000)
    // Made while the old one is there, so that it is not given the old one's number.
    let other = try write(count, to: "other")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: other, to: file)
    #expect(throws: BodyFileReplaced()) { try RequestBodyTests.bytes(of: body) }
    try expectEqual(RequestBodyTests.bytes(of: TransportBody.file(file).measured).count, count)
  }

  @Test("a link that was measured and leads to another file now is not read")
  func replacedTarget() throws {
    let (file, other) = (try write(1_000), try write(1_500, to: "other"))
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    let body = TransportBody.file(link).measured
    try expectEqual(RequestBodyTests.bytes(of: body).count, 1_000)
    try FileManager.default.removeItem(at: link)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
    #expect(throws: BodyFileReplaced()) { try RequestBodyTests.bytes(of: body) }
  }

  @Test("all that is no file is measured as it is")
  func others() throws {
    expectEqual(TransportBody.none.measured.length, 0)
    try expectEqual(RequestBodyTests.bytes(of: TransportBody.data(Data("ab".utf8)).measured), Data("ab".utf8))
    let stream = TransportBody.stream(.once(length: 2) { _ in Data() }).measured
    #expect(stream.length == 2 && !stream.isReplayable)
  }
}
