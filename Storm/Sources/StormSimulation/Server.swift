/// A server that can do so much work in each tick: serving costs one, refusing costs a part of one.
struct Server {
  private let workPerTick: Double
  private let refusalCost: Double
  /// How much work it can still do; below zero, how far it lags behind with refusing.
  private var work: Double
  private let mostWork: Double
  var isDown = false

  init(_ scenario: Scenario) {
    let workPerSecond = scenario.normalLoad * scenario.headroom
    workPerTick = workPerSecond / Double(Tick.perSecond)
    refusalCost = scenario.refusalCost
    // A tenth of a second waits in its queue.
    mostWork = max(workPerSecond / 10, 1)
    work = mostWork
  }

  mutating func beginTick() {
    work = min(work + workPerTick, mostWork)
  }

  /// Whether a request is served.
  mutating func serves() -> Bool {
    if isDown { return false }
    if work >= 1 {
      work -= 1
      return true
    }
    // Whoever finds even the queue of refusals full is not heard at all, and costs nothing.
    work = max(work - refusalCost, -mostWork)
    return false
  }
}
