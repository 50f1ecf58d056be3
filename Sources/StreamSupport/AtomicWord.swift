#if !canImport(Darwin)
  import Synchronization
#endif

/// A word that any thread reads and sets, at the price of a load and a store where the platform allows.
///
/// Nothing else is ordered by it: it holds what is right to know late, such as what a cache remembers.
public struct AtomicWord: ~Copyable, Sendable {
  #if canImport(Darwin)
    // Atomics need a newer system than the package does.
    private let word = Locked<UInt>(0)
  #else
    private let word = Atomic<UInt>(0)
  #endif

  /// Begins at zero.
  public init() {}

  /// The word that was set last, as far as this thread knows.
  public var value: UInt {
    #if canImport(Darwin)
      word.withLock { $0 }
    #else
      word.load(ordering: .relaxed)
    #endif
  }

  /// Sets the word.
  public func set(_ value: UInt) {
    #if canImport(Darwin)
      word.withLock { $0 = value }
    #else
      word.store(value, ordering: .relaxed)
    #endif
  }
}
