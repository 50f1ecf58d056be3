/// A retry budget as an amount: a share of the requests of the last steps, less the retries that wait or were made in them.
struct FluidBudget {
  private let ratio: Double
  private let floor: Double
  private var requests: FluidWindow
  private var retries: FluidWindow
  private var waiting = 0.0

  init(ratio: Double, processes: Int, steps: Int, _ stepCount: Int) {
    self.ratio = ratio
    floor = Double(processes)
    requests = FluidWindow(steps: steps, stepCount)
    retries = requests
  }

  mutating func begin(_ new: Double, _ again: Double, at step: Int) {
    requests.add(new, at: step)
    retries.add(again, at: step)
    waiting = max(waiting - again, 0)
    requests.move(past: step)
    retries.move(past: step)
  }

  mutating func grant(_ amount: Double) -> Double {
    let granted = min(amount, max(floor + ratio * requests.recent - waiting - retries.recent, 0))
    waiting += granted
    return granted
  }
}
