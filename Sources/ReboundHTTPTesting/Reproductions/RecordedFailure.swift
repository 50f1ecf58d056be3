import Foundation
import Rebound
import ReboundHTTP

/// A failure that was recorded where it happened, as a Swift test that fails in the same way until its cause is mended.
///
///     let recorded = try RecordedFailure("weather of Rome", failure: error, archive: log.export(), decisions: decisions.events)
///     try recorded.writeTest(into: folder, importing: ["Weather"]) {
///       "_ = try await WeatherService(baseURL: recorded.baseURL, transport: recorded.transport).weather(in: \"Rome\")"
///     }
///
/// The archive is what `HARLog` exports, what a ``CassetteTransport`` has saved, or what a browser or proxy has. The test
/// calls ``reproduce(_:seed:failure:decisions:redaction:fileID:filePath:line:column:_:)``.
///
/// Secrets are left out of all that is written, as `Redaction` says, whoever has recorded it.
public struct RecordedFailure: Sendable {
  /// What the test is called, in words.
  public let name: String
  /// What chance went by, if it was known; any other number, if not.
  public let seed: UInt64
  /// How it failed, in the words of the error, without secrets and without what differs from run to run.
  public let failure: String
  /// What the policies decided on the way, in the same form.
  public let decisions: [String]
  private let archive: HAR
  private let redaction: Redaction

  /// Takes a failure down.
  ///
  /// - Parameters:
  ///   - name: What the test is to be called, in words.
  ///   - failure: How it failed.
  ///   - archive: What went over the network, as an HTTP Archive.
  ///   - seed: What chance went by, if it was known.
  ///   - decisions: What the policies decided, as a `PolicyEventLog` has it; if there are any, the test compares them.
  ///   - redaction: What must not be kept; the test compares with the same left out.
  /// - Throws: `DecodingError` for what is no HTTP Archive, and for a body in it that is not what it says.
  public init(
    _ name: String,
    failure: any Error,
    archive: Data,
    seed: UInt64 = 0,
    decisions: [PolicyEvent] = [],
    redaction: Redaction = .standard
  ) throws {
    self.name = name
    self.seed = seed
    self.redaction = redaction
    self.failure = redaction.prose(RecordedText.lasting("\(failure)"))
    self.decisions = decisions.map { redaction.text(RecordedText.lasting("\($0)")) }
    self.archive = try JSONDecoder().decode(HAR.self, from: archive).redacted(redaction)
  }

  /// Writes the test and, beside it, the archive.
  ///
  /// The files are named after the failure, and end in `Tests.swift` and `.har`. If there are some of that name, they get a
  /// number; none is overwritten.
  ///
  /// - Parameters:
  ///   - folder: Where; it is made if it is not there.
  ///   - modules: What the program needs, beside ReboundHTTPTesting.
  ///   - program: The statements that failed, in Swift; they have `recorded`, a ``Reproduction``.
  /// - Returns: The file of the test.
  /// - Throws: What the file system says.
  @discardableResult
  public func writeTest(into folder: URL, importing modules: [String] = [], running program: () -> String) throws -> URL
  {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let name = RecordedText.identifier(of: self.name)
    let (archived, program) = (try archive.encoded(), program())
    var number = 1
    while true {
      let identifier = number == 1 ? name : "\(name)\(number)"
      let archiveFile = folder.appendingPathComponent("\(identifier).har")
      let testFile = folder.appendingPathComponent("\(identifier)Tests.swift")
      let source = test(identifier, archivedIn: archiveFile.lastPathComponent, importing: modules, running: program)
      if try make(archiveFile, archived) {
        do {
          if try make(testFile, Data(source.utf8)) { return testFile }
        } catch {
          try? FileManager.default.removeItem(at: archiveFile)
          throw error
        }
        try FileManager.default.removeItem(at: archiveFile)
      }
      number += 1
    }
  }

  /// Makes a file, and says whether its name was free; what can't be written whole is not left there.
  private func make(_ file: URL, _ bytes: Data) throws -> Bool {
    do {
      // Only what this has made itself is removed below.
      try Data().write(to: file, options: .withoutOverwriting)
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      return false
    }
    do {
      try bytes.write(to: file)
      return true
    } catch {
      // The disk may be full: half a test would keep all others from being compiled.
      try? FileManager.default.removeItem(at: file)
      throw error
    }
  }

  private func test(
    _ identifier: String,
    archivedIn file: String,
    importing modules: [String],
    running program: String
  ) -> String {
    // One word may be a word of the language.
    let function = identifier.allSatisfy(\.isLowercase) ? "`\(identifier)`" : identifier
    let imports = Set(modules + ["ReboundHTTPTesting", "Testing"]).sorted().map { "import \($0)" }
    let told = decisions.map { "\n      \($0.debugDescription)," }.joined()
    let redaction = redaction == .standard ? "" : ",\n    redaction: \(redaction.source)"
    let statements = program.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    return """
      \(imports.joined(separator: "\n"))

      /// Fails as it was recorded until the cause is mended: \(RecordedText.line(failure))
      @Test(\(name.debugDescription)) func \(function)() throws {
        try reproduce(
          \(file.debugDescription),
          seed: \(seed),
          failure: \(failure.debugDescription),
          decisions: [\(told)\(told.isEmpty ? "" : "\n    ")]\(redaction)
        ) { recorded in
      \(statements.joined(separator: "\n"))
        }
      }

      """
  }
}

extension Redaction {
  /// What makes it, in Swift: what it has beside the standard's, or all if it has not all of that.
  fileprivate var source: String {
    func list(_ names: Set<String>) -> String { "[\(names.sorted().map(\.debugDescription).joined(separator: ", "))]" }
    func calls(_ name: String, _ names: Set<String>) -> String {
      names.sorted().map { ".\(name)\($0.debugDescription))" }.joined()
    }
    var standard = Redaction.standard
    standard.headers.formUnion(headers)
    standard.parameters.formUnion(parameters)
    standard.shown = shown
    guard self == standard else {
      return ".init(headers: \(list(headers)), parameters: \(list(parameters)), "
        + "replacement: \(replacement.debugDescription), guessing: \(isGuessing))" + calls("showing(", shown)
    }
    return ".standard" + calls("hiding(header: ", headers.subtracting(Redaction.standard.headers))
      + calls("hiding(parameter: ", parameters.subtracting(Redaction.standard.parameters)) + calls("showing(", shown)
  }
}

/// Texts of failures, as a test can hold them.
enum RecordedText {
  /// Names of requests and lengths of time are others in each run: UUIDs, 16 hexadecimal digits, "0.25 seconds".
  private static var passing: some RegexComponent {
    /[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|\b[0-9a-f]{16}\b|[0-9]+\.[0-9]+(?:e-?[0-9]+)?(?= seconds)/
  }

  /// The text with a sign in the place of what is another in each run.
  static func lasting(_ text: String) -> String { text.replacing(passing, with: "…") }

  /// One line of a comment.
  static func line(_ text: String) -> String {
    text.split { $0.isNewline || $0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
      .joined(separator: " ")
  }

  /// A name for a function: "weatherOfRome".
  static func identifier(of name: String) -> String {
    let words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    let joined = words.enumerated().map {
      $0 == 0 ? $1.prefix(1).lowercased() + $1.dropFirst() : $1.prefix(1).uppercased() + $1.dropFirst()
    }
    .joined()
    return joined.first?.isLetter == true ? joined : "failure\(joined)"
  }
}
