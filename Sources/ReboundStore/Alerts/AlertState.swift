/// An alert as part of a state: what it says, and which action each of its buttons sends.
public struct AlertState<Action> {
  /// Something that a person can choose.
  public struct Button {
    /// What a button means to the alert that offers it.
    public enum Role: String, Hashable, Sendable, Codable {
      /// One choice of several.
      case normal
      /// The way out that changes nothing.
      case cancel
      /// A choice that destroys something.
      case destructive
    }

    /// The words on it.
    public let title: String
    /// What it means.
    public let role: Role
    /// What it sends; `nil` only dismisses.
    public let action: Action?

    /// Describes a button.
    public init(_ title: String, role: Role = .normal, action: Action? = nil) {
      self.title = title
      self.role = role
      self.action = action
    }
  }

  /// The message in a few words.
  public let title: String
  /// The whole message.
  public let message: String
  /// What can be chosen.
  public let buttons: [Button]

  /// Describes an alert.
  ///
  /// - Parameters:
  ///   - title: The message in a few words.
  ///   - message: The whole message.
  ///   - buttons: What can be chosen; by default a button that only dismisses.
  public init(title: String, message: String = "", buttons: [Button] = [Button("OK", role: .cancel)]) {
    self.title = title
    self.message = message
    self.buttons = buttons
  }
}

/// The alerts of a state: one is shown, the others wait.
///
///     case .failed(let error): state.alerts.present(AlertState(title: error.title))
///     case .alertDismissed(let id): state.alerts.dismiss(id)
///
/// Every alert gets an id when it is presented, and no id comes twice. A dismissal names the alert that it is meant for;
/// one that comes twice, or late, does nothing. So a dismissal never raises an alert and never takes away the wrong one.
public struct Alerts<Action> {
  /// An alert and its id.
  public struct Presented: Identifiable {
    /// Tells this alert from all others, earlier ones included.
    public let id: Int
    /// What it says.
    public let alert: AlertState<Action>
  }

  private var line: [Presented] = []
  private var lastID = 0

  /// Makes it without an alert.
  public init() {}

  /// The alert that is shown.
  public var current: Presented? { line.first }

  /// How many wait behind the one that is shown.
  public var waitingCount: Int { max(line.count - 1, 0) }

  /// Shows an alert, or lets it wait behind those that are there.
  ///
  /// - Returns: Its id.
  @discardableResult
  public mutating func present(_ alert: AlertState<Action>) -> Int {
    lastID += 1
    line.append(Presented(id: lastID, alert: alert))
    return lastID
  }

  /// Takes an alert away once and for all, shown or waiting.
  ///
  /// - Returns: Whether it was there; otherwise nothing happens.
  @discardableResult
  public mutating func dismiss(_ id: Int) -> Bool {
    guard let index = line.firstIndex(where: { $0.id == id }) else { return false }
    line.remove(at: index)
    return true
  }
}

extension Alerts where Action: Equatable {
  /// Shows an alert, unless one that says the same is shown or waits.
  ///
  /// - Returns: Its id, or that of the one that is there.
  @discardableResult
  public mutating func presentOnce(_ alert: AlertState<Action>) -> Int {
    line.first { $0.alert == alert }?.id ?? present(alert)
  }
}

extension AlertState.Button: Equatable where Action: Equatable {}
extension AlertState: Equatable where Action: Equatable {}
extension Alerts.Presented: Equatable where Action: Equatable {}
extension Alerts: Equatable where Action: Equatable {}
extension AlertState.Button: Sendable where Action: Sendable {}
extension AlertState: Sendable where Action: Sendable {}
extension Alerts.Presented: Sendable where Action: Sendable {}
extension Alerts: Sendable where Action: Sendable {}
