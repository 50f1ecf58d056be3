#if Publishers
  import Combine
#endif

/// Throws that were decided before.
public struct Dice: Sendable {
  private let throwsToCome: [Int]

  /// Makes dice that fall like this.
  public init(_ throwsToCome: [Int]) {
    self.throwsToCome = throwsToCome
  }

  /// All throws.
  public var all: [Int] { throwsToCome }

  #if Publishers
    /// All throws, one after the other.
    public var publisher: AnyPublisher<Int, Never> { throwsToCome.publisher.eraseToAnyPublisher() }
  #endif
}
