import Combine
import StreamSupport

/// A network that is there when it is told so: for tests, previews and demonstrations.
///
///     let reachability = ManualReachability(.offline)
///     reachability.current = .online
///
/// Unchecked, because the subject guards its value and its subscribers itself.
public final class ManualReachability: Reachability, @unchecked Sendable {
  private let subject: CurrentValueSubject<Connectivity, Never>

  /// Makes a network.
  ///
  /// - Parameter connectivity: Whether it is there at first.
  public init(_ connectivity: Connectivity = .online) {
    subject = CurrentValueSubject(connectivity)
  }

  /// Whether it is there.
  public var current: Connectivity {
    get { subject.value }
    set { subject.value = newValue }
  }

  /// Whether it is there, and every change from then on, at once.
  public var connectivity: AnyPublisher<Connectivity, Never> {
    subject.removeDuplicates().eraseToAnyPublisher()
  }
}
