import Combine
import Observation
import StreamSupport

/// The latest value of a publisher, for Observation: views and `Observations` follow it.
///
///     let latest = temperatures.observableValue(initially: 20)
///     for await text in Observations({ "\(latest.value) °C" }) { show(text) }
///
/// Made by ``Combine/Publisher/observableValue(initially:)``.
///
/// A change is announced when it has been made, not before, and so holds for whoever reads after the announcement, on any
/// thread: none is missed. `Observations` leaves out values that are replaced before the loop awaits the next; the loop
/// that must see each goes over `values` of the publisher.
///
/// - Demand: Unlimited.
/// - Failure: None. After the publisher's end the last value stays.
/// - Threads: Read anywhere. Changes are announced where the publisher sends; for views, let it send on the main thread.
/// - Complexity: Constant time for reading.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
public final class ObservableValue<Value: Sendable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let latest: Locked<Value>
  private let subscription = Locked<AnyCancellable?>(nil)

  fileprivate init(_ initial: Value) {
    latest = Locked(initial)
  }

  /// What the publisher has sent last, or what stood there before its first value.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return latest.withLock { $0 }
  }

  fileprivate func follow(_ publisher: some Publisher<Value, Never>) {
    let following = publisher.sink { [weak self] value in self?.take(value) }
    let none = subscription.exchange(following)
    withExtendedLifetime(none) {}
  }

  private func take(_ value: Value) {
    let replaced = latest.exchange(value)
    withExtendedLifetime(replaced) { registrar.withMutation(of: self, keyPath: \.value) {} }
  }
}

extension Publisher where Failure == Never, Output: Sendable {
  /// Keeps the latest value in an object of Observation.
  ///
  ///     let latest = temperatures.observableValue(initially: 20)
  ///
  /// - Parameter initial: Stands there until the first value comes.
  /// - Returns: An object that is subscribed to this publisher until it is released. See ``ObservableValue``.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  public func observableValue(initially initial: Output) -> ObservableValue<Output> {
    let object = ObservableValue(initial)
    object.follow(self)
    return object
  }
}
