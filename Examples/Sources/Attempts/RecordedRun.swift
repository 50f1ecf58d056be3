import Rebound

/// One request from its first attempt to its end, with what was decided on the way: what a test of its failure is made of.
///
/// Its lines have the type `request`, the number of the run as `request`, the number of the attempt as `attempt`, and as
/// `event` one of `began` (with `name`), `demand` (with `demand`), `attempt`, `value` and `attempt_failed` (with `text`), what a
/// retry policy decided (`retrying`, `attempts_exhausted`, …, with its details), `fallback`, `finished`, `failed` and
/// `cancelled`.
public struct RecordedRun {
  /// Tells this run from all others of its list.
  public let id: Int
  /// What was sent, as in `GET /weather?city=Oslo`.
  public let request: String
  /// Whether a policy decides if it is sent again.
  public let isRetried: Bool
  /// What that policy decided.
  public internal(set) var decisions: [RetryEvent] = []
  /// What it failed with in the end; `nil` if it did not, or not yet.
  public internal(set) var failure: (any Error)?
}
