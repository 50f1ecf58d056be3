import Foundation
import WebServer

/// A timer for which time passes only when a test says so.
public final class ManualTimer: ServerTimer {
  private struct Entry {
    let due: Duration
    let work: @Sendable () -> Void
  }

  private struct State {
    var now: Duration = .zero
    var entries: [Entry] = []
  }

  private let state = Locked(State())
  private let scheduled = Signal()

  /// Makes a timer at time zero.
  public init() {}

  /// Keeps `work` until time has passed.
  public func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.entries.append(Entry(due: $0.now + delay, work: work)) }
    scheduled.give()
  }

  /// Waits until one more piece of work has been scheduled since the last wait.
  public func waitForWork() async throws {
    try await scheduled.wait()
  }

  /// Lets time pass, and runs what falls due, in order.
  public func advance(by duration: Duration) {
    let end = state.withLock { $0.now + duration }
    while let entry = nextEntry(until: end) { entry() }
    state.withLock { $0.now = end }
  }

  private func nextEntry(until end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      let due = state.entries.indices.filter { state.entries[$0].due <= end }
      guard let next = due.min(by: { state.entries[$0].due < state.entries[$1].due }) else { return nil }
      let entry = state.entries.remove(at: next)
      state.now = max(state.now, entry.due)
      return entry.work
    }
  }
}
