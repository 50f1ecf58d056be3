import WebServer

/// A fault that the service is to show for a path.
struct FaultRule: Equatable {
  enum Kind: String, CaseIterable, Equatable {
    /// The real answer; with a latency, a late one.
    case none
    /// An error with a status.
    case status
    /// The connection is closed without an answer; the service hasn't seen the request.
    case drop
    /// The service does its work, but only half of its answer arrives.
    case truncate
    /// 200, said to be JSON, and isn't.
    case garbage
    /// The page with which a hotel's network answers every request until one has logged in.
    case captivePortal
  }

  /// The path of every rule that counts where no path of its own does.
  static let anyPath = "*"

  let path: String
  let kind: Kind
  let status: Int?
  let reason: String?
  let retryAfter: String?
  let latency: Duration
  /// How many requests it is for; nil for all until it is deleted.
  let times: Int?
}

extension FaultRule: Decodable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case path, fault, status, reason, retryAfter, latencyMilliseconds, times
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads a rule.
  ///
  /// - Throws: `HTTPError` 400 with the reason if it makes no sense. Fields that don't exist are refused too: a typing
  ///   error in `times` would else be a fault for ever.
  init(from decoder: any Decoder) throws {
    let known = CodingKeys.allCases.map(\.rawValue)
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      throw HTTPError(400, "There is no field '\(key.stringValue)'; there are: \(known.joined(separator: ", "))")
    }

    let container = try decoder.container(keyedBy: CodingKeys.self)
    path = try container.decode(String.self, forKey: .path)
    let kindName = try container.decode(String.self, forKey: .fault)
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    retryAfter = try container.decodeIfPresent(String.self, forKey: .retryAfter)
    let milliseconds = try container.decodeIfPresent(Int.self, forKey: .latencyMilliseconds) ?? 0
    latency = .milliseconds(milliseconds)
    times = try container.decodeIfPresent(Int.self, forKey: .times)

    guard let kind = Kind(rawValue: kindName) else {
      let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw HTTPError(400, "There is no fault '\(kindName)'; there are: \(names)")
    }
    self.kind = kind
    guard path == FaultRule.anyPath || path.hasPrefix("/") else {
      throw HTTPError(400, "The path must be \"*\" or begin with a slash")
    }
    guard !ControlPath.contains(path) else {
      throw HTTPError(400, "Control routes never fail on command")
    }
    if kind == .status {
      guard let status, (400...599).contains(status) else {
        throw HTTPError(400, "The fault 'status' needs a status from 400 to 599")
      }
    } else {
      guard status == nil, reason == nil, retryAfter == nil else {
        throw HTTPError(400, "The fields status, reason and retryAfter are for the fault 'status' only")
      }
    }
    if let retryAfter, !FaultRule.isRetryAfter(retryAfter) {
      throw HTTPError(
        400,
        "retryAfter must be whole seconds (\"5\") or an HTTP-date (\"Sun, 06 Nov 1994 08:49:37 GMT\")"
      )
    }
    let longestLatency = 600_000
    guard (0...longestLatency).contains(milliseconds) else {
      throw HTTPError(400, "latencyMilliseconds must be from 0 to \(longestLatency)")
    }
    guard times.map({ $0 >= 1 }) ?? true else {
      throw HTTPError(400, "times must be at least 1; leave it out for a fault until it is deleted")
    }
  }

  private static func isRetryAfter(_ text: String) -> Bool {
    let isSeconds = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isSeconds || HTTPDate.isValid(text)
  }
}
