import Synchronization

// Fresh identifiers count up from 1; those made from an object are its address, which is never that small.
@usableFromInline let lastCombineIdentifier = Atomic<UInt64>(0)

/// A number that tells the ends of publisher streams apart.
public struct CombineIdentifier: Hashable, CustomStringConvertible {
  @usableFromInline let rawValue: UInt64

  /// Makes an identifier unlike all others.
  @inlinable
  public init() {
    rawValue = lastCombineIdentifier.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Makes the identifier of an object, equal for the same object as long as it lives.
  @inlinable
  public init(_ obj: AnyObject) {
    rawValue = UInt64(UInt(bitPattern: ObjectIdentifier(obj)))
  }

  /// The number as hexadecimal text.
  public var description: String {
    "0x" + String(rawValue, radix: 16)
  }
}

/// Something that has a ``CombineIdentifier`` of its own.
public protocol CustomCombineIdentifierConvertible {
  /// Tells this apart from the other ends of publisher streams.
  var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  /// The identity of the object.
  @inlinable
  public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}
