import StreamSupport
import Synchronization

/// A value that any thread may read and replace, without waiting for anything but another such access.
///
/// Plain bits that fit into a machine word are kept in an atomic one, which makes replacing them as cheap as can be; all
/// else is guarded by a leaf lock.
@usableFromInline
class AtomicBox<Value> {
  @usableFromInline let word: Atomic<UInt>
  @usableFromInline let lock = Lock()
  // Guarded by `lock`; not in use where the value is in `word`.
  @exclusivity(unchecked) @usableFromInline var current: Value

  @inlinable
  init(_ value: Value) {
    word = Atomic(Self.fitsWord ? Self.word(of: value) : 0)
    current = value
  }

  @inlinable @inline(__always)
  final var value: Value {
    Self.fitsWord ? Self.value(in: word.load(ordering: .acquiring)) : lockedValue
  }

  @inlinable @inline(__always)
  final func replace(with value: Value) {
    if Self.fitsWord {
      word.store(Self.word(of: value), ordering: .releasing)
    } else {
      replaceLocked(with: value)
    }
  }

  @inlinable
  final var lockedValue: Value {
    lock.lock()
    defer { lock.unlock() }
    return current
  }

  @inlinable
  final func replaceLocked(with value: Value) {
    lock.lock()
    let previous = current
    current = value
    lock.unlock()
    // Outside the lock: a value may run code of its own when it goes.
    withExtendedLifetime(previous) {}
  }

  // MARK: Words

  @inlinable @inline(__always)
  static var fitsWord: Bool {
    _isPOD(Value.self) && MemoryLayout<Value>.size <= MemoryLayout<UInt>.size
      && MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
  }

  // Both are called only if the value fits: the bits go in and come out where they are, at the start of the word.
  @inlinable @inline(__always)
  static func word(of value: Value) -> UInt {
    var word: UInt = 0
    withUnsafeMutableBytes(of: &word) { $0.storeBytes(of: value, as: Value.self) }
    return word
  }

  @inlinable @inline(__always)
  static func value(in word: UInt) -> Value {
    withUnsafeBytes(of: word) { $0.load(as: Value.self) }
  }
}
