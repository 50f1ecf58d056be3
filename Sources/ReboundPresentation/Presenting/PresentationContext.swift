/// What was going on when an error came.
public struct PresentationContext: Hashable, Sendable {
  /// Whether a person's action hangs on it, such as a submission.
  ///
  /// Opening, refreshing and typing are none.
  public var isUserInitiated: Bool
  /// Whether there is something to look at, such as what was loaded before, or a form.
  public var hasContent: Bool
  /// How many tries have failed in a row, this one included.
  public var attempt: Int
  /// The field of a form that was being checked; `nil` for none.
  public var field: String?
  /// Whether the device is known to have no network.
  public var isOffline: Bool

  /// Describes what was going on.
  ///
  /// - Parameters:
  ///   - isUserInitiated: Whether a person's action hangs on it.
  ///   - hasContent: Whether there is something to look at.
  ///   - attempt: How many tries have failed in a row, this one included.
  ///   - field: The field of a form that was being checked.
  ///   - isOffline: Whether the device is known to have no network.
  public init(
    isUserInitiated: Bool = false,
    hasContent: Bool = false,
    attempt: Int = 1,
    field: String? = nil,
    isOffline: Bool = false
  ) {
    self.isUserInitiated = isUserInitiated
    self.hasContent = hasContent
    self.attempt = attempt
    self.field = field
    self.isOffline = isOffline
  }

  /// The first load of a screen.
  public static let firstLoad = PresentationContext()
  /// A load of a screen that shows something already.
  public static let refresh = PresentationContext(hasContent: true)
  /// A person's action, such as a submission.
  public static let action = PresentationContext(isUserInitiated: true, hasContent: true)
  /// The check of a field while it is typed into.
  public static func typing(in field: String) -> PresentationContext {
    PresentationContext(hasContent: true, field: field)
  }
}
