/// A message that goes by itself and asks for nothing.
public struct Toast: Equatable, Sendable {
  /// What a toast is about.
  public enum Tone: String, Sendable {
    case info, error, ok
  }

  /// Tells this toast from all others.
  public let id: String
  /// The message.
  public let text: String
  /// What it is about.
  public let tone: Tone
}

/// A choice that a person has.
public struct Choice: Equatable, Sendable {
  /// What a choice means to the surface that offers it.
  public enum Role: String, Sendable {
    case `default`, cancel
  }

  /// Tells the choices of one surface apart.
  public let id: String
  /// The words on the button.
  public let title: String
  /// What the choice means.
  public let role: Role
}

/// A message that a person has to decide about.
public struct Alert: Equatable, Sendable {
  /// Tells this alert from all others.
  public let id: String
  /// The message in a few words.
  public let title: String
  /// The whole message.
  public let message: String
  /// What can be chosen.
  public let choices: [Choice]
}

/// A failure that takes the place of the form, and ends by itself when the countdown does.
public struct Outage: Equatable, Sendable {
  /// Tells this outage from all others.
  public let id: String
  /// The failure in a few words.
  public let title: String
  /// The whole message.
  public let message: String
  /// How long until the next try.
  public internal(set) var secondsLeft: Int
  /// Whether the next try is under way.
  public internal(set) var isRetrying = false
  /// What can be chosen.
  public let choices: [Choice]
}
