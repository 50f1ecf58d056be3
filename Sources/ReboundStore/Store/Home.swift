import Combine
import Dispatch
import Rebound

/// The scheduler on which a store lives, and its time.
struct Home: Sendable {
  private let place: TimedScheduler
  private let isMain: Bool

  init<Context: Scheduler>(_ scheduler: Context, time: TimeSource?) {
    place = TimedScheduler(scheduler, time: time)
    isMain = (scheduler as? DispatchQueue).map(MainQueue.isSame) ?? false
  }

  /// Whether the present thread runs on this scheduler, as far as one can know.
  ///
  /// Only the main queue can be recognised: one may not leave marks on somebody else's queue.
  var isHere: Bool { isMain && MainQueue.isCurrent }

  /// The time of all that the store executes.
  var time: TimeSource { place.time }

  /// The same, with timers that go off on the scheduler.
  var timeAtHome: TimeSource { place.timeAtHome }

  /// Does something on the scheduler.
  func perform(_ action: @escaping () -> Void) {
    place.perform(action)
  }

  /// Does something on the scheduler after a while, unless what is returned is cancelled before.
  func perform(after delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    place.perform(after: delay, action)
  }
}

/// Tells the main queue from all others, whichever thread serves it, and whichever object stands for it: on some
/// platforms there is a new one each time.
private enum MainQueue {
  private static let key = DispatchSpecificKey<Bool>()
  private static let marked: Void = DispatchQueue.main.setSpecific(key: key, value: true)

  static func isSame(as queue: DispatchQueue) -> Bool {
    marked
    return queue.getSpecific(key: key) == true
  }

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
