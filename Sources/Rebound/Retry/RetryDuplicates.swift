/// What a retry does about values that were delivered before the failure, since the next attempt may send them again.
public enum RetryDuplicates: Hashable, Sendable {
  /// Delivers whatever the next attempt sends, as Combine's own `retry` does; the default.
  case replay
  /// Does not retry once a value was delivered: the error passes on.
  case failIfEmitted
  /// Leaves out as many values of the next attempt as were delivered: for upstreams that send the same values each time.
  case skipDelivered
}
