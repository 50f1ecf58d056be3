/// Values by key, in the order of their last use.
///
/// - Complexity: O(1) for everything.
package struct LeastRecentlyUsed<Key: Hashable, Value> {
  private struct Slot {
    var key: Key
    var value: Value
    /// The neighbours towards the most and the least recently used.
    var newer: Int?
    var older: Int?
  }

  /// `nil` where a slot is free.
  private var slots: [Slot?] = []
  private var free: [Int] = []
  private var index: [Key: Int] = [:]
  private var newest: Int?
  private var oldest: Int?

  package init() {}

  package var count: Int { index.count }

  /// Reads a value without using it.
  package func peek(_ key: Key) -> Value? {
    index[key].flatMap { slots[$0]?.value }
  }

  /// Reads a value, which makes it the most recently used one.
  package mutating func use(_ key: Key) -> Value? {
    guard let position = index[key] else { return nil }
    if position != newest {
      unlink(position)
      linkAsNewest(position)
    }
    return slots[position]?.value
  }

  /// Sets a value, which makes it the most recently used one.
  ///
  /// - Returns: The value before.
  package mutating func set(_ value: Value, for key: Key) -> Value? {
    let before = remove(key)
    let slot = Slot(key: key, value: value, newer: nil, older: nil)
    let position: Int
    if let reused = free.popLast() {
      position = reused
      slots[position] = slot
    } else {
      position = slots.count
      slots.append(slot)
    }
    index[key] = position
    linkAsNewest(position)
    return before
  }

  /// Takes a value out.
  package mutating func remove(_ key: Key) -> Value? {
    guard let position = index.removeValue(forKey: key) else { return nil }
    unlink(position)
    let value = slots[position]?.value
    slots[position] = nil
    free.append(position)
    return value
  }

  /// Takes the value out whose last use was the longest ago.
  package mutating func removeOldest() -> (key: Key, value: Value)? {
    guard let oldest, let key = slots[oldest]?.key, let value = remove(key) else { return nil }
    return (key, value)
  }

  private mutating func unlink(_ position: Int) {
    guard let slot = slots[position] else { return }
    if let newer = slot.newer { slots[newer]?.older = slot.older } else { newest = slot.older }
    if let older = slot.older { slots[older]?.newer = slot.newer } else { oldest = slot.newer }
  }

  private mutating func linkAsNewest(_ position: Int) {
    slots[position]?.newer = nil
    slots[position]?.older = newest
    if let newest { slots[newest]?.newer = position }
    newest = position
    if oldest == nil { oldest = position }
  }
}
