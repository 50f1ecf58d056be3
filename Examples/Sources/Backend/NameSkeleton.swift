import CSkeleton

/// What is left of a text when all characters that look alike are one: its skeleton by Unicode's tables of confusables
/// (UTS 39, section 4), which ICU has.
///
/// For comparing only; nobody should see one.
enum NameSkeleton {
  private struct Tables: @unchecked Sendable {
    // Sendable by this invariant: any number of threads may read the tables, and nobody changes or closes them.
    let pointer: UnsafeRawPointer
  }

  private static let tables: Tables = {
    guard let pointer = skeleton_open_tables() else {
      // The tables are part of the library that this program is linked with: without it, it would not have started.
      fatalError("ICU has no tables of confusables")
    }
    return Tables(pointer: pointer)
  }()

  /// Makes the skeleton of a text, or nil if ICU cannot, as with more than 2 GB.
  static func of(_ text: String) -> String? {
    let text = text.utf8.map(CChar.init(bitPattern:))
    guard let length = Int32(exactly: text.count) else { return nil }
    var skeleton = [CChar](repeating: 0, count: 2 * text.count)
    // Once more where that was too small: then it is known how large it has to be.
    for _ in 1...2 {
      let capacity = Int32(clamping: skeleton.count)
      let count = skeleton_of(tables.pointer, text, length, &skeleton, capacity)
      guard count >= 0 else { return nil }
      if count <= capacity {
        return String(decoding: skeleton.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
      }
      skeleton = [CChar](repeating: 0, count: Int(count))
    }
    return nil
  }
}
