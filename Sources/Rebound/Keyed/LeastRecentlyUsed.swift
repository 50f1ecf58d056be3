/// Values by key, in the order of their last use.
///
/// - Complexity: O(1) for everything.
@usableFromInline
package struct LeastRecentlyUsed<Key: Hashable, Value> {
  @usableFromInline
  struct Slot {
    @usableFromInline var key: Key
    @usableFromInline var value: Value
    /// The neighbours towards the most and the least recently used.
    @usableFromInline var newer: Int?
    @usableFromInline var older: Int?

    @inlinable
    init(key: Key, value: Value) {
      (self.key, self.value) = (key, value)
    }
  }

  /// `nil` where a slot is free.
  @usableFromInline var slots: [Slot?] = []
  @usableFromInline var free: [Int] = []
  @usableFromInline var index: [Key: Int] = [:]
  @usableFromInline var newest: Int?
  @usableFromInline var oldest: Int?

  @inlinable
  package init() {}

  @inlinable package var count: Int { index.count }

  /// Reads a value without using it.
  @inlinable
  package func peek(_ key: Key) -> Value? {
    index[key].flatMap { slots[$0]?.value }
  }

  /// Reads a value, which makes it the most recently used one.
  @inlinable
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
  @inlinable
  package mutating func set(_ value: Value, for key: Key) -> Value? {
    if let before = use(key), let position = newest {
      slots[position]?.value = value
      return before
    }
    let slot = Slot(key: key, value: value)
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
    return nil
  }

  /// Takes a value out.
  @inlinable
  package mutating func remove(_ key: Key) -> Value? {
    guard let position = index.removeValue(forKey: key) else { return nil }
    unlink(position)
    let value = slots[position]?.value
    slots[position] = nil
    free.append(position)
    return value
  }

  /// Takes the value out whose last use was the longest ago.
  @inlinable
  package mutating func removeOldest() -> (key: Key, value: Value)? {
    guard let oldest, let key = slots[oldest]?.key, let value = remove(key) else { return nil }
    return (key, value)
  }

  @inlinable
  mutating func unlink(_ position: Int) {
    guard let slot = slots[position] else { return }
    if let newer = slot.newer { slots[newer]?.older = slot.older } else { newest = slot.older }
    if let older = slot.older { slots[older]?.newer = slot.newer } else { oldest = slot.newer }
  }

  @inlinable
  mutating func linkAsNewest(_ position: Int) {
    slots[position]?.newer = nil
    slots[position]?.older = newest
    if let newest { slots[newest]?.newer = position }
    newest = position
    if oldest == nil { oldest = position }
  }
}
