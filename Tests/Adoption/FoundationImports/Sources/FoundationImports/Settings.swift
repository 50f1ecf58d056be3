import Foundation

/// Settings whose changes are published, by the object and as notifications.
public final class Settings: ObservableObject {
  /// Posted with each change of the title.
  public static let titleDidChange = Notification.Name("titleDidChange")

  /// What stands above everything.
  @Published public var title = "Untitled" {
    didSet { center.post(name: Settings.titleDidChange, object: self) }
  }

  private let center: NotificationCenter

  /// Makes settings that post to a centre.
  public init(center: NotificationCenter) {
    self.center = center
  }

  /// The titles of all settings that post to the same centre.
  public var titles: some Publisher<String, Never> {
    center.publisher(for: Settings.titleDidChange).compactMap { ($0.object as? Settings)?.title }
  }
}
