import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import StreamSupport
import Testing

@Suite("A download into a file", .timeLimit(.minutes(10)))
struct DownloadTests {
  static let script = RangeScript(body: RangeScript.bytes(100_000))

  /// A folder of the test's own, and a client that tries three times.
  final class Setting: Sendable {
    let folder: URL
    var file: URL { folder.appending(path: "file") }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "rebound-download-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
      try? FileManager.default.removeItem(at: folder)
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
    var content: Data? { try? Data(contentsOf: file) }

    /// One that knows nothing of those before it, as after a restart of the process.
    func client(_ steps: [ScriptedTransport.Step], retries: Int = 2) -> (WebAPIClient, ScriptedTransport) {
      let transport = ScriptedTransport(steps)
      let retrying = Retrying(RetryPolicy(clamping: retries, backoff: .immediate))
      return (
        WebAPIClient(baseURL: .service, transport: transport, middleware: [retrying], deliveringOn: nil), transport
      )
    }

    func failure(
      _ client: WebAPIClient,
      _ request: Anything = Anything(),
      verifying checksum: Checksum? = nil
    ) async -> NetworkFailure? {
      do throws(NetworkFailure) {
        try await client.download(request, to: file, verifying: checksum)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test("takes the place of the old file once it is whole, and leaves nothing beside it")
  func whole() async throws {
    let setting = try Setting()
    try Data("old".utf8).write(to: setting.file)
    let (client, transport) = setting.client([Self.script.answer()])
    let progress = ValueLog<TransferProgress>()
    let result = try await client.download(Anything(), to: setting.file, progress: progress.append)
    expectEqual(setting.content, Self.script.body)
    expectEqual(setting.names, ["file"])
    expectEqual(result.value, setting.file)
    #expect(result.status == 200 && result.body.isEmpty)
    expectEqual(progress.values, [.received(100_000, of: 100_000)])
    #expect(transport.calls[0].request.limits.responseBytes == nil)
  }

  @Test("the publisher does the same for each subscriber")
  func publisher() async throws {
    let setting = try Setting()
    let (client, transport) = setting.client([Self.script.answer(), Self.script.answer()])
    let publisher = client.publisher(downloading: Anything(), to: setting.file)
    for _ in 0..<2 {
      for try await result in publisher.values { expectEqual(result.value, setting.file) }
      expectEqual(setting.content, Self.script.body)
    }
    expectEqual(transport.count, 2)
  }

  @Test("goes on where it has broken, each time that it is tried again")
  func resumes() async throws {
    let setting = try Setting()
    let (client, transport) = setting.client([
      Self.script.answer(breakingAfter: 30_000), Self.script.answer(breakingAfter: 1), Self.script.answer(),
    ])
    try await client.download(Anything(), to: setting.file)
    expectEqual(setting.content, Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=30000-", "bytes=30001-"])
  }

  @Test("goes on after a restart; the old file stays until then, and the address is not written down")
  func restart() async throws {
    let setting = try Setting()
    try Data("old".utf8).write(to: setting.file)
    let request = Anything(query: ["token": "hunter2"])
    let (first, _) = setting.client([Self.script.answer(breakingAfter: 30_000)], retries: 0)
    await expectEqual(setting.failure(first, request)?.kind, .transport(.truncated))
    expectEqual(setting.content, Data("old".utf8))
    expectEqual(setting.names, ["file", "file.part", "file.part.json"])
    let note = try String(contentsOf: setting.folder.appending(path: "file.part.json"), encoding: .utf8)
    #expect(!note.contains("hunter2") && !note.contains("api.example"))

    let (second, transport) = setting.client([Self.script.answer()])
    let progress = ValueLog<TransferProgress>()
    try await second.download(request, to: setting.file, progress: progress.append)
    expectEqual(setting.content, Self.script.body)
    expectEqual(setting.names, ["file"])
    expectEqual(transport.calls[0].request.headers["Range"], "bytes=30000-")
    expectEqual(progress.values, [.received(100_000, of: 100_000)])
  }

  @Test("of a part that is complete the last byte is asked for, and confirms it")
  func complete() async throws {
    let setting = try Setting()
    let (first, _) = setting.client([Self.script.answer(breakingAfter: 100_000)], retries: 0)
    await expectEqual(setting.failure(first)?.kind, .transport(.truncated))
    let (second, transport) = setting.client([Self.script.answer()])
    try await second.download(Anything(), to: setting.file)
    expectEqual(setting.content, Self.script.body)
    expectEqual(transport.calls[0].request.headers["Range"], "bytes=99999-")
  }

  @Test("begins anew where the part is of another address, of no known one, or longer than the whole")
  func unusable() async throws {
    for change in ["address", "note", "length"] {
      let setting = try Setting()
      let (first, _) = setting.client([Self.script.answer(breakingAfter: 30_000)], retries: 0)
      await expectEqual(setting.failure(first, Anything(path: "a"))?.kind, .transport(.truncated))
      if change == "note" { try Data("{".utf8).write(to: setting.folder.appending(path: "file.part.json")) }
      if change == "length" { try Data(count: 100_001).write(to: setting.folder.appending(path: "file.part")) }
      let (second, transport) = setting.client([Self.script.answer()])
      try await second.download(Anything(path: change == "address" ? "b" : "a"), to: setting.file)
      #expect(transport.calls[0].request.headers["Range"] == nil, "\(change)")
      expectEqual(setting.content, Self.script.body)
    }
  }

  @Test("begins anew where the server gives all of it, the same or another, or cannot go on")
  func anew() async throws {
    var other = RangeScript(body: RangeScript.bytes(20_000, seed: 2))
    other.headers["ETag"] = "\"two\""
    for (steps, body) in [
      ([Self.script.whole()], Self.script.body), ([other.whole()], other.body),
      ([.response(416, [:]), other.answer()], other.body),
    ] as [([ScriptedTransport.Step], Data)] {
      let setting = try Setting()
      let (client, transport) = setting.client([Self.script.answer(breakingAfter: 30_000)] + steps)
      try await client.download(Anything(), to: setting.file)
      expectEqual(setting.content, body)
      expectEqual(transport.calls[1].request.headers["Range"], "bytes=30000-")
    }
  }

  @Test("begins anew after a range that has more than its head names, of which nothing is kept")
  func overlongRange() async throws {
    let headers: HTTPHeaders = [
      "Content-Range": "bytes 30000-99999/100000", "Content-Length": "70000", "ETag": "\"one\"",
    ]
    let overlong = ScriptedTransport.Step.chunks(206, headers, [Data(count: 70_000), Data(count: 1)])
    let setting = try Setting()
    let (first, _) = setting.client([Self.script.answer(breakingAfter: 30_000), overlong], retries: 1)
    await expectEqual(setting.failure(first)?.kind, .transport(.protocol))
    expectEqual(setting.names, ["file.part"])
    #expect(try Data(contentsOf: setting.folder.appending(path: "file.part")).isEmpty)
    let (second, transport) = setting.client([
      Self.script.answer(breakingAfter: 30_000), overlong, Self.script.answer(),
    ])
    try await second.download(Anything(), to: setting.file)
    expectEqual(setting.content, Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=30000-", nil])
  }

  @Test("begins anew where the range is of a body of another date")
  func changedDate() async throws {
    var script = Self.script
    script.headers = ValidatorCase(changed: -60, date: 0).headers
    let other = ValidatorCase(headers: ["Content-Range": "bytes 30000-99999/100000"], changed: -30, date: 0)
    let setting = try Setting()
    let (client, transport) = setting.client([
      script.answer(breakingAfter: 30_000), .response(206, other.headers, Data(count: 70_000)), script.answer(),
    ])
    try await client.download(Anything(), to: setting.file)
    expectEqual(setting.content, Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=30000-", nil])
  }

  #if os(Linux)
    @Test("a process that is being started while an attempt writes is in no way of the next one")
    func inheritedDescriptor() async throws {
      let setting = try Setting()
      let inherited = Locked<Int32>(-1)
      let transport = ScriptedTransport([
        .answering { [folder = setting.folder] request in
          // The part is open; a fork would have copied its descriptor.
          for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            guard path == folder.appending(path: "file.part").path, let descriptor = Int32(name) else { continue }
            inherited.withLock { $0 = dup(descriptor) }
          }
          return Self.script.answer(breakingAfter: 30_000)
        }, Self.script.answer(),
      ])
      defer { inherited.withLock { _ = close($0) } }
      let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .immediate))
      let client = WebAPIClient(baseURL: .service, transport: transport, middleware: [retrying], deliveringOn: nil)
      try await client.download(Anything(), to: setting.file)
      #expect(inherited.withLock { $0 } >= 0)
      expectEqual(setting.content, Self.script.body)
    }
  #endif

  @Test("a file of no bytes is a file")
  func empty() async throws {
    let setting = try Setting()
    let (client, _) = setting.client([.response(200, ["Content-Length": "0", "ETag": "\"none\""])])
    try await client.download(Anything(), to: setting.file)
    expectEqual(setting.content, Data())
    expectEqual(setting.names, ["file"])
  }

  @Test(
    "SHA-256 is that of the standard, for lengths around those of its blocks",
    arguments: [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 65_535, 65_536, 100_000]
  )
  func digest(count: Int) async throws {
    let setting = try Setting()
    let body = RangeScript.bytes(count)
    let digest = SHA256.hash(body).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let (client, _) = setting.client([RangeScript(body: body).answer()])
    try await client.download(Anything(), to: setting.file, verifying: .sha256(digest.uppercased()))
    expectEqual(setting.content, body)
  }

  @Test("another checksum is a failure that is not tried again, and leaves nothing to go on with")
  func checksum() async throws {
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    for checksum in [Checksum.sha256(abc), .custom { try Data(contentsOf: $0).isEmpty }] {
      let setting = try Setting()
      try Data("old".utf8).write(to: setting.file)
      let (client, transport) = setting.client([.ok("abd"), .ok("abc")])
      let failure = await setting.failure(client, verifying: checksum)
      expectEqual(failure?.kind, .mismatch)
      #expect(failure?.underlying is ChecksumMismatch)
      expectEqual(transport.count, 1)
      expectEqual(setting.content, Data("old".utf8))
      #expect(try Data(contentsOf: setting.folder.appending(path: "file.part")).isEmpty)
    }
    let setting = try Setting()
    let (client, _) = setting.client([.ok("abc")])
    try await client.download(Anything(), to: setting.file, verifying: .sha256(abc))
    expectEqual(setting.content, Data("abc".utf8))
  }

  @Test("two downloads to one place do not mix: the second is refused while the first runs")
  func together() async throws {
    let setting = try Setting()
    let (first, begun) = setting.client([.silence, .silence])
    let (second, transport) = setting.client([Self.script.answer()])
    let running = first.publisher(downloading: Anything(), to: setting.file)
      .sink { _ in
      } receiveValue: { _ in
      }
    while begun.count == 0, !Task.isCancelled { await Task.yield() }
    let failure = await setting.failure(second)
    expectEqual(failure?.kind, .storage)
    #expect(failure?.underlying is DownloadUnderWay)
    expectEqual(transport.count, 0)
    running.cancel()
  }

  @Test("a download that was cancelled can be begun again at once")
  func again() async throws {
    for _ in 0..<10 {
      let setting = try Setting()
      let (first, begun) = setting.client([.silence])
      let (second, _) = setting.client([Self.script.answer()])
      let running = first.publisher(downloading: Anything(), to: setting.file)
        .sink { _ in
        } receiveValue: { _ in
        }
      while begun.count == 0, !Task.isCancelled { await Task.yield() }
      running.cancel()
      // By another way, to the same place.
      let file = setting.folder.appending(path: "../\(setting.folder.lastPathComponent)/file")
      try await second.download(Anything(), to: file)
      expectEqual(setting.content, Self.script.body)
    }
  }

  @Test("a place that cannot be written to is a failure of storage, before anything is sent")
  func folder() async throws {
    let setting = try Setting()
    let (client, transport) = setting.client([Self.script.answer()])
    do throws(NetworkFailure) {
      try await client.download(Anything(), to: setting.folder.appending(path: "none/file"))
      Issue.record("there is no such folder")
    } catch {
      expectEqual(error.kind, .storage)
      expectEqual((error.underlying as? POSIXError)?.code, .ENOENT)
    }
    expectEqual(transport.count, 0)
  }

  @Test("a refusal leaves the part for later")
  func refusal() async throws {
    let setting = try Setting()
    let (client, _) = setting.client([Self.script.answer(breakingAfter: 30_000), .status(403, #"{"message":"No."}"#)])
    let failure = await setting.failure(client)
    #expect(failure?.kind == .forbidden && failure?.serverMessage == "No.")
    let (second, transport) = setting.client([Self.script.answer()])
    try await second.download(Anything(), to: setting.file)
    expectEqual(transport.calls[0].request.headers["Range"], "bytes=30000-")
  }
}
