import Combine
import Rebound
import StreamSupport

/// Who reads lines, and the lines that wait for it: the last ones, if it is slow.
final class LineReader: Sendable {
  private struct State {
    /// As a ring: the oldest line is at `start` once there are as many as the limit.
    var waiting: [String] = []
    var start = 0
    var lost = 0
    /// Entered while somebody hands on lines, or is about to.
    var loop = DrainLoop()
    var isOver = false
    var timer: (any Cancellable)?

    mutating func add(_ line: String, limit: Int) {
      guard waiting.count == limit else { return waiting.append(line) }
      waiting[start] = line
      start = (start + 1) % limit
      lost += 1
    }

    mutating func takeAll() -> (lost: Int, lines: [String]) {
      let all = (lost, Array(waiting[start...] + waiting[..<start]))
      (waiting, start, lost) = ([], 0, 0)
      return all
    }
  }

  private let limit: Int
  private let time: TimeSource
  private let tellLoss: @Sendable (Int) -> String
  private let receive: @Sendable (String) -> Void
  private let state = Locked(State())
  private let turns = Turns()

  /// - Parameters:
  ///   - limit: How many lines wait at most.
  ///   - time: On whose threads lines are handed on.
  ///   - tellLoss: Writes a line that says how many lines were lost.
  ///   - receive: Gets the lines, one at a time.
  init(
    limit: Int,
    time: TimeSource,
    tellingLoss tellLoss: @escaping @Sendable (Int) -> String,
    _ receive: @escaping @Sendable (String) -> Void
  ) {
    self.limit = max(limit, 1)
    self.time = time
    self.tellLoss = tellLoss
    self.receive = receive
  }

  /// Keeps a line, in the place of the oldest one if there are too many; calls nobody.
  ///
  /// - Returns: Whether the caller has to call ``wake()``, with no lock held.
  func add(_ line: String) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.add(line, limit: limit)
      return state.loop.enter()
    }
  }

  /// Has the lines handed on soon, in turns with whoever else uses those threads.
  func wake() {
    askForTurn { self.turns.take({ self.handOn() }, asking: { self.askForTurn($0) }) }
  }

  private func askForTurn(_ turn: @escaping @Sendable () -> Void) {
    keep(time.after(.zero, turn))
  }

  /// Hands on no more lines than the one under way.
  func end() {
    let rest = state.withLock { state in
      let rest = (state.timer, state.takeAll())
      state.isOver = true
      state.timer = nil
      return rest
    }
    rest.0?.cancel()
  }

  private func keep(_ timer: any Cancellable) {
    let before = state.withLock { state in
      let before = state.timer
      if !state.isOver { state.timer = timer }
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// - Returns: Whether others have come meanwhile; as fast as they are handed on, they would keep the thread for ever.
  private func handOn() -> Bool {
    let (lost, lines) = state.withLock { $0.takeAll() }
    if lost > 0 { hand(tellLoss(lost)) }
    for line in lines { hand(line) }
    return state.withLock { $0.loop.next($0.waiting.first) != nil }
  }

  private func hand(_ line: String) {
    if !state.withLock({ $0.isOver }) { receive(line) }
  }
}
