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
    if case .inline(let errors) = self {
      return errors.map { "[inline \($0.field ?? "?")] \($0.message)" }.joined(separator: "\n")
    }
    guard let surface, let message else { return "" }
    var lines = ["[\(surface.rawValue)] \(message.title)", message.text]
    if let suggestion = message.suggestion { lines.append(suggestion) }
    if isRetrying {
      lines.append("Trying again …")
    } else if let seconds = secondsLeft ?? message.retryAfter?.wholeSecondsUp {
      lines.append("Trying again in \(seconds) s")
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
