import Combine
import ReboundTesting

/// A scheduler whose handles do not cancel when they are released, as a protocol that says nothing of it allows, and which does
/// not say itself what its time is.
final class LastingScheduler: Scheduler {
  private let base: TestScheduler
  private var handles: [any Cancellable] = []
  var whileScheduling: () -> Void = {}

  init(base: TestScheduler) {
    self.base = base
  }

  var now: VirtualTime { base.now }
  var minimumTolerance: VirtualTime.Stride { base.minimumTolerance }

  func schedule(options: Never?, _ action: @escaping () -> Void) {
    base.schedule(options: options, action)
  }

  func schedule(
    after date: VirtualTime,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    base.schedule(after: date, tolerance: tolerance, options: options, action)
  }

  func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    let handle = base.schedule(after: date, interval: interval, tolerance: tolerance, options: options, action)
    handles.append(handle)
    whileScheduling()
    return handle
  }
}
