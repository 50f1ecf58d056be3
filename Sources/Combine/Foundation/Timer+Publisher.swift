#if Foundation
  import Foundation
  import StreamSupport

  extension Timer {
    /// A publisher of the present date, again and again once it is connected.
    ///
    /// - Parameters:
    ///   - interval: the seconds from connecting to the first date, and from each date to the next; 0.0001 if that is not
    ///     above 0.
    ///   - tolerance: not used, as in Apple's Combine; the initializer of ``TimerPublisher`` takes one.
    ///   - runLoop: where the dates are published.
    ///   - mode: the mode in which the run loop does so.
    ///   - options: there are none.
    /// - Demand: dates that a subscriber did not ask for are dropped.
    /// - Failure: there is none, and no end.
    /// - Threads: dates come on the thread of the run loop.
    public static func publish(
      every interval: TimeInterval,
      tolerance: TimeInterval? = nil,
      on runLoop: RunLoop,
      in mode: RunLoop.Mode,
      options: RunLoop.SchedulerOptions? = nil
    ) -> TimerPublisher {
      TimerPublisher(interval: interval, runLoop: runLoop, mode: mode, options: options)
    }

    /// A publisher of the present date, again and again once it is connected.
    ///
    /// It never ends. Each connection has a timer of its own. Cancelling one of them ends the subscriptions of all
    /// subscribers, without a completion, as in Apple's Combine.
    public final class TimerPublisher: ConnectablePublisher {
      /// It publishes dates.
      public typealias Output = Date
      /// It can't fail.
      public typealias Failure = Never

      /// The seconds from one date to the next.
      public let interval: TimeInterval
      /// The seconds by which a date may come late; 0 if nil.
      public let tolerance: TimeInterval?
      /// Where the dates are published.
      public let runLoop: RunLoop
      /// The mode in which the run loop does so.
      public let mode: RunLoop.Mode
      /// There are none.
      public let options: RunLoop.SchedulerOptions?

      private let lock = Lock()
      // Guarded by `lock`, in the order of their subscription.
      private var subscriptions: [TimerSubscription] = []

      /// Makes a publisher of dates.
      ///
      /// - Parameters:
      ///   - interval: the seconds from connecting to the first date, and from each date to the next; 0.0001 if that is
      ///     not above 0.
      ///   - tolerance: the seconds by which a date may come late; 0 if nil.
      ///   - runLoop: where the dates are published.
      ///   - mode: the mode in which the run loop does so.
      ///   - options: there are none.
      public init(
        interval: TimeInterval,
        tolerance: TimeInterval? = nil,
        runLoop: RunLoop,
        mode: RunLoop.Mode,
        options: RunLoop.SchedulerOptions? = nil
      ) {
        self.interval = interval
        self.tolerance = tolerance
        self.runLoop = runLoop
        self.mode = mode
        self.options = options
      }

      /// Attaches a subscriber, which gets dates as long as there is a connection.
      public func receive<S>(subscriber: S) where S: Subscriber, S.Failure == Never, S.Input == Date {
        let subscription = TimerSubscription(of: self, to: AnySubscriber(subscriber))
        lock.withLock { subscriptions.append(subscription) }
        subscriber.receive(subscription: subscription)
      }

      /// Starts a timer.
      ///
      /// - Returns: a handle that stops it, and ends all subscriptions.
      public func connect() -> any Cancellable {
        let period = interval.asPeriod
        let date = Date(timeIntervalSinceNow: period)
        let timer = RunLoopTimer(on: runLoop, in: mode, at: date, every: period, tolerance: tolerance ?? 0) {
          self.tick()
        }
        return TimerConnection(timer, of: self)
      }

      private func tick() {
        let date = Date()
        for subscription in lock.withLock({ subscriptions }) { subscription.deliver(date) }
      }

      fileprivate func remove(_ subscription: TimerSubscription) {
        lock.withLock { subscriptions.removeAll { $0 === subscription } }
      }

      fileprivate func removeAll() {
        let removed = lock.withLock {
          let subscriptions = self.subscriptions
          self.subscriptions = []
          return subscriptions
        }
        for subscription in removed { subscription.cancel() }
      }
    }
  }

  /// A running timer.
  private final class TimerConnection: Cancellable {
    private let timer: RunLoopTimer
    /// Nil once it is cancelled.
    private let publisher: Locked<Timer.TimerPublisher?>

    init(_ timer: RunLoopTimer, of publisher: Timer.TimerPublisher) {
      self.timer = timer
      self.publisher = Locked(publisher)
    }

    func cancel() {
      timer.cancel()
      publisher.exchange(nil)?.removeAll()
    }
  }

  /// One subscriber of a timer.
  private final class TimerSubscription: Subscription {
    // What the subscriber asked for and did not get yet; closed once it has cancelled.
    private let ledger = DemandCounter()
    private let lock = Lock()
    // Guarded by `lock`, emptied on cancellation.
    private var downstream: AnySubscriber<Date, Never>?
    private weak var publisher: Timer.TimerPublisher?

    init(of publisher: Timer.TimerPublisher, to downstream: AnySubscriber<Date, Never>) {
      self.publisher = publisher
      self.downstream = downstream
    }

    func deliver(_ date: Date) {
      guard ledger.takeOne(), let downstream = lock.withLock({ self.downstream }) else { return }
      ledger.add(downstream.receive(date))
    }

    func request(_ demand: Subscribers.Demand) {
      ledger.add(demand)
    }

    func cancel() {
      guard ledger.close() != nil else { return }
      publisher?.remove(self)
      lock.lock()
      let downstream = downstream
      self.downstream = nil
      lock.unlock()
      // Outside the lock: subscribers may run code of their own when they go.
      withExtendedLifetime(downstream) {}
    }
  }
#endif
