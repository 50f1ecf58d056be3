/// The sum of what has come in the last steps.
struct FluidWindow {
  private let steps: Int
  /// What comes in each step, some of it known before.
  private var amounts: [Double]
  /// What has come in the steps of the window.
  private(set) var recent = 0.0

  /// - Parameters:
  ///   - steps: How many make the window.
  ///   - stepCount: How many there are in all.
  init(steps: Int, _ stepCount: Int) {
    self.steps = steps
    amounts = Array(repeating: 0, count: stepCount)
  }

  /// So much comes in a step; behind the last one it is nobody's.
  mutating func add(_ amount: Double, at step: Int) {
    if step < amounts.count { amounts[step] += amount }
  }

  /// Takes a step into the window, and lets the oldest fall out of it.
  mutating func move(past step: Int) {
    recent += amounts[step]
    if step >= steps { recent -= amounts[step - steps] }
  }
}
