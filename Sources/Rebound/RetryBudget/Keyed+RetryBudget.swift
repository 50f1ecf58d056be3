extension Keyed where Policy == RetryBudget {
  /// A budget for each key, of a share of its own requests of the last moments; see ``RetryBudget/ratio(_:window:floor:)``.
  ///
  ///     let budgets = try Keyed<String, RetryBudget>.ratio(0.2)
  ///
  /// So one sick host does not use up the retries of the others.
  ///
  /// - Parameters:
  ///   - ratio: How many retries there may be for each request.
  ///   - window: How long requests and retries count.
  ///   - floor: How many retries there may be for a key however few requests there are.
  ///   - limit: How many budgets are kept; under 1 counts as 1.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public static func ratio(
    _ ratio: Double,
    window: Duration = .seconds(10),
    floor: Int = 3,
    limit: Int = 1_000
  ) throws(InvalidPolicy) -> Keyed {
    let spare = try RetryBudget.ratio(ratio, window: window, floor: floor)
    // What was fine once is fine again.
    return Keyed(limit: limit) { _ in (try? .ratio(ratio, window: window, floor: floor)) ?? spare }
  }
}
