#if !canImport(Darwin)
  import Synchronization
#endif

/// A number that any thread counts up and down, and that is read at the price of one load where the platform allows.
public struct Tally: ~Copyable, Sendable {
  #if canImport(Darwin)
    // Atomics need a newer system than the package does.
    @usableFromInline let number = Locked(0)
  #else
    @usableFromInline let number = Atomic<Int>(0)
  #endif

  /// Begins at zero.
  public init() {}

  /// The number now.
  @inlinable
  public var count: Int {
    #if canImport(Darwin)
      number.withLock { $0 }
    #else
      number.load(ordering: .acquiring)
    #endif
  }

  /// Adds to the number, or takes from it.
  public func add(_ difference: Int) {
    #if canImport(Darwin)
      number.withLock { $0 += difference }
    #else
      number.add(difference, ordering: .acquiringAndReleasing)
    #endif
  }
}
