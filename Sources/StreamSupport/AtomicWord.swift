#if !canImport(Darwin)
  import Synchronization
#endif

/// A word that any thread reads and sets, at the price of a load and a store where the platform allows.
///
/// What a thread did before it set or exchanged the word is seen by whoever reads or exchanges that word after it.
public struct AtomicWord: ~Copyable, Sendable {
  #if canImport(Darwin)
    // Atomics need a newer system than the package does.
    @usableFromInline let word = Locked<UInt64>(0)
  #else
    @usableFromInline let word = Atomic<UInt64>(0)
  #endif

  /// Begins at zero.
  @inlinable
  public init() {}

  /// The word that was set last, as far as this thread knows.
  @inlinable @inline(__always)
  public var value: UInt64 {
    #if canImport(Darwin)
      word.withLock { $0 }
    #else
      word.load(ordering: .acquiring)
    #endif
  }

  /// Sets the word.
  @inlinable @inline(__always)
  public func set(_ value: UInt64) {
    #if canImport(Darwin)
      word.withLock { $0 = value }
    #else
      word.store(value, ordering: .releasing)
    #endif
  }

  /// Sets the word.
  ///
  /// - Returns: The word before.
  @inlinable @inline(__always)
  public func exchange(_ value: UInt64) -> UInt64 {
    #if canImport(Darwin)
      word.exchange(value)
    #else
      word.exchange(value, ordering: .acquiringAndReleasing)
    #endif
  }

  /// Sets the word if it still is what the caller believes.
  ///
  /// - Returns: The word before: what the caller believed if it was set.
  @inlinable @inline(__always)
  public func compareExchange(_ expected: UInt64, _ desired: UInt64) -> UInt64 {
    #if canImport(Darwin)
      word.withLock { word in
        let before = word
        if word == expected { word = desired }
        return before
      }
    #else
      word.compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing).original
    #endif
  }
}
