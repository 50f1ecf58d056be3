import Combine
import Rebound
import StreamSupport

/// A network that is there when it is told so: for tests, previews and demonstrations.
///
///     let reachability = ManualReachability(.offline)
///     reachability.current = .online
public final class ManualReachability: Reachability, Sendable {
  private let shared: SharedSubject<CurrentValueSubject<Connectivity, Never>>

  /// Makes a network.
  ///
  /// - Parameter connectivity: Whether it is there at first.
  public init(_ connectivity: Connectivity = .online) {
    shared = SharedSubject(CurrentValueSubject(connectivity))
  }

  /// Whether it is there.
  public var current: Connectivity {
    get { shared.subject.value }
    set { shared.subject.value = newValue }
  }

  /// Whether it is there, and every change from then on, at once.
  public var connectivity: AnyPublisher<Connectivity, Never> {
    shared.subject.removeDuplicates().eraseToAnyPublisher()
  }
}
