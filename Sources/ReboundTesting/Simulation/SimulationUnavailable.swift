/// This toolchain or platform lacks something that a ``Simulation`` stands on.
public struct SimulationUnavailable: Error, Hashable, CustomStringConvertible {
  /// What is missing.
  public let missing: String

  /// What is missing, and where simulations run.
  public var description: String {
    "No simulation here: \(missing). Simulations run on Linux, with Swift 6.3 or later."
  }
}
