/// An adaptive throttle as an amount.
///
/// As the throttle itself, it counts what has ended: who waits at the service says nothing yet.
struct FluidThrottle {
  private let factor: Double
  private let processes: Double
  private let steps: Int
  // What has ended within the window, and in each step: what has failed, refused here included, by when that is known.
  private var recentFailures = 0.0
  private var recentAccepts = 0.0
  private var failures: [Double]
  private var accepts: [Double]

  init(_ settings: PolicySettings.Throttle, processes: Int, steps: Int, _ stepCount: Int) {
    factor = settings.factor
    self.processes = Double(processes)
    self.steps = steps
    failures = Array(repeating: 0, count: stepCount)
    accepts = failures
  }

  var refusedShare: Double {
    let requests = recentFailures + recentAccepts
    return min(max(0, (requests - factor * recentAccepts) / (requests + processes)), 0.9)
  }

  mutating func accept(_ amount: Double, at step: Int) { accepts[step] += amount }

  mutating func fail(_ amount: Double, at step: Int) {
    if step < failures.count { failures[step] += amount }
  }

  /// Goes to the next step.
  mutating func move(from step: Int) {
    recentFailures += failures[step]
    recentAccepts += accepts[step]
    guard step >= steps else { return }
    recentFailures -= failures[step - steps]
    recentAccepts -= accepts[step - steps]
  }
}
