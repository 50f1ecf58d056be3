/// An adaptive throttle as an amount.
///
/// As the throttle itself, it counts what has ended: who waits at the service says nothing yet.
struct FluidThrottle {
  private let factor: Double
  private let processes: Double
  /// What has failed, refused here included, by when that is known.
  private var failures: FluidWindow
  private var accepts: FluidWindow

  init(_ settings: PolicySettings.Throttle, processes: Int, steps: Int, _ stepCount: Int) {
    factor = settings.factor
    self.processes = Double(processes)
    failures = FluidWindow(steps: steps, stepCount)
    accepts = failures
  }

  var refusedShare: Double {
    let requests = failures.recent + accepts.recent
    return min(max(0, (requests - factor * accepts.recent) / (requests + processes)), 0.9)
  }

  mutating func accept(_ amount: Double, at step: Int) { accepts.add(amount, at: step) }

  mutating func fail(_ amount: Double, at step: Int) { failures.add(amount, at: step) }

  /// Goes to the next step.
  mutating func move(from step: Int) {
    failures.move(past: step)
    accepts.move(past: step)
  }
}
