import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("HTTPCache with a storage")
struct HTTPCacheStorageQueueTests {
  /// A service, a folder, and processes that share them.
  private final class Setting: Sendable {
    let test: ClientUnderTest
    let folder = MemoryFolder()
    let failures = ValueLog<HTTPCacheStorageFailure>()
    private let state = Locked((clock: Duration.seconds(50_000), processes: 0))

    init(_ script: [ScriptedTransport.Step]) {
      test = ClientUnderTest(script)
    }

    /// What the device's clock is off by now.
    func setClock(by difference: Duration) { state.withLock { $0.clock += difference } }

    func wait(_ time: Duration) { test.scheduler.advance(by: .init(time)) }

    var wallClock: Duration { state.withLock { $0.clock } + test.scheduler.elapsed }
    var kinds: [HTTPCacheStorageFailure.Kind] { failures.values.map(\.kind) }
    var copies: [String] { folder.entries.keys.sorted() }

    func storage(maxEntries: Int = 1_000) -> FileHTTPCacheStorage {
      FileHTTPCacheStorage(in: folder, maxBytes: .max, maxEntries: maxEntries) { [self] in wallClock }
    }

    /// Another process, whose time has begun at another moment.
    func process(
      _ storage: (any HTTPCacheStorage)? = nil,
      capacity: Int = 20_000_000,
      work: @escaping HTTPCacheStorageQueue.Run = { $0() }
    ) -> Process {
      let number = state.withLock { state in
        state.processes += 1
        return state.processes
      }
      let cache = HTTPCache(capacity: capacity, at: storage ?? self.storage(), work: work, onFailure: failures.append)
      let (scheduler, start) = (test.scheduler, Duration.seconds(number * 7_777))
      let time = TimeSource(
        now: { start + scheduler.elapsed },
        wallClock: { [self] in wallClock },
        after: { scheduler.time.after($0, $1) }
      )
      let client = WebAPIClient(
        baseURL: .service,
        transport: test.transport,
        middleware: [Caching(in: cache)],
        deliveringOn: nil,
        time: time,
        random: .seeded(1)
      )
      return Process(client: client, cache: cache, scheduler: scheduler)
    }
  }

  private struct Process {
    var client: WebAPIClient
    let cache: HTTPCache
    let scheduler: TestScheduler

    func send(_ request: Anything = Anything()) -> Recorder<ParsedResponse<Data>, NetworkFailure> {
      let recorder = Recorder<ParsedResponse<Data>, NetworkFailure>(on: scheduler)
      client.responses(for: request).subscribe(recorder)
      return recorder
    }

    func get(_ request: Anything = Anything()) throws -> String? {
      let recorder = send(request)
      try scheduler.run()
      return recorder.values.first.map { String(decoding: $0.value, as: UTF8.self) }
    }

    func source(_ request: Anything = Anything()) throws -> ResponseSource? {
      let recorder = send(request)
      try scheduler.run()
      return recorder.values.first?.source
    }
  }

  private static let fresh: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

  private static func answer(_ text: String, _ headers: HTTPHeaders = fresh) -> ScriptedTransport.Step {
    .response(200, headers, Data(text.utf8))
  }

  private static let kept = Anything(cacheMode: .onlyCached)

  // MARK: Restarts and clocks

  @Test("a restart keeps what was fresh, for as long as it is, and what can be asked about")
  func restart() throws {
    let setting = Setting([Self.answer("a"), .response(304, ["Cache-Control": "max-age=10"])])
    try expectEqual(setting.process().get(), "a")
    setting.wait(.seconds(59))
    try expectEqual(setting.process().source(), .cache(age: .seconds(59), .fresh))
    setting.wait(.seconds(1))
    try expectEqual(setting.process().source(), .cache(age: .zero, .revalidated))
    expectEqual(setting.test.transport.calls.last?.request.headers["If-None-Match"], "\"1\"")
    setting.wait(.seconds(9))
    try expectEqual(setting.process().source(), .cache(age: .seconds(9), .fresh))
    expectEqual(setting.kinds, [])
  }

  @Test("after a restart with the clock set back nobody knows how old a copy is, so the server is asked")
  func clockSetBack() throws {
    let setting = Setting([Self.answer("a"), .response(304, Self.fresh)])
    _ = try setting.process().get()
    setting.setClock(by: .seconds(-3_600))
    let process = setting.process()
    try expectEqual(process.source(), .cache(age: .zero, .revalidated))
    try expectEqual(process.source(), .cache(age: .zero, .fresh))
  }

