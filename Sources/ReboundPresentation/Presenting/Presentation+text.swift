import Rebound

extension Presentation {
  /// The presentation as plain text, as it would stand on a screen: for logs, tests and terminals.
  ///
  /// ```text
  /// [alert] That did not work
  /// The server is not well.
  /// Try again in a minute.
  /// (Try again) (Not now)
  /// ```
  ///
  /// Nothing for ``ignore``.
  ///
  /// - Parameters:
  ///   - secondsLeft: What is left of a countdown; `nil` takes it from the message.
  ///   - isRetrying: Whether the next try is under way.
  public func rendered(secondsLeft: Int? = nil, isRetrying: Bool = false) -> String {
    rendered(countdown: secondsLeft ?? message?.retryAfter?.wholeSecondsUp, isRetrying: isRetrying)
  }

  /// The same, with no countdown where none runs.
  func rendered(countdown: Int?, isRetrying: Bool) -> String {
    if case .inline(let errors) = self {
      return errors.map { "[inline \($0.field ?? "?")] \($0.message)" }.joined(separator: "\n")
    }
    guard let surface, let message else { return "" }
    var lines = ["[\(surface.rawValue)] \(message.title)", message.text]
    if let suggestion = message.suggestion { lines.append(suggestion) }
    if isRetrying {
      lines.append("Trying again …")
    } else if let countdown {
      lines.append("Trying again in \(countdown) s")
    }
    if !message.choices.isEmpty { lines.append(message.choices.map { "(\($0.title))" }.joined(separator: " ")) }
    return lines.joined(separator: "\n")
  }
}

extension Duration {
  /// The whole seconds that it takes, a begun one included; at least zero, and at most what an `Int` holds.
  var wholeSecondsUp: Int {
    let (seconds, attoseconds) = clampedToDelay.components
    return Int(clamping: seconds + (attoseconds > 0 ? 1 : 0))
  }
}
