#if Foundation
  import Dispatch
  import Foundation
  import StreamSupport
  import Synchronization

  /// A timer of a run loop, until it is cancelled.
  ///
  /// One of the main loop goes over to the main queue where the main thread has gone (see ``MainThread``).
  final class RunLoopTimer: Cancellable, Sendable {
    /// Where it rings.
    private enum Home {
      case nowhere
      case loop(Timer)
      /// What ends it, if it rings more than once.
      case mainQueue((any Cancellable)?)
      case cancelled
    }

    private let action: TimerAction
    private let home = Locked(Home.nowhere)

    /// Sets a timer.
    ///
    /// - Parameters:
    ///   - loop: Whose thread does the action.
    ///   - mode: In which the loop does it.
    ///   - date: When; what is not a number is the present.
    ///   - period: The seconds from one time to the next, above 0; `nil` for an action that is done once.
    ///   - tolerance: The seconds by which it may be late.
    ///   - action: Let go once it is done, or the timer cancelled.
    init(
      on loop: RunLoop,
      in mode: RunLoop.Mode = .default,
      at date: Date,
      every period: TimeInterval? = nil,
      tolerance: TimeInterval,
      _ action: @escaping () -> Void
    ) {
      let action = TimerAction(action)
      self.action = action
      let ring = { @Sendable in period == nil ? action.runAndLetGo() : action.run() }
      // Foundation's stops the process for what is not a number.
      let date = date.timeIntervalSinceReferenceDate.isNaN ? Date() : date
      let isMain = loop === RunLoop.main && (mode == .default || mode == .common)
      if isMain, MainThread.isGone.load(ordering: .relaxed) {
        goToMainQueue(at: date, every: period, tolerance, ring)
        return
      }
      let timer = Timer(fire: date, interval: period ?? 0, repeats: period != nil) { _ in ring() }
      timer.tolerance = tolerance
      home.withLock { $0 = .loop(timer) }
      loop.add(timer, forMode: mode)
      guard isMain else { return }
      MainThread.whenGone { self.goToMainQueue(at: date, every: period, tolerance, ring) }
    }

    private func goToMainQueue(
      at date: Date,
      every period: TimeInterval?,
      _ tolerance: TimeInterval,
      _ ring: @escaping @Sendable () -> Void
    ) {
      let queue = DispatchQueue.main
      let due = queue.now.advanced(by: .seconds(max(0, date.timeIntervalSinceNow)))
      var source: (any Cancellable)?
      if let period {
        // As a timer of a loop, it goes on until it is cancelled, whoever keeps it.
        source = queue.schedule(after: due, interval: .seconds(period), tolerance: .seconds(tolerance), options: nil) {
          withExtendedLifetime(self, ring)
        }
      } else {
        queue.schedule(after: due, tolerance: .seconds(tolerance), options: nil, ring)
      }
      let last = home.withLock { home in
        let last = home
        if case .cancelled = last { return last }
        home = .mainQueue(source)
        return last
      }
      switch last {
      case .loop(let timer): timer.invalidate()
      case .cancelled: source?.cancel()
      case .nowhere, .mainQueue: break
      }
    }

    func cancel() {
      switch home.exchange(.cancelled) {
      case .loop(let timer): timer.invalidate()
      case .mainQueue(let source): source?.cancel()
      case .nowhere, .cancelled: break
      }
      action.letGo()
    }
  }

  /// The thread that a program begins on, and that the main run loop belongs to.
  ///
  /// `dispatchMain()` ends it on Linux, and so does an asynchronous `main` at its first suspension: other threads serve the
  /// main queue from then on, and nobody can run the main loop any more. On Apple's platforms both run that loop.
  enum MainThread {
    /// Whether it has been seen to be gone; then it is for good.
    static let isGone = Atomic(false)

    /// Does something on the main queue if the thread is gone once the queue comes to it, and nothing otherwise.
    ///
    /// The main loop serves the main queue as long as it runs, so this wakes it up, too.
    static func whenGone(_ action: @escaping @Sendable () -> Void) {
      DispatchQueue.main.async {
        if Thread.isMainThread { return }
        isGone.store(true, ordering: .relaxed)
        action()
      }
    }
  }
#endif
