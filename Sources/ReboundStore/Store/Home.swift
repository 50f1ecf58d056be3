import Combine
import Dispatch
import Rebound

/// The scheduler on which a store lives, its type forgotten.
///
/// Unchecked, because a scheduler is made to be used from any thread, whether its type says so or not.
struct Home: @unchecked Sendable {
  private let scheduler: any Scheduler
  private let isMain: Bool

  init(_ scheduler: any Scheduler) {
    self.scheduler = scheduler
    isMain = (scheduler as? DispatchQueue).map(MainQueue.isSame) ?? false
  }

  /// Whether the present thread runs on this scheduler, as far as one can know.
  ///
  /// Only the main queue can be recognised: one may not leave marks on somebody else's queue.
  var isHere: Bool { isMain && MainQueue.isCurrent }

  /// Does something on the scheduler.
  func perform(_ action: @escaping () -> Void) {
    scheduler.schedule(action)
  }

  /// Does something on the scheduler after a while, unless what is returned is cancelled or released before.
  func perform(after delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    func start<Context: Scheduler>(on scheduler: Context) -> any Cancellable {
      let pause = Context.SchedulerTimeType.Stride(delay.clampedToDelay)
      let never = Context.SchedulerTimeType.Stride(Duration.longestDelay)
      // The one form of `schedule` whose work can be cancelled; whoever is called cancels it.
      return scheduler.schedule(after: scheduler.now.advanced(by: pause), interval: never, action)
    }
    return start(on: scheduler)
  }

  /// A publisher that tries again as a policy says, and waits on the scheduler.
  func retrying<Upstream: Publisher>(
    _ upstream: Upstream,
    _ policy: RetryPolicy<Upstream.Failure>
  ) -> AnyPublisher<Upstream.Output, Upstream.Failure> {
    func start<Context: Scheduler>(on scheduler: Context) -> AnyPublisher<Upstream.Output, Upstream.Failure> {
      upstream.retry(policy, scheduler: scheduler).eraseToAnyPublisher()
    }
    return start(on: scheduler)
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
