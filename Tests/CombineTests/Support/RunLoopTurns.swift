#if Foundation
  import Foundation

  /// Turns this thread's run loop until a condition holds; says whether it did.
  ///
  /// The turns are short, because a run loop does not return for work that was put on it without a timer. The limit is
  /// there for the day that the condition never holds.
  func turnRunLoop(until condition: () -> Bool) -> Bool {
    let limit = Date(timeIntervalSinceNow: 60)
    while !condition() {
      guard Date() < limit else { return false }
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
    }
    return true
  }
#endif
