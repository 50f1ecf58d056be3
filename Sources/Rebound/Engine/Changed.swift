/// The same value with something changed.
package func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var copy = value
  change(&copy)
  return copy
}

/// Tells two observers, the earlier one first.
package func both<Event>(
  _ earlier: (@Sendable (Event) -> Void)?,
  _ later: @escaping @Sendable (Event) -> Void
) -> @Sendable (Event) -> Void {
  guard let earlier else { return later }
  return { event in
    earlier(event)
    later(event)
  }
}
