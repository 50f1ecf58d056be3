/// How a person gets to see an error.
public enum Presentation: Hashable, Sendable {
  /// Not at all.
  case ignore
  /// Beside the fields that it is about.
  case inline([FieldError])
  /// For a moment, asking for nothing.
  case toast(Message)
  /// For as long as it holds, beside the content.
  case banner(Message)
  /// In front of everything, until the person has decided.
  case alert(Message)
  /// In place of the content.
  case fullScreen(Message)
  /// As the way to sign in.
  case signIn(Message)

  /// What is shown.
  public struct Message: Hashable, Sendable {
    /// What kind of trouble it is, as far as surfaces care.
    public enum Topic: String, Hashable, Sendable {
      /// No network.
      case offline
      /// The service is down, and has said when to come back.
      case maintenance
      /// This version of the program is too old.
      case update
      /// Nobody is signed in any more.
      case signIn
      /// Anything else.
      case failure
    }

    /// What kind of trouble it is.
    public let topic: Topic
    /// The message in a few words.
    public let title: String
    /// The whole message.
    public let text: String
    /// What to do next.
    public let suggestion: String?
    /// What can be chosen.
    public let choices: [RecoveryChoice]
    /// When to try again without being asked, counted from the moment of the error; `nil` for never.
    public let retryAfter: Duration?

    /// Describes what is shown.
    public init(
      topic: Topic = .failure,
      title: String,
      text: String,
      suggestion: String? = nil,
      choices: [RecoveryChoice] = [],
      retryAfter: Duration? = nil
    ) {
      self.topic = topic
      self.title = title
      self.text = text
      self.suggestion = suggestion
      self.choices = choices
      self.retryAfter = retryAfter
    }
  }

  /// Where a presentation is shown.
  public enum Surface: String, Hashable, Sendable, CaseIterable {
    /// Beside the fields of a form.
    case inline
    /// A message that goes by itself.
    case toast
    /// A message that stays beside the content.
    case banner
    /// A message that has to be answered.
    case alert
    /// A message in place of the content.
    case fullScreen
    /// The way to sign in.
    case signIn
  }

  /// How a screen reader is to speak of it.
  public enum Announcement: String, Hashable, Sendable {
    /// Not at all.
    case none
    /// When it has said what it is saying.
    case polite
    /// At once.
    case assertive
  }

  /// Where it is shown; `nil` if it is not.
  public var surface: Surface? {
    switch self {
    case .ignore: nil
    case .inline: .inline
    case .toast: .toast
    case .banner: .banner
    case .alert: .alert
    case .fullScreen: .fullScreen
    case .signIn: .signIn
    }
  }

  /// What is shown; `nil` if nothing is, or if it stands beside fields.
  public var message: Message? {
    switch self {
    case .ignore, .inline: nil
    case .toast(let message), .banner(let message), .alert(let message), .fullScreen(let message),
      .signIn(let message):
      message
    }
  }

  /// How a screen reader is to speak of it: what stands in the way is said at once, the rest when there is time.
  public var announcement: Announcement {
    switch self {
    case .ignore: .none
    case .inline, .toast, .banner: .polite
    case .alert, .fullScreen, .signIn: .assertive
    }
  }
}