  @Test("while a process runs its own time counts, however the clock is set")
  func clockSetForward() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let process = setting.process()
    _ = try process.get()
    setting.setClock(by: .seconds(50))
    setting.wait(.seconds(5))
    try expectEqual(process.source(), .cache(age: .seconds(5), .fresh))
    try expectEqual(setting.process().source(), .cache(age: .seconds(55), .fresh))
  }

  @Test("variants of an answer are found after a restart, each for its own requests")
  func variants() throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    let setting = Setting(["it", "de", "fr", "de2"].map { Self.answer($0, headers) } + [.response(204)])
    let requests = ["it", "de", "fr"].map { Anything(headers: ["Accept-Language": $0]) }
    for request in requests { _ = try setting.process().get(request) }
    expectEqual(setting.copies.count, 3)
    try expectEqual(requests.map { try setting.process().get($0) }, ["it", "de", "fr"])
    _ = try setting.process().get(Anything(headers: ["Accept-Language": "de"], cacheMode: .revalidate))
    expectEqual(setting.copies.count, 3)
    try expectEqual(requests.map { try setting.process().get($0) }, ["it", "de2", "fr"])
    _ = try setting.process().get(Anything(method: .put, body: .form(["x": 1])))
    expectEqual(setting.copies, [])
  }

  @Test("an answer that depends on other fields than the one before takes its place")
  func otherVary() throws {
    let setting = Setting([
      Self.answer("a", ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]),
      Self.answer("b", ["Cache-Control": "max-age=60", "Vary": "X-Other"]), Self.answer("c"),
    ])
    for text in ["a", "b", "c"] {
      try expectEqual(setting.process().get(Anything(cacheMode: .revalidate)), text)
      try expectEqual(setting.process().get(), text)
      expectEqual(setting.copies.count, 1)
    }
  }

  @Test("a variant that another answer has taken the place of does not come back with the others of its kind")
  func voidVariant() throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    let setting = Setting([
      Self.answer("de", headers), Self.answer("it", headers), Self.answer("all"), Self.answer("de2", headers),
      Self.answer("it2", headers),
    ])
    let get = { (language: String, mode: CacheMode) in
      try setting.process().get(Anything(headers: ["Accept-Language": language], cacheMode: mode))
    }
    for language in ["de", "it", "it", "de"] { _ = try get(language, .revalidate) }
    try expectEqual(get("de", .onlyCached), "de2")
    #expect(try get("it", .onlyCached) == nil)
    try expectEqual(get("it", .standard), "it2")
    try expectEqual(["de", "it"].map { try get($0, .onlyCached) }, ["de2", "it2"])
    expectEqual(setting.copies.count, 2)
  }

  @Test("nor does it in the memory of another process, whose file is still there")
  func voidVariantInMemory() throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    let setting = Setting([Self.answer("de", headers), Self.answer("it", headers), Self.answer("all")])
    let (first, second) = (setting.process(), setting.process())
    let request = { (language: String, mode: CacheMode) in
      Anything(headers: ["Accept-Language": language], cacheMode: mode)
    }
    for language in ["de", "it"] { _ = try first.get(request(language, .standard)) }
    // Read from the storage, and from then on in memory as well.
    let third = setting.process()
    try expectEqual(third.get(request("it", .onlyCached)), "it")
    try expectEqual(second.get(request("it", .revalidate)), "all")
    for process in [first, third] {
      try expectEqual(["it", "de"].map { try process.get(request($0, .onlyCached)) }, ["all", "all"])
    }
    expectEqual(setting.test.transport.count, 3)
  }

  @Test("a variant in memory stays good while another of its kind is replaced, and little of the files is read for it")
  func otherVariantReplaced() throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    let setting = Setting(["de", "it", "de2"].map { Self.answer($0, headers) })
    let (first, second) = (setting.process(), setting.process())
    let request = { (language: String, mode: CacheMode) in
      Anything(headers: ["Accept-Language": language], cacheMode: mode)
    }
    for language in ["de", "it"] { _ = try first.get(request(language, .standard)) }
    try expectEqual(second.get(request("de", .revalidate)), "de2")
    var reads: [Int] = []
    for _ in 0..<3 {
      let before = setting.folder.calls.count
      try expectEqual(first.get(request("it", .onlyCached)), "it")
      reads.append(setting.folder.calls.dropFirst(before).filter { $0 == "read" }.count)
    }
    // That which was replaced, once.
    expectEqual(reads, [1, 0, 0])
  }

  @Test("nor does one that has had both places, once it is forgotten")
  func forgottenVariant() throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    let setting = Setting([
      Self.answer("de", headers), Self.answer("it", headers), .status(404), Self.answer("it2", headers), .status(404),
      Self.answer("de2", headers),
    ])
    let get = { (language: String, mode: CacheMode) in
      try setting.process().get(Anything(headers: ["Accept-Language": language], cacheMode: mode))
    }
    for language in ["de", "it", "de", "it", "it", "de"] { _ = try get(language, .revalidate) }
    expectEqual(setting.test.transport.count, 6)
    try expectEqual(get("de", .onlyCached), "de2")
    #expect(try get("it", .onlyCached) == nil)
  }

  // MARK: Processes

  @Test("what one process has stored answers in the other, and what it has replaced replaces it there")
  func twoProcesses() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let (first, second) = (setting.process(), setting.process())
    try expectEqual(first.get(), "a")
    try expectEqual(second.get(), "a")
    try expectEqual(second.get(Anything(cacheMode: .revalidate)), "b")
    try expectEqual(first.get(), "b")
    expectEqual(setting.test.transport.count, 2)
  }

  @Test("what one process has written to, and what it has forgotten, is forgotten in the other")
  func invalidation() throws {
    let setting = Setting([
      Self.answer("a"), .response(204), Self.answer("b"),
    ])
    let (first, second) = (setting.process(), setting.process())
    _ = try first.get()
    _ = try second.get()
    _ = try first.get(Anything(method: .put, body: .form(["x": 1])))
    #expect(try second.get(Self.kept) == nil)
    try expectEqual(second.get(), "b")
    try expectEqual(first.get(), "b")
    second.cache.removeAll()
    #expect(try first.get(Self.kept) == nil)
    expectEqual(second.cache.usedBytes, 0)
    expectEqual(setting.copies, [])
  }

  @Test("a copy that a redirect has led to is void in every process once one has written to what it is a copy of")
  func redirected() throws {
    let fresh = ["a", "a2"].map { Self.answer($0) }
    let setting = Setting([
      .redirect(301, to: "/v1/b"), fresh[0], .response(204), .redirect(301, to: "/v1/b"), fresh[1], .response(204),
    ])
    let write = Anything(path: "b", method: .put, body: .form(["x": 1]))
    let (first, second) = (setting.process(), setting.process())
    try expectEqual(first.get(), "a")
    try expectEqual(second.get(), "a")
    _ = try second.get(write)
    #expect(try first.get(Self.kept) == nil)
    expectEqual(first.cache.usedBytes, 0)
    expectEqual(setting.copies, [])
    try expectEqual(second.get(), "a2")
    try expectEqual(first.get(), "a2")
    // What could not be forgotten is not used.
    setting.folder.refuse(["remove"])
    _ = try first.get(write)
    #expect(try first.get(Self.kept) == nil)
    setting.folder.refuse([])
    #expect(try first.get(Self.kept) == nil)
    #expect(try setting.process().get(Self.kept) == nil)
    expectEqual(setting.test.transport.count, 6)
  }

  @Test("a redirected copy whose entry at the other address has gone for want of room is a miss")
  func lostRedirectEntry() throws {
    let setting = Setting([.redirect(301, to: "/v1/b"), Self.answer("a")])
    let process = setting.process()
    try expectEqual(process.get(), "a")
    let entry = try #require(setting.folder.entries.min { $0.value.bytes.count < $1.value.bytes.count })
    setting.folder.change(entry.key) { $0[0] ^= 1 }
    #expect(try setting.process().get(Self.kept) == nil)
    #expect(try process.get(Self.kept) == nil)
    expectEqual(setting.copies, [entry.key])
    expectEqual(setting.kinds, [])
  }

  @Test("what was forgotten before it could be stored is not stored")
  func forgottenBefore() throws {
    let setting = Setting([])
    let process = setting.process()
    let message = TransportRequest(.service)
    let response = HTTPResponse(
      head: ResponseHead(status: 200, headers: Self.fresh, url: .service),
      receivedAt: HTTPDate(secondsSinceEpoch: 0)
    )
    let request = HTTPRequest(message, time: setting.test.scheduler.time)
    let lookup = process.cache.lookup(request)
    let copy = try #require(CachedCopy(response, to: message, now: .zero))
    process.cache.invalidate([.service])
    process.cache.storageQueue?.store(copy, 1, lookup, for: request, in: process.cache)
    expectEqual(setting.copies, [])
    process.cache.storageQueue?.store(copy, 1, process.cache.lookup(request), for: request, in: process.cache)
    expectEqual(setting.copies.count, 1)
  }

  @Test("nor is one stored that was forgotten with more than are remembered, and what is older does not come back")
  func forgottenWithMany() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    try expectEqual(setting.process().get(), "a")
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let renewing = process.send(Anything(cacheMode: .revalidate))
    waiting.run()
    setting.wait(.zero)
    expectEqual(renewing.values.count, 1)
    for number in 0..<1_001 { process.cache.invalidate([URL.service.appendingPathComponent("\(number)")]) }
    waiting.run()
    expectEqual(setting.copies, [])
    #expect(try setting.process().get(Self.kept) == nil)
    expectEqual(setting.kinds, [])
  }

  @Test("what another process has removed for want of room is a miss")
  func evicted() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let first = setting.process()
    _ = try first.get()
    _ = try setting.process(setting.storage(maxEntries: 1)).get(Anything(path: "other"))
    #expect(try first.get(Self.kept) == nil)
    expectEqual(first.cache.usedBytes, 0)
  }

  @Test("what another process forgets while it is being stored is not kept in memory, either")
  func forgottenMeanwhile() throws {
    struct Full: HTTPCacheStorage {
      func find(_: HTTPCacheEntryName, known _: String?, limit _: Int) -> HTTPCacheFinding { .nothing }
      func store(_: Data, as _: HTTPCacheEntryName) -> String? { nil }
      func remove(_: HTTPCacheEntryName) {}
      func removeAll(ofAddress _: String) {}
      func removeAll() {}
    }
    let setting = Setting([Self.answer("a")])
    let process = setting.process(Full())
    try expectEqual(process.get(), "a")
    expectEqual(process.cache.usedBytes, 0)
    #expect(try process.get(Self.kept) == nil)
    expectEqual(setting.kinds, [])
  }

  @Test("users of one folder do not get each other's answers")
  func identities() throws {
    let setting = Setting([Self.answer("ada's"), Self.answer("bob's")])
    let (ada, bob) = (setting.process(), setting.process())
    let clients = [("ada", ada), ("bob", bob)].map { name, process in
      var process = process
      process.client = process.client.identifying { name }
      return process
    }
    for process in clients + clients { _ = try process.get() }
    try expectEqual(clients.map { try $0.get() }, ["ada's", "bob's"])
    expectEqual(setting.test.transport.count, 2)
  }

  @Test("memory is let go of, and filled again from the storage")
  func releaseMemory() throws {
    let setting = Setting([Self.answer("a")])
    let process = setting.process()
    _ = try process.get()
    let used = process.cache.usedBytes
    process.cache.releaseMemory()
    expectEqual(process.cache.usedBytes, 0)
    try expectEqual(process.get(), "a")
    expectEqual(process.cache.usedBytes, used)
    // What is in memory alone stays.
    let alone = Setting([Self.answer("a")])
    alone.folder.refuse(["create"])
    let other = alone.process()
    _ = try other.get()
    other.cache.releaseMemory()
    try expectEqual(other.get(Self.kept), "a")
  }

  // MARK: Damage

  @Test("whatever is wrong with a file, it is a miss, is told, and removed")
  func damage() throws {
    let changes: [(inout Data) -> Void] = [
      { $0 = Data() }, { $0 = Data($0.dropLast()) }, { $0[$0.count / 2] ^= 1 }, { $0 = Data("text".utf8) },
      { $0[11] = 1 }, { $0.append(0) },
    ]
    for change in changes {
      let setting = Setting([Self.answer("a"), Self.answer("b")])
      let first = setting.process()
      _ = try first.get()
      setting.folder.change(setting.copies[0], change)
      #expect(try setting.process().get(Self.kept) == nil)
      expectEqual(setting.kinds, [.damaged])
      expectEqual(setting.copies, [])
      try expectEqual(first.get(), "b")
      try expectEqual(setting.process().get(), "b")
    }
  }

  @Test("a copy under the name of another is none")
  func swapped() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b"), Self.answer("a2")])
    let process = setting.process()
    _ = try process.get(Anything(path: "a"))
    let entry = try #require(setting.folder.entries[setting.copies[0]])
    setting.folder.vanish()
    _ = try setting.process().get(Anything(path: "b"))
    setting.folder.put(setting.copies[0], entry)
    #expect(try setting.process().get(Anything(path: "b", cacheMode: .onlyCached)) == nil)
    expectEqual(setting.kinds, [.damaged])
  }

  @Test("wherever a process ends, the next answers with the old copy, the new one, or none")
  func everyEnd() throws {
    for end in 0...4 {
      for written in [0, 1, 30, 400] {
        let setting = Setting([Self.answer("a"), Self.answer("b")])
        _ = try setting.process().get()
        setting.folder.end(after: end, written: written)
        // The end of a process does not keep an answer from whoever has asked.
        try expectEqual(setting.process().get(Anything(cacheMode: .revalidate)), "b")
        setting.folder.end(after: nil)
        let found = try setting.process().get(Self.kept)
        #expect([nil, "a", "b"].contains(found), "end \(end), \(written) bytes")
        #expect(!setting.kinds.contains(.damaged))
      }
    }
  }

  // MARK: Failures of the storage

  @Test(
    "no request fails because the disk does: what is in memory answers, and each failure is told",
    arguments: ["create", "rename", "peek", "file", "names", "make"]
  )
  func failingDisk(call: String) throws {
    let setting = Setting([Self.answer("a"), Self.answer("b"), .response(204), Self.answer("c")])
    setting.folder.refuse([call])
    let process = setting.process()
    try expectEqual(process.get(Anything(path: "a")), "a")
    try expectEqual(process.get(Anything(path: "b")), "b")
    try expectEqual(process.get(Anything(path: "a")), "a")
    _ = try process.get(Anything(path: "a", method: .put, body: .form(["x": 1])))
    try expectEqual(process.get(Anything(path: "a")), "c")
    try expectEqual(process.get(Anything(path: "b")), "b")
    #expect(!setting.kinds.isEmpty)
    setting.folder.refuse([])
    try expectEqual(process.get(Anything(path: "a")), "c")
    expectEqual(setting.test.transport.count, 4)
  }

  @Test("copies that could not be forgotten are not used, in this process or the next request, until they are")
  func owedRemoval() throws {
    let setting = Setting([Self.answer("a"), .response(204)])
    let process = setting.process()
    _ = try process.get()
    setting.folder.refuse(["remove"])
    _ = try process.get(Anything(method: .put, body: .form(["x": 1])))
    #expect(try process.get(Self.kept) == nil)
    expectEqual(setting.kinds, [.removing, .removing])
    expectEqual(setting.copies.count, 1)
    setting.folder.refuse([])
    #expect(try process.get(Self.kept) == nil)
    expectEqual(setting.copies, [])
    expectEqual(setting.kinds, [.removing, .removing])
  }

  @Test("what was to be forgotten altogether is forgotten as soon as the disk lets it be")
  func owedRemovalOfAll() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let process = setting.process()
    for path in ["a", "b"] as [RequestPath] { _ = try process.get(Anything(path: path)) }
    setting.folder.refuse(["names"])
    process.cache.removeAll()
    #expect(try process.get(Anything(path: "a", cacheMode: .onlyCached)) == nil)
    setting.folder.refuse([])
    #expect(try process.get(Anything(path: "b", cacheMode: .onlyCached)) == nil)
    expectEqual(setting.copies, [])
  }

  @Test("an old copy whose successor could not be stored does not come back")
  func successor() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let process = setting.process()
    _ = try process.get()
    setting.folder.refuse(["create"])
    try expectEqual(process.get(Anything(cacheMode: .revalidate)), "b")
    expectEqual(setting.kinds, [.storing])
    setting.folder.refuse([])
    try expectEqual(process.get(), "b")
    #expect(try setting.process().get(Self.kept) == nil)
  }

  @Test("a copy that another answer has made void does not come back from the storage, even if that cannot forget it")
  func voidCopy() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b", ["Cache-Control": "no-store"])])
    let process = setting.process()
    _ = try process.get()
    setting.folder.refuse(["remove"])
    try expectEqual(process.get(Anything(cacheMode: .revalidate)), "b")
    expectEqual(setting.kinds, [.removing])
    #expect(try process.get(Self.kept) == nil)
    expectEqual(setting.kinds, [.removing, .removing])
    setting.folder.refuse([])
    #expect(try process.get(Self.kept) == nil)
    expectEqual(setting.copies, [])
  }

  @Test("a void copy that was being read from the storage meanwhile is not kept in memory")
  func voidCopyInMemory() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b", ["Cache-Control": "no-store"])])
    _ = try setting.process().get()
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let renewing = process.send(Anything(cacheMode: .revalidate))
    waiting.run()
    let reading = process.send()
    process.cache.releaseMemory()
    setting.wait(.zero)
    expectEqual(renewing.values.count, 1)
    waiting.run()
    expectEqual(reading.values.count, 1)
    expectEqual(process.cache.usedBytes, 0)
    expectEqual(setting.copies, [])
  }

  @Test("nor is one of an address that redirects lead to, where that was written to")
  func voidRedirectedCopyInMemory() throws {
    let setting = Setting([.redirect(301, to: "/v1/b"), Self.answer("a")])
    _ = try setting.process().get()
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let reading = process.send()
    process.cache.invalidate([URL.service.appendingPathComponent("b")])
    waiting.run()
    setting.wait(.zero)
    expectEqual(reading.values.count, 1)
    expectEqual(process.cache.usedBytes, 0)
  }

  @Test("an answer with a credential in the address that it came from is in memory alone, and replaces the one before")
  func credential() throws {
    let elsewhere = try #require(URL(string: "https://cdn.example/a?signature=secret"))
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let process = setting.process()
    _ = try process.get()
    let message = TransportRequest(.service)
    let response = HTTPResponse(
      head: ResponseHead(status: 200, headers: Self.fresh, url: elsewhere),
      body: Data("c".utf8),
      receivedAt: HTTPDate(secondsSinceEpoch: 0)
    )
    let request = HTTPRequest(message, time: setting.test.scheduler.time)
    let copy = try #require(CachedCopy(response, to: message, now: .zero))
    #expect(process.cache.keep(copy, for: process.cache.lookup(request), of: request))
    expectEqual(setting.copies, [])
    try expectEqual(process.get(Self.kept), "c")
    expectEqual(setting.kinds, [])
  }

  @Test("without a hook, what a storage cannot do goes where dropped errors go, in words")
  func defaultHook() async throws {
    struct Broken: HTTPCacheStorage {
      func find(_: HTTPCacheEntryName, known _: String?, limit _: Int) throws -> HTTPCacheFinding {
        throw MemoryFolder.refusal
      }
      func store(_: Data, as _: HTTPCacheEntryName) throws -> String? { throw MemoryFolder.refusal }
      func remove(_: HTTPCacheEntryName) throws { throw MemoryFolder.refusal }
      func removeAll(ofAddress _: String) throws { throw MemoryFolder.refusal }
      func removeAll() throws { throw MemoryFolder.refusal }
    }
    let errors = ValueLog<String>()
    let observation = DroppedErrors.observe { dropped in
      if let failure = dropped.error as? HTTPCacheStorageFailure { errors.append("\(failure)") }
    }
    let cache = HTTPCache(storage: Broken())
    cache.removeAll()
    await cache.flush()
    observation.cancel()
    #expect(
      errors.values.contains(
        "HTTPCache: the storage could not forget copies; what it has of the same address is not used until it can "
          + "(do it: No space left on device). Look at its space and its permissions."
      )
    )
  }

  // MARK: Threads and time

  /// Work that waits until a test does it.
  private final class Waiting: Sendable {
    private let waiting = Locked<[@Sendable () -> Void]>([])

    func add(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

    var count: Int { waiting.withLock { $0.count } }

    func run() {
      while let next = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next() }
    }
  }

  @Test("no disk is touched on the thread of whoever asks, and an answer from the network waits for no disk")
  func elsewhere() throws {
    let setting = Setting([Self.answer("a")])
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let recorder = process.send()
    expectEqual(setting.folder.calls, [])
    expectEqual(setting.test.transport.count, 0)
    waiting.run()
    let looked = setting.folder.calls
    setting.wait(.zero)
    expectEqual(recorder.values.count, 1)
    expectEqual(setting.folder.calls, looked)
    expectEqual(waiting.count, 1)
    waiting.run()
    expectEqual(setting.copies.count, 1)
  }

  @Test("whoever has lost interest before the look has its turn is not looked for")
  func cancelled() throws {
    let setting = Setting([Self.answer("a")])
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    process.send().cancel()
    waiting.run()
    setting.wait(.seconds(10))
    expectEqual(setting.folder.calls, [])
    expectEqual(setting.test.transport.count, 0)
    expectEqual(setting.test.scheduler.pendingCount, 0)
    expectEqual(setting.kinds, [])
  }

  @Test("a thousand wait for a disk that hangs, and whoever comes then goes on without it at once")
  func manyLooks() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let first = (0..<1_000).map { process.send(Anything(path: "\($0)")) }
    expectEqual(setting.test.transport.count, 0)
    let late = process.send(Anything(path: "late"))
    setting.wait(.zero)
    expectEqual(late.values.count, 1)
    expectEqual(setting.test.transport.count, 1)
    expectEqual(setting.kinds, [.slow])
    for recorder in first { recorder.cancel() }
    waiting.run()
    // The disk goes on: it is waited for again.
    let next = process.send()
    setting.wait(.zero)
    expectEqual(setting.test.transport.count, 1)
    waiting.run()
    setting.wait(.zero)
    expectEqual(next.values.count, 1)
    expectEqual(setting.kinds, [.slow])
  }

  @Test("what waits to be forgotten while a disk hangs is bounded: of more, everything is forgotten once for all")
  func manyRemovals() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b"), Self.answer("c"), Self.answer("d")])
    for path in ["1500", "other"] { _ = try setting.process().get(Anything(path: RequestPath(path))) }
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    for number in 0..<2_000 { process.cache.invalidate([URL.service.appendingPathComponent("\(number)")]) }
    for _ in 0..<2_000 { process.cache.removeAll() }
    expectEqual(waiting.count, 1_001)
    waiting.run()
    expectEqual(setting.copies, [])
    expectEqual(setting.kinds, [])
    // The disk goes on: one is forgotten again, and the other stays.
    let other = setting.process()
    for path in ["1500", "other"] { _ = try other.get(Anything(path: RequestPath(path))) }
    process.cache.invalidate([URL.service.appendingPathComponent("1500")])
    expectEqual(waiting.count, 1)
    waiting.run()
    try expectEqual(other.get(Anything(path: "other", cacheMode: .onlyCached)), "d")
    #expect(try other.get(Anything(path: "1500", cacheMode: .onlyCached)) == nil)
  }

  @Test("a disk that does not answer within a second is not waited for, and what it says later changes nothing")
  func slow() throws {
    let setting = Setting([Self.answer("a"), Self.answer("b")])
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let recorder = process.send()
    setting.wait(.milliseconds(999))
    expectEqual(setting.test.transport.count, 0)
    setting.wait(.milliseconds(1))
    setting.wait(.zero)
    expectEqual(recorder.values.count, 1)
    expectEqual(setting.kinds, [.slow])
    waiting.run()
    expectEqual(recorder.values.count, 1)
    expectEqual(recorder.completions.count, 1)
    expectEqual(setting.test.transport.count, 1)
    // What is in memory answers as well.
    let again = process.send()
    setting.wait(.seconds(1))
    expectEqual(again.values.first?.source, .cache(age: .seconds(1), .fresh))
  }

  @Test("what waits to be stored is bounded: the rest is in memory alone, and nothing older comes back")
  func busy() throws {
    let body = String(repeating: "x", count: 9_000)
    let setting = Setting((0..<40).map { _ in Self.answer(body) })
    _ = try setting.process().get(Anything(path: "11"))
    let waiting = Waiting()
    let process = setting.process(capacity: 100_000, work: waiting.add)
    for number in 0..<12 {
      let recorder = process.send(Anything(path: RequestPath("\(number)"), cacheMode: .revalidate))
      setting.wait(.seconds(1))
      setting.wait(.zero)
      expectEqual(recorder.values.count, 1)
    }
    expectEqual(setting.kinds.filter { $0 == .busy }.count, 2)
    waiting.run()
    expectEqual(setting.copies.count, 11)
    let last = process.send(Anything(path: "11", cacheMode: .onlyCached))
    waiting.run()
    expectEqual(last.values.count, 1)
    expectEqual(setting.copies.count, 10)
    #expect(try setting.process().get(Anything(path: "11", cacheMode: .onlyCached)) == nil)
    // Once that is done, there is room again.
    _ = process.send(Anything(path: "12"))
    waiting.run()
    setting.wait(.zero)
    waiting.run()
    expectEqual(setting.copies.count, 11)
  }

  @Test("a deadline around a call holds behind the look as well")
  func deadline() throws {
    let setting = Setting([.silence])
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let deadlines = ValueLog<Duration?>()
    let key = HTTPCache.Key(url: URL.service.absoluteString, identity: nil)
    let request = HTTPRequest(TransportRequest(.service), time: setting.test.scheduler.time)
    let deadline = Deadline(in: .seconds(5), on: setting.test.scheduler.time)
    let subscription = Deadline.$current.withValue(deadline) {
      process.cache.look(key, for: request)?.sink { _ in
      } receiveValue: { _ in
        deadlines.append(Deadline.current?.remaining)
      }
    }
    waiting.run()
    subscription?.cancel()
    expectEqual(deadlines.values, [.seconds(5)])
  }

  @Test(
    "no call is longer for a disk that takes its time: its limit, and the deadline around it, are those of both",
    arguments: [true, false],
    [nil, 0, 200] as [Int?]
  )
  func limitedLook(isOwn: Bool, answer: Int?) throws {
    let setting = Setting([.silence])
    let waiting = Waiting()
    let process = setting.process(work: waiting.add)
    let deadline = isOwn ? nil : Deadline(in: .milliseconds(300), on: process.client.time)
    let recorder = Deadline.$current.withValue(deadline) {
      process.send(Anything(deadline: isOwn ? .milliseconds(300) : nil))
    }
    if let answer {
      setting.wait(.milliseconds(answer))
      waiting.run()
    }
    try setting.test.scheduler.run()
    expectEqual(recorder.failure?.kind, .deadlineExceeded)
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 300_000_000))
    expectEqual(setting.test.transport.count, answer == nil ? 0 : 1)
    expectEqual(setting.kinds, [])
  }

  @Test("who enforces a deadline says so while a disk does not answer, and nothing is sent")
  func enforcedLook() throws {
    let setting = Setting([.silence])
    let process = setting.process(work: Waiting().add)
    let recorder = Recorder<Data, any Error>(on: setting.test.scheduler)
    process.client.publisher(for: Anything())
      .mapError { $0 as any Error }
      .protected(by: TimeoutPolicy.total(.milliseconds(300)), time: process.client.time)
      .subscribe(recorder)
    try setting.test.scheduler.run()
    #expect(recorder.failure is TimedOut)
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 300_000_000))
    expectEqual(setting.test.transport.count, 0)
  }

  #if !os(Windows)
    @Test("over real files and queues: what a program has flushed, the next finds")
    func realFiles() async throws {
      let temporary = TemporaryFolder()
      let transport = ScriptedTransport([Self.answer("a"), .response(204)])
      let failures = ValueLog<HTTPCacheStorageFailure>()
      // On a busy machine a look may take longer than a client waits for it.
      let time = TestScheduler().time
      for _ in 0..<3 {
        let cache = HTTPCache(storage: .folder(temporary.url), onStorageFailure: failures.append)
        let client = WebAPIClient(baseURL: .service, transport: transport, middleware: [Caching(in: cache)], time: time)
        try await expectEqual(client.value(of: Anything()), Data("a".utf8))
        await cache.flush()
        expectEqual(temporary.names.count, 1)
      }
      expectEqual(transport.count, 1)
      let cache = HTTPCache(storage: .folder(temporary.url), onStorageFailure: failures.append)
      let client = WebAPIClient(baseURL: .service, transport: transport, middleware: [Caching(in: cache)], time: time)
      _ = try await client.value(of: Anything(method: .put, body: .form(["x": 1])))
      await cache.flush()
      expectEqual(temporary.names, [])
      #expect(failures.values.isEmpty)
    }
  #endif
}
