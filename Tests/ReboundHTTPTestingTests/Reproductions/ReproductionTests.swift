import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@Suite struct ReproductionTests {
  private struct Forecast: Request {
    struct Response: Decodable, Sendable { let city: String }
    var path: RequestPath { "forecast" }
    var query: Parameters { ["city": "Rome"] }
  }

  private struct Recording {
    let failure: NetworkFailure
    let archive: Data
    let decisions: [PolicyEvent]
  }

  private let folder = CassetteFolder()
  private var tests: URL { folder.file.deletingLastPathComponent() }

  private static func pipeline(_ events: PolicyEvents, retries: Int = 2) throws -> Pipeline<Forecast.Response> {
    try Pipeline("weather", events: events) {
      Retry(.http(RetryPolicy(clamping: retries)))
    }
  }

  /// The program that failed: three attempts, with pauses that chance draws.
  private static func load(_ transport: any Transport, _ baseURL: URL, _ events: PolicyEvents, retries: Int = 2)
    async throws
  {
    let client = WebAPIClient(baseURL: baseURL, transport: transport, deliveringOn: nil)
    let pipeline = try Self.pipeline(events, retries: retries)
    _ = try await pipeline.run { try await client.value(of: Forecast()) }
  }

  /// What a client's log and events say of a failure, which took virtual time and another seed.
  private func record(_ script: [ScriptedTransport.Step]) throws -> Recording {
    let recording = Locked<Recording?>(nil)
    try Simulation(seed: 99, limits: SimulationLimits(allowsLeftOvers: true)).run {
      let (log, events) = (HARLog(), PolicyEvents())
      let decisions = PolicyEventLog(of: events)
      let transport = ScriptedTransport(script, repeatingLast: true, time: .current)
      let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil).onEvent(log.write)
      let pipeline = try Self.pipeline(events)
      do {
        _ = try await pipeline.run { try await client.value(of: Forecast()) }
      } catch let failure as NetworkFailure {
        let made = Recording(failure: failure, archive: try log.export(), decisions: decisions.events)
        recording.withLock { $0 = made }
      }
    }
    return try #require(recording.withLock { $0 })
  }

  private func write(_ recording: Recording, named name: String = "weather of Rome") throws -> RecordedFailure {
    let recorded = try RecordedFailure(
      name,
      failure: recording.failure,
      archive: recording.archive,
      seed: 7,
      decisions: recording.decisions
    )
    try recorded.writeTest(into: tests, importing: ["Weather"]) { "try await load(recorded)" }
    return recorded
  }

  private func again(
    _ recorded: RecordedFailure,
    retries: Int = 2,
    _ archive: String = "weatherOfRome.har"
  ) throws -> ReproducedFailure? {
    do {
      try reproduce(
        tests.appendingPathComponent(archive).path,
        seed: recorded.seed,
        failure: recorded.failure,
        decisions: recorded.decisions
      ) { try await Self.load($0.transport, $0.baseURL, $0.events, retries: retries) }
      return nil
    } catch let failure as ReproducedFailure {
      return failure
    }
  }

  @Test func secretsInTheWordsOfAnErrorAreLeftOut() throws {
    struct Foreign: Error, CustomStringConvertible {
      let description = "cannot load https://joe:s3cret@a.example/?token=s3cret with Authorization: Bearer s3cret"
    }
    let recorded = try RecordedFailure("words", failure: Foreign(), archive: HARLog().export())
    #expect(!recorded.failure.contains("s3cret"))
    #expect(recorded.failure.hasPrefix("cannot load https://…@a.example/?token=…"))
  }

  @Test(
    arguments: [
      [.status(503)], [.status(500), .status(502), .status(429, retryAfter: 30)], [.status(404)], [.offline],
      [.status(401)], [.timeout], [.refused], [.reset, .timeout, .status(504)], [.ok("{")], [.ok(#"{"city":7}"#)],
      [.captivePortal], [.failure(.truncated)], [.failure(.dns)], [.failure(.tls(.expired)), .refused],
    ] as [[ScriptedTransport.Step]]
  )
  func aRecordedFailureFailsAgainInTheSameWay(script: [ScriptedTransport.Step]) throws {
    let recording = try record(script)
    let failure = try #require(try again(write(recording)))
    #expect(failure.isAsRecorded, "\(failure)")
    expectEqual((failure.cause as? NetworkFailure)?.kind, recording.failure.kind)
  }

  @Test func aProgramThatIsMendedPasses() throws {
    let recording = try record([.status(503)])
    let recorded = try write(recording)
    try reproduce(tests.appendingPathComponent("weatherOfRome.har").path, failure: recorded.failure) { recorded in
      try? await Self.load(recorded.transport, recorded.baseURL, recorded.events)
    }
  }

  @Test func anotherFailureIsSaidToBeAnother() throws {
    let recorded = try write(record([.status(503)]))
    let failure = try #require(throws: ReproducedFailure.self) {
      try reproduce(tests.appendingPathComponent("weatherOfRome.har").path, failure: recorded.failure) { _ in
        throw CancellationError()
      }
    }
    #expect(!failure.isAsRecorded)
    #expect(failure.description.hasPrefix("Fails in another way than was recorded: CancellationError()"))
  }

  @Test func otherDecisionsBeforeTheSameFailureAreSaid() throws {
    let recorded = try write(record([.status(503), .status(503), .status(404)]))
    let failure = try #require(try again(recorded, retries: 1))
    #expect(failure.description.contains("in another way"), "\(failure)")
    let patient = try write(record([.status(404)]), named: "not found")
    var changed = patient.decisions
    changed.append("weather: retry: one more")
    let other = try #require(throws: ReproducedFailure.self) {
      try reproduce(tests.appendingPathComponent("notFound.har").path, failure: patient.failure, decisions: changed) {
        try await Self.load($0.transport, $0.baseURL, $0.events)
      }
    }
    #expect(other.description.contains("is missing, recorded is 'weather: retry: one more'"), "\(other)")
  }

  @Test func theTestThatIsWrittenCallsItWithAllThatIsKnown() throws {
    let recording = try record([.status(503)])
    let recorded = try write(recording)
    let source = try String(contentsOf: tests.appendingPathComponent("weatherOfRomeTests.swift"), encoding: .utf8)
    #expect(source.hasPrefix("import ReboundHTTPTesting\nimport Testing\nimport Weather\n"))
    #expect(source.contains("@Test(\"weather of Rome\") func weatherOfRome() throws {"))
    #expect(
      source.contains("    \"weatherOfRome.har\",\n    seed: 7,\n    failure: \(recorded.failure.debugDescription),")
    )
    expectEqual(recorded.decisions.count, recording.decisions.count)
    for decision in recorded.decisions { #expect(source.contains("      \(decision.debugDescription),\n")) }
    #expect(source.hasSuffix("  ) { recorded in\n    try await load(recorded)\n  }\n}\n"))
  }

  @Test func filesOfTheSameNameAreKept() throws {
    let recording = try record([.status(503)])
    for name in ["weather of Rome", "Weather of Rome", "weather-of-Rome"] { _ = try write(recording, named: name) }
    let names = try FileManager.default.contentsOfDirectory(atPath: tests.path).sorted()
    expectEqual(
      names,
      [
        "weatherOfRome.har", "weatherOfRome2.har", "weatherOfRome2Tests.swift", "weatherOfRome3.har",
        "weatherOfRome3Tests.swift", "weatherOfRomeTests.swift",
      ]
    )
  }

  @Test(arguments: ["weatherOfRome.har", "weatherOfRomeTests.swift"])
  func aFileOfSomebodyElseIsKept(file: String) throws {
    try FileManager.default.createDirectory(at: tests, withIntermediateDirectories: true)
    let own = tests.appendingPathComponent(file)
    try Data("mine".utf8).write(to: own)
    let recorded = try write(record([.status(503)]))
    try expectEqual(Data(contentsOf: own), Data("mine".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: tests.path).sorted()
    expectEqual(names, ["weatherOfRome2.har", "weatherOfRome2Tests.swift", file].sorted())
    let source = try String(contentsOf: tests.appendingPathComponent("weatherOfRome2Tests.swift"), encoding: .utf8)
    #expect(source.contains("\"weatherOfRome2.har\""))
    try expectEqual(again(recorded, "weatherOfRome2.har")?.isAsRecorded, true)
  }

  #if canImport(Glibc)
    @Test func whatCannotBeWrittenWholeIsNotLeftThere() async {
      await #expect(processExitsWith: .success) {
        // In a process of its own, since the limit is that of all files: more bytes than that are refused as by a full disk.
        signal(SIGXFSZ, SIG_IGN)
        func limitFiles(to bytes: rlim_t) throws {
          var limit = rlimit()
          try #require(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
          limit.rlim_cur = bytes
          try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        }
        let cassettes = CassetteFolder()
        defer { withExtendedLifetime(cassettes) {} }
        let folder = cassettes.file.deletingLastPathComponent()
        let archive = #"{"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": []}}"#
        let recorded = try RecordedFailure("full", failure: CancellationError(), archive: Data(archive.utf8))
        for limit in [2_000, 10] as [rlim_t] {
          try limitFiles(to: limit)
          let program = String(repeating: "_ = try await load()\n", count: 1_000)
          #expect(throws: CocoaError.self, "with \(limit) bytes") { try recorded.writeTest(into: folder) { program } }
          let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
          expectEqual(left, [], "with \(limit) bytes: \(left)")
        }
      }
    }
  #endif

  @Test(arguments: [("503 for all", "failure503ForAll"), ("Wetter für Köln", "wetterFRKLn"), ("天气", "failure")])
  func anyNameBecomesThatOfAFunction(name: String, identifier: String) throws {
    _ = try write(record([.status(503)]), named: name)
    #expect(FileManager.default.fileExists(atPath: tests.appendingPathComponent("\(identifier)Tests.swift").path))
  }

  @Test func aNameThatIsAWordOfSwiftIsThatOfAFunctionToo() throws {
    _ = try write(record([.status(503)]), named: "Import")
    let source = try String(contentsOf: tests.appendingPathComponent("importTests.swift"), encoding: .utf8)
    #expect(source.contains("@Test(\"Import\") func `import`() throws {"))
  }

  @Test func whatAFailureQuotesIsNoCodeOfTheTest() throws {
    struct Hostile: Error, CustomStringConvertible { let description = "\"\n*/ } \\(exit(1)) \u{1b}[2J" }
    let recorded = try RecordedFailure(
      "\"\\(name)\n",
      failure: Hostile(),
      archive: record([.status(503)]).archive
    )
    try recorded.writeTest(into: tests) { "" }
    let source = try String(contentsOf: tests.appendingPathComponent("nameTests.swift"), encoding: .utf8)
    #expect(source.split(separator: "\n").filter { $0.hasPrefix("///") }.count == 1)
    #expect(source.contains(#"@Test("\"\\(name)\n")"#))
    #expect(source.contains(#"failure: "\"\n*/ } \\(exit(1)) \u{1B}[2J","#))
    #expect(!source.unicodeScalars.contains("\u{1b}"))
  }

  @Test func secretsOfAnArchiveThatSomebodyElseHasWrittenAreLeftOut() throws {
    let archive = """
      {"log": {"entries": [{
        "startedDateTime": "2026-01-01T00:00:00Z", "time": 5, "comment": "{\\"password\\": \\"sesame\\"}",
        "request": {"method": "POST", "url": "https://me:sesame@api.example/forecast?token=sesame&city=Rome",
          "headers": [{"name": "Authorization", "value": "Bearer sesame"}], "cookies": [{"name": "s", "value": "sesame"}],
          "queryString": [{"name": "token", "value": "sesame"}],
          "postData": {"mimeType": "application/json", "text": "{\\"password\\": \\"sesame\\"}"}},
        "response": {"status": 503, "headers": [{"name": "Set-Cookie", "value": "s=sesame"}],
          "cookies": [{"name": "s", "value": "sesame"}], "redirectURL": "/?token=sesame",
          "content": {"size": 21, "mimeType": "application/json", "text": "{\\"token\\": \\"sesame\\"}"}}}]}}
      """
    let recorded = try RecordedFailure(
      "foreign",
      failure: NetworkFailure(.serverError(503)),
      archive: Data(archive.utf8)
    )
    try recorded.writeTest(into: tests) { "" }
    let text = try String(contentsOf: tests.appendingPathComponent("foreign.har"), encoding: .utf8)
    #expect(!text.contains("sesame"))
    #expect(text.contains("city=Rome"))
  }

  private struct Unknown: Error, CustomStringConvertible { let description: String }

  @Test(
    arguments: [
      (
        .standard.hiding(parameter: "city").hiding(header: "X-Place").showing("session_count"),
        #".standard.hiding(header: "x-place").hiding(parameter: "city").showing("session_count")"#
      ),
      (
        .init(headers: [], parameters: ["zip", "city"], replacement: "?", guessing: false),
        #".init(headers: [], parameters: ["city", "zip"], replacement: "?", guessing: false)"#
      ),
    ] as [(Redaction, String)]
  )
  func whatWasLeftOutWithARedactionOfOnesOwnIsLeftOutByTheTest(redaction: Redaction, code: String) throws {
    let recording = try record([.status(503)])
    let recorded = try RecordedFailure(
      "own",
      failure: Unknown(description: #"{"city": "Rome"}: \#(recording.failure)"#),
      archive: recording.archive,
      redaction: redaction
    )
    #expect(!recorded.failure.contains("\"Rome\""))
    let file = try recorded.writeTest(into: tests) { "" }
    #expect(try String(contentsOf: file, encoding: .utf8).contains("  decisions: [],\n    redaction: \(code)\n  )"))
    let archive = tests.appendingPathComponent("own.har").path
    let failure = try #require(throws: ReproducedFailure.self) {
      try reproduce(archive, failure: recorded.failure, redaction: redaction) {
        do {
          try await Self.load($0.transport, $0.baseURL, $0.events)
        } catch {
          throw Unknown(description: #"{"city": "Rome"}: \#(error)"#)
        }
      }
    }
    #expect(failure.isAsRecorded, "\(failure)")
  }

  @Test func anArchiveThatIsNoneIsRefused() throws {
    #expect(throws: DecodingError.self) {
      try RecordedFailure("nothing", failure: CancellationError(), archive: Data("{}".utf8))
    }
    try folder.write(#"{"log": {"entries": []}}"#)
    #expect(throws: CassetteFileError.self) { try reproduce(folder.file.path, failure: "") { _ in } }
  }
}
