import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import StreamSupport

/// What a program that failed once is run with again.
public struct Reproduction: Sendable {
  /// Answers as the service did when it was recorded, after the same time.
  public let transport: CassetteTransport
  /// Where the service was: scheme, host and port of the first request.
  public let baseURL: URL
  /// For the program's policies, so that what they decide is compared with what was recorded.
  public let events: PolicyEvents
}

/// Runs a program that failed once with what was recorded then, in a simulation, and fails if it fails still.
///
/// A ``RecordedFailure`` writes a test that calls it. Time, chance and the order of tasks are those of a `Simulation`; the
/// network is the recording.
///
/// - Parameters:
///   - archive: The HTTP Archive; a relative path begins beside the test's file.
///   - seed: What chance goes by.
///   - failure: How it failed.
///   - decisions: What the policies decided; with none, they are not compared.
///   - redaction: What was not kept when it was recorded.
///   - fileID: Where the test stands.
///   - filePath: Where the test stands.
///   - line: Where the test stands.
///   - column: Where the test stands.
///   - program: What failed.
/// - Throws: ``ReproducedFailure`` if the program fails, and says whether it fails as it did; `SimulationFailure` for a
///   problem that the simulation finds; ``CassetteFileError``; `SimulationUnavailable`.
public func reproduce(
  _ archive: String,
  seed: UInt64 = 0,
  failure: String,
  decisions: [String] = [],
  redaction: Redaction = .standard,
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  _ program: @escaping @Sendable (Reproduction) async throws -> Void
) throws {
  let file = URL(fileURLWithPath: archive, relativeTo: URL(fileURLWithPath: "\(filePath)")).absoluteURL
  let baseURL = try CassetteTape(file, redaction).baseURL(in: file)
  let outcome = Locked<ReproducedFailure?>(nil)
  // What the policies and the client keep for later may outlive the call that failed.
  let limits = SimulationLimits(allowsLeftOvers: true)
  try Simulation(seed: seed, limits: limits).run(fileID: fileID, filePath: filePath, line: line, column: column) {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let transport = try CassetteTransport(file, repeatingLast: true, redaction: redaction, keepingPace: true)
    do {
      try await program(Reproduction(transport: transport, baseURL: baseURL, events: events))
    } catch {
      let now = redaction.prose(RecordedText.lasting("\(error)"))
      let decided = decisions.isEmpty ? [] : log.events.map { redaction.text(RecordedText.lasting("\($0)")) }
      outcome.withLock { outcome in
        outcome = ReproducedFailure(
          cause: error,
          recorded: ReproducedFailure.Account(failure: failure, decisions: decisions),
          now: ReproducedFailure.Account(failure: now, decisions: decided)
        )
      }
    }
  }
  if let outcome = outcome.withLock({ $0 }) { throw outcome }
}

/// A program that failed once fails with what was recorded then.
public struct ReproducedFailure: Error, Sendable {
  /// How a run went.
  public struct Account: Hashable, Sendable {
    /// The words of its failure.
    public let failure: String
    /// What the policies decided.
    public let decisions: [String]
  }

  /// The failure itself.
  public let cause: any Error
  /// How it failed then.
  public let recorded: Account
  /// How it fails now.
  public let now: Account

  /// Whether it fails as it did then: in the same words, after the same decisions.
  public var isAsRecorded: Bool { recorded == now }
}

extension ReproducedFailure: CustomStringConvertible {
  /// Whether it fails as it did, and if not, what is different.
  public var description: String {
    guard !isAsRecorded else { return "Fails as it was recorded: \(cause)" }
    guard recorded.failure == now.failure else {
      return "Fails in another way than was recorded: \(cause)\nRecorded: \(recorded.failure)"
    }
    let place = zip(recorded.decisions, now.decisions).prefix { $0 == $1 }.map { _ in 1 }.count
    return """
      Fails as it was recorded, but after other decisions: \(cause)
      Decision \(place + 1) is \(now.decisions.dropFirst(place).first.map { "'\($0)'" } ?? "missing"), recorded is \
      \(recorded.decisions.dropFirst(place).first.map { "'\($0)'" } ?? "none")
      """
  }
}

extension CassetteTape {
  /// Scheme, host and port of the first request.
  fileprivate func baseURL(in file: URL) throws(CassetteFileError) -> URL {
    guard let address = recordings.first?.request.url,
      let separator = address.range(of: "://"),
      let url = URL(
        string: String(
          address[..<(address[separator.upperBound...].firstIndex { "/?#".contains($0) } ?? address.endIndex)]
        )
      )
    else {
      throw CassetteFileError(
        file: file,
        problem: "has no request whose address says where the service was. Record it anew"
      )
    }
    return url
  }
}
