import Rebound
import StreamSupport

/// Does jobs one after the other, whichever threads they come from, and never one inside another.
///
/// All that a job does has the store's time for its own (`TimeSource.current`).
final class JobQueue<Job>: Sendable {
  private enum Phase {
    case idle
    /// Somebody has asked the scheduler for a run that has not come yet.
    case scheduled
    /// Some thread does what waits, and will see what is added meanwhile.
    case running
  }

  private struct State {
    var phase = Phase.idle
    var waiting = Queue<Job>()

    mutating func next() -> Job? {
      if waiting.isEmpty { phase = .idle }
      return waiting.popFirst()
    }
  }

  private let home: Home
  private let state = Locked(State())

  init(home: Home) {
    self.home = home
  }

  /// Adds a job and sees to it that it is done: before this returns, when called at home and not from inside a job.
  ///
  /// - Parameter perform: Does one job. The same for all jobs of one queue.
  func add(_ job: Job, perform: @escaping (Job) -> Void) {
    let isHome = home.isHere
    let before = state.withLock { state in
      state.waiting.append(job)
      let before = state.phase
      if before == .idle, !isHome { state.phase = .scheduled }
      return before
    }
    switch before {
    case .running: break
    case .idle, .scheduled:
      // A run that is scheduled and comes later finds nothing left.
      if isHome {
        run(perform)
      } else if before == .idle {
        home.perform { [self] in run(perform) }
      }
    }
  }

  private func run(_ perform: (Job) -> Void) {
    let isFirst = state.withLock { state in
      guard state.phase != .running else { return false }
      state.phase = .running
      return true
    }
    guard isFirst else { return }
    TimeSource.$current.withValue(home.time) {
      while let job = state.withLock({ $0.next() }) { perform(job) }
    }
  }
}
