#if !canImport(Darwin)
  import Synchronization
#endif

/// A number that any thread counts up and down, and that is read at the price of one load where the platform allows.
public struct Tally: ~Copyable {
  #if canImport(Darwin)
    // Atomics need a newer system than the package does.
    @usableFromInline let lock = Lock()
    @usableFromInline let number: UnsafeMutablePointer<Int>
  #else
    @usableFromInline let number = Atomic<Int>(0)
  #endif

  /// Begins at zero.
  public init() {
    #if canImport(Darwin)
      number = .allocate(capacity: 1)
      number.initialize(to: 0)
    #endif
  }

  #if canImport(Darwin)
    deinit {
      number.deallocate()
    }
  #endif

  /// The number now.
  @inlinable
  public var count: Int {
    #if canImport(Darwin)
      lock.withLock { number.pointee }
    #else
      number.load(ordering: .acquiring)
    #endif
  }

  /// Adds to the number, or takes from it.
  public func add(_ difference: Int) {
    #if canImport(Darwin)
      lock.withLock { number.pointee += difference }
    #else
      number.add(difference, ordering: .acquiringAndReleasing)
    #endif
  }
}

// The lock guards every access to the number; elsewhere it is atomic.
extension Tally: @unchecked Sendable {}
