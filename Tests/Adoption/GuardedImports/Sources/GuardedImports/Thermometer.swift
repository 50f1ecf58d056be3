#if canImport(Combine)
  // Combine's types are not marked as sendable.
  @preconcurrency import Combine
#endif

/// Keeps a temperature, and tells of its changes where there is a Combine.
public final class Thermometer: Sendable {
  #if canImport(Combine)
    // Subjects may be sent to from any thread, though their type does not say so.
    nonisolated(unsafe) private let subject = CurrentValueSubject<Double, Never>(20)

    /// The temperature, now and after each change.
    public var temperatures: AnyPublisher<Double, Never> { subject.removeDuplicates().eraseToAnyPublisher() }
  #endif

  /// Makes a thermometer at 20 °C.
  public init() {}

  /// Takes a reading.
  public func read(_ temperature: Double) {
    #if canImport(Combine)
      subject.send(temperature)
    #endif
  }
}
