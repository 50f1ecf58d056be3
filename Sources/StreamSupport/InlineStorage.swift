/// Storage for a value in an object of a generic class, which is to be cheap to destroy.
///
/// The deinit of a generic class is not specialised: it asks the runtime for the type of every field whose type depends
/// on a parameter, which can take longer than all else in the life of a short subscription. The bits in here have no
/// type. Who knows it, code that was made where the types are concrete, empties it in time.
@frozen
public struct InlineStorage<Content> {
  @usableFromInline
  typealias Words = (
    UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt, UInt
  )

  // The content, or, if that does not fit, a pointer to it.
  @usableFromInline var words: Words = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

  @inlinable @inline(__always)
  static var isInPlace: Bool {
    MemoryLayout<Content>.size <= MemoryLayout<Words>.size
      && MemoryLayout<Content>.alignment <= MemoryLayout<Words>.alignment
  }

  /// Makes a storage.
  ///
  /// - Parameter fill: initialises the content.
  @inlinable @inline(__always)
  public init(_ fill: (UnsafeMutablePointer<Content>) -> Void) {
    if !Self.isInPlace { words.0 = UInt(bitPattern: UnsafeMutablePointer<Content>.allocate(capacity: 1)) }
    access(fill)
  }

  /// Runs `body` with the place of the content; nothing foreign may run in it.
  @inlinable @inline(__always)
  public mutating func access<Result>(_ body: (UnsafeMutablePointer<Content>) -> Result) -> Result {
    withUnsafeMutablePointer(to: &words) { words in
      if Self.isInPlace { return body(UnsafeMutableRawPointer(words).assumingMemoryBound(to: Content.self)) }
      // Allocated in `init`, and there until `close()`.
      return body(UnsafeMutablePointer(bitPattern: words.pointee.0).unsafelyUnwrapped)
    }
  }

  /// Gives the storage up, in which nothing is left that needs to be destroyed.
  @inlinable @inline(__always)
  public mutating func close() {
    if !Self.isInPlace { access { $0.deallocate() } }
  }
}
