import StreamSupport
import Synchronization

/// An operator that delivers values and the end on a scheduler, at the next opportunity or after a pause.
///
/// - The subscription passes at once, and so do requests and cancellation.
/// - One job is scheduled for each value and for the end; see ``OrderedMailbox`` for their order.
/// - A cancel drops what has not been delivered. After the upstream has ended it does nothing, as in Apple's Combine.
@usableFromInline
final class ReceiveOnSubscriber<Context: Scheduler, Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  /// How long to wait, and how exactly.
  @usableFromInline typealias Pause = (
    interval: Context.SchedulerTimeType.Stride, tolerance: Context.SchedulerTimeType.Stride
  )

  @usableFromInline let label: String?
  @usableFromInline let scheduler: Context
  @usableFromInline let options: Context.SchedulerOptions?
  @usableFromInline let pause: Pause?
  @usableFromInline let downstream: Downstream
  @usableFromInline let mailbox = OrderedMailbox<MailboxEvent<Input, Failure>>()

  @inlinable
  init(
    _ label: String?,
    to downstream: Downstream,
    on scheduler: Context,
    _ options: Context.SchedulerOptions?,
    after pause: Pause? = nil
  ) {
    self.label = label
    self.downstream = downstream
    self.scheduler = scheduler
    self.options = options
    self.pause = pause
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    // A value may be on its way as soon as one is requested, and must not come in before the subscriber is ready.
    mailbox.combiningLock.pass { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    mailbox.post(.value(input))
    scheduleDelivery()
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    mailbox.postLast(.completion(completion))
    scheduleDelivery()
  }

  @inlinable @inline(__always)
  func scheduleDelivery() {
    if let pause {
      scheduler.schedule(
        after: scheduler.now.advanced(by: pause.interval),
        tolerance: pause.tolerance,
        options: options
      ) { self.deliverOldest() }
    } else {
      scheduler.schedule(options: options) { self.deliverOldest() }
    }
  }

  @inlinable
  func deliverOldest() {
    mailbox.deliverOldest { event in
      switch event {
      case .value(let input):
        let more = downstream.receive(input)
        if more != .none { held?.request(more) }
      case .completion(let completion):
        downstream.receive(completion: completion)
      }
    }
  }

  @usableFromInline
  override func cancel() {
    guard let upstream = end() else { return }
    mailbox.close()
    upstream.cancel()
  }

  @usableFromInline override var name: String { label ?? super.name }
}
