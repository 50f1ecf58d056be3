import OpenCombine

/// Counts, in a file that knows OpenCombine alone.
public final class Counter: OpenCombine.ObservableObject {
  /// How often it was incremented.
  @OpenCombine.Published public private(set) var count = 0

  /// Begins with zero.
  public init() {}

  /// Adds one.
  public func increment() { count += 1 }
}
