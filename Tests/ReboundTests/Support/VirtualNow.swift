import Rebound
import ReboundTesting

extension MonotonicTime {
  /// The time of a test's scheduler.
  static func of(_ scheduler: TestScheduler) -> MonotonicTime {
    MonotonicTime { scheduler.elapsed }
  }
}
