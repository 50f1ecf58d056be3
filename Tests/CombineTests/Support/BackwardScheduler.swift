import Combine
import ReboundTesting
import StreamSupport

/// A scheduler that does what was scheduled last first: the worst that a concurrent queue may do, every time.
///
/// Unchecked, because the lock guards every access.
final class BackwardScheduler: Scheduler, @unchecked Sendable {
  private let lock = Lock()
  private var jobs: [() -> Void] = []

  var now: VirtualTime { .start }
  var minimumTolerance: VirtualTime.Stride { .zero }
  var jobCount: Int { lock.withLock { jobs.count } }

  func schedule(options: Never?, _ action: @escaping () -> Void) {
    lock.withLock { jobs.append(action) }
  }

  func schedule(
    after date: VirtualTime,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    schedule(options: nil, action)
  }

  func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    let isCancelled = Shared(false)
    schedule(options: nil) { if !isCancelled.value { action() } }
    return AnyCancellable { isCancelled.value = true }
  }

  func run() {
    while let job = lock.withLock({ jobs.popLast() }) { job() }
  }
}
