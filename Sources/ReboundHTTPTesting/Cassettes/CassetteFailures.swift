import Foundation

/// No recording answers a request.
public struct CassetteMiss: Error, Sendable {
  /// What was sent.
  public let request: CassetteRequest
  /// The recorded request that is least different; `nil` if there is none at all.
  public let nearest: CassetteRequest?
  /// The number of that recording in the file, from 1.
  public let nearestNumber: Int?
  /// What is different, in words; nothing if the recordings that fit have all answered already.
  public let differences: [String]
  /// The file with the recordings.
  public let file: URL

  init(of sent: CassetteRequest, in recorded: [CassetteRequest], _ rules: [CassetteRule], fitting: [Int], file: URL) {
    let candidates = recorded.enumerated().map { index, request in
      (index, request, rules.flatMap { $0.differences(sent, request) }, Self.likeness(sent, request))
    }
    let nearest = candidates.min { ($0.2.count, -$0.3, $0.0) < ($1.2.count, -$1.3, $1.0) }
    request = sent
    self.nearest = nearest?.1
    nearestNumber = nearest.map { $0.0 + 1 }
    differences = nearest?.2 ?? []
    self.file = file
    fittingCount = fitting.count
  }

  private let fittingCount: Int

  /// How far the words for two requests are the same.
  private static func likeness(_ left: CassetteRequest, _ right: CassetteRequest) -> Int {
    zip("\(left)".utf8, "\(right)".utf8).prefix { $0 == $1 }.map { _ in 1 }.count
  }
}

extension CassetteMiss: CustomStringConvertible {
  /// What was sent, what comes nearest, how they differ, and what to do next.
  public var description: String {
    let name = file.lastPathComponent
    guard let nearest, let nearestNumber else {
      return "'\(name)' has no recordings, so none answers \(request). Record it with '.recordMissing'"
    }
    if differences.isEmpty {
      let count = fittingCount == 1 ? "The only recording that fits" : "Each of the \(fittingCount) recordings that fit"
      return
        "\(count) \(request) in '\(name)' has answered already. Record it once more, or let the last one repeat with "
        + "'repeatingLast: true'"
    }
    return "No recording in '\(name)' answers \(request). The nearest is number \(nearestNumber), \(nearest), but "
      + "\(differences.joined(separator: "; ")). Record it with '.recordMissing', or match by other rules"
  }
}

/// Recordings have not answered any request.
public struct UnusedRecordings: Error, Sendable, CustomStringConvertible {
  /// The requests that were recorded, and not sent.
  public let requests: [CassetteRequest]
  /// The file with the recordings.
  public let file: URL

  /// What was not asked for, and what to do about it.
  public var description: String {
    let lines = requests.map { "\n  \($0)" }.joined()
    return "'\(file.lastPathComponent)' has recordings that answered no request. Send these, or take them out:\(lines)"
  }
}

/// A file of recordings that cannot be used.
public struct CassetteFileError: Error, Sendable, CustomStringConvertible {
  /// The file.
  public let file: URL
  /// What is wrong with it, and what to do next.
  public let problem: String

  /// Which file, and what is wrong with it.
  public var description: String { "The cassette '\(file.path)' \(problem)" }
}
