/// What does the work of dispatch queues, operation queues and run loops on a thread that a simulation has.
package protocol DivertedQueues: Sendable {
  /// Nanoseconds since some beginning, which is never later than the machine's start seems to be.
  var uptimeNanoseconds: UInt64 { get }

  /// Does work once, after so many nanoseconds; behind what was scheduled for the same queue before, if the delay is `nil`.
  func schedule(on queue: DivertedQueue, after delay: Int?, _ action: @escaping () -> Void)

  /// Does work after so many nanoseconds and again after each interval, until what is returned is called.
  func schedule(
    on queue: DivertedQueue,
    after delay: Int,
    every interval: Int,
    _ action: @escaping () -> Void
  ) -> () -> Void

  /// Is told of each sink that has a subscription from now on, and how to see whether it has neither ended nor been
  /// cancelled.
  func note<Sink: AnyObject>(_ sink: Sink, isOpen: @escaping (Sink) -> Bool)
}

/// Whose work it is.
package enum DivertedQueue {
  /// That of the main thread.
  case main
  /// That of a queue which does one thing after the other.
  case serial(AnyObject)
  /// That of a queue which does many things at a time.
  case concurrent
}

/// Where the work of the system's queues goes instead, on a thread that a simulation has.
package enum QueueDiversion {
  private struct Diversion {
    var queues: @Sendable () -> (any DivertedQueues)? = { nil }
  }

  private static let diversion = Locked(Diversion())
  /// Zero until there is a diversion, so that a program without one pays for a load.
  private static let isDiverted = AtomicWord()

  /// Has work go elsewhere, where a closure says so.
  ///
  /// - Parameter queues: Called on the thread that schedules, or asks for the time; `nil` for the system's own.
  package static func divert(to queues: @escaping @Sendable () -> (any DivertedQueues)?) {
    diversion.withLock { $0.queues = queues }
    isDiverted.set(1)
  }

  /// Where the work of this thread goes, or `nil` for the system's own queues.
  package static var current: (any DivertedQueues)? {
    isDiverted.value == 0 ? nil : diversion.withLock { $0.queues }()
  }
}
