/// Decides who goes next.
protocol SchedulingStrategy {
  /// - Parameters:
  ///   - lanes: Whose those are that can run, more than one: first who goes on unless there is a switch, then the others in
  ///     the order of arrival.
  ///   - runningLane: Who ran last.
  /// - Returns: A place in `lanes`.
  mutating func choose(among lanes: [Int], runningLane: Int) -> Int
}

/// Each that can run is as likely as the others.
struct RandomWalk: SchedulingStrategy {
  var random: SeededRandom

  mutating func choose(among lanes: [Int], runningLane: Int) -> Int { Int.random(in: lanes.indices, using: &random) }
}

/// Probabilistic concurrency testing: the one with the highest priority runs, and at a few moments that chance chose the one
/// that runs falls behind all others.
///
/// It finds a fault that needs *d* orders of steps with a probability of at least 1 / (*n* · *k* ^ (*d* − 1)), for *n* tasks
/// and *k* decisions. Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic
/// Guarantees of Finding Bugs", ASPLOS 2010.
struct PriorityWalk: SchedulingStrategy {
  /// After so many decisions for one in a row it has to let the others go first: who polls would starve them.
  private static let patience = 500

  private var random: SeededRandom
  private var priorities: [Int: Int] = [:]
  private var changes: Set<Int>
  private var decision = 0
  private var lowest = 0
  private var favourite = -1
  private var inARow = 0

  init(depth: Int, decisions: Int, random: SeededRandom) {
    var random = random
    changes = Set((1..<max(depth, 2)).map { _ in Int.random(in: 0..<max(decisions, 2), using: &random) })
    if depth < 2 { changes = [] }
    self.random = random
  }

  mutating func choose(among lanes: [Int], runningLane: Int) -> Int {
    for lane in lanes where priorities[lane] == nil { priorities[lane] = Int.random(in: 0..<1 << 40, using: &random) }
    inARow = runningLane == favourite ? inARow + 1 : 0
    favourite = runningLane
    if changes.contains(decision) || inARow > Self.patience {
      lowest -= 1
      priorities[runningLane] = lowest
      inARow = 0
    }
    decision += 1
    // Of two steps of one lane the earlier goes first.
    return lanes.indices.max { left, right in
      (priorities[lanes[left], default: 0], right) < (priorities[lanes[right], default: 0], left)
    } ?? 0
  }
}

/// Does what a schedule says, and switches nowhere else.
struct Replay: SchedulingStrategy {
  private var switches: ArraySlice<Schedule.Switch>
  private var decision = 0

  init(_ schedule: Schedule) {
    switches = schedule.switches[...]
  }

  mutating func choose(among lanes: [Int], runningLane: Int) -> Int {
    defer { decision += 1 }
    guard let next = switches.first, next.decision == decision else { return 0 }
    switches.removeFirst()
    return min(next.choice, lanes.count - 1)
  }
}

/// All schedules of a program, one after the other: depth first, each run the smallest that has not been.
final class ExhaustiveSearch: SchedulingStrategy {
  private var path: [(choice: Int, count: Int)] = []
  private var depth = 0

  func choose(among lanes: [Int], runningLane: Int) -> Int {
    if depth == path.count { path.append((0, lanes.count)) }
    defer { depth += 1 }
    // A program that is not the same each time may have fewer to choose from than before.
    return min(path[depth].choice, lanes.count - 1)
  }

  /// Turns to the next schedule; false if that was the last.
  func next() -> Bool {
    path.removeLast(path.count - depth)
    depth = 0
    while let last = path.popLast() {
      guard last.choice + 1 < last.count else { continue }
      path.append((last.choice + 1, last.count))
      return true
    }
    return false
  }
}
