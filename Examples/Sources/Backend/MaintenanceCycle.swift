/// Counts requests for the name that is under maintenance: two of every three fail.
struct MaintenanceCycle {
  private var requests = 0

  /// Counts a request.
  ///
  /// - Returns: Whether it fails.
  mutating func nextFails() -> Bool {
    requests += 1
    return !requests.isMultiple(of: 3)
  }
}
