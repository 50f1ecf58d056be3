#if os(Linux)
  import Combine
  import Rebound
  import StreamSupport

  /// The system's queues as one run sees them: each does its work in order, and when it does is a choice of the schedule.
  ///
  /// What is done on the main queue is isolated to the main actor, as it is without a simulation.
  ///
  /// Unchecked, because only the thread of the run comes here.
  final class SimulatedQueues: DivertedQueues, @unchecked Sendable {
    private typealias Work = Confined<() -> Void>

    /// A queue is kept with its work, so that no other takes its address.
    private struct SerialQueue {
      let queue: AnyObject
      let scheduler: SimulatedScheduler
    }

    private let time: TimeSource
    private let uptime: () -> UInt64
    private var serial: [ObjectIdentifier: SerialQueue] = [:]
    private var forMain = Queue<Work>()
    private var mainLoop = DrainLoop()
    private var sinks: [NotedSink] = []
    /// How many were open when they were counted last.
    private var openSinks = 100

    init(time: TimeSource, uptime: @escaping () -> UInt64) {
      self.time = time
      self.uptime = uptime
    }

    var uptimeNanoseconds: UInt64 { uptime() }

    func schedule(on queue: DivertedQueue, after delay: Int?, _ action: @escaping () -> Void) {
      let work = Work(action)
      guard let delay else { return perform(work, on: queue) }
      let place = Confined(queue)
      _ = time.after(.nanoseconds(delay)) { self.perform(work, on: place.value) }
    }

    func schedule(
      on queue: DivertedQueue,
      after delay: Int,
      every interval: Int,
      _ action: @escaping () -> Void
    ) -> () -> Void {
      let (work, place) = (Work(action), Confined(queue))
      let repetition = Repetition(every: .nanoseconds(interval), on: time) { self.perform(work, on: place.value) }
      repetition.wait(for: .nanoseconds(delay))
      return repetition.cancel
    }

    func note<Sink: AnyObject>(_ sink: Sink, isOpen: @escaping (Sink) -> Bool) {
      sinks.append(NotedSink { [weak sink] in sink.flatMap { isOpen($0) ? "\(Sink.self)" : nil } })
      guard sinks.count > 2 * openSinks else { return }
      // So that a program which subscribes again and again keeps none of those that are over.
      sinks.removeAll { $0.typeIfOpen() == nil }
      openSinks = max(sinks.count, 100)
    }

    /// The sinks that have neither ended nor been cancelled.
    var subscriptions: [String] {
      sinks.compactMap { $0.typeIfOpen() }
    }

    private struct NotedSink {
      let typeIfOpen: () -> String?
    }

    private func perform(_ work: Work, on queue: DivertedQueue) {
      switch queue {
      case .concurrent: _ = time.after(.zero) { work.value() }
      case .serial(let queue):
        let id = ObjectIdentifier(queue)
        let known = serial[id] ?? SerialQueue(queue: queue, scheduler: SimulatedScheduler(time: time))
        serial[id] = known
        known.scheduler.schedule(work.value)
      case .main:
        forMain.append(work)
        guard mainLoop.enter() else { return }
        // From a timer, as on the other queues: what is done there sees the values of whoever called the run, and none of
        // the task that happened to be the first.
        _ = time.after(.zero) { Task { await self.workForMain() } }
      }
    }

    @MainActor private func workForMain() async {
      while let next = nextForMain() {
        next.value()
        await Task.yield()
      }
    }

    private func nextForMain() -> Work? {
      mainLoop.next(forMain.popFirst())
    }
  }
#endif
