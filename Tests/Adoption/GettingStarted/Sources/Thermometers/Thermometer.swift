// A library that was written for Apple's platforms, of the article "A library".
#if canImport(Combine)
  import Combine
#endif

/// Tells of each reading: by a closure, and by a publisher where there is Combine.
public final class Thermometer {
  private var observers: [(Double) -> Void] = []

  /// Makes a thermometer that nobody reads yet.
  public init() {}

  /// Adds an observer, which is told of each reading from now on.
  public func onReading(_ observer: @escaping (Double) -> Void) { observers.append(observer) }

  /// Tells all observers of a reading.
  public func report(_ degrees: Double) {
    for observer in observers { observer(degrees) }
  }
}

#if canImport(Combine)
  extension Thermometer {
    /// The readings from now on.
    public var readings: AnyPublisher<Double, Never> {
      let subject = PassthroughSubject<Double, Never>()
      onReading { subject.send($0) }
      return subject.eraseToAnyPublisher()
    }
  }
#endif
