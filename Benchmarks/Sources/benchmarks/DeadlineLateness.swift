import Dispatch
import Foundation
import Rebound
import Synchronization

/// How long after its time a deadline of the system's time fires, when many are due at once.
struct DeadlineLateness {
  /// In milliseconds, the shortest first; below zero is early.
  let milliseconds: [Double]

  /// Sets deadlines that are all due at the same moment, and waits for them.
  static func measure(_ count: Int) -> DeadlineLateness {
    let time = TimeSource.system
    let fired = Mutex<[Duration]>([])
    let done = DispatchSemaphore(value: 0)
    let due = time.now + .milliseconds(200)
    let timers = (0..<count).map { _ in
      time.after(due - time.now) {
        let now = time.now
        let isLast = fired.withLock { moments in
          moments.append(now)
          return moments.count == count
        }
        if isLast { done.signal() }
      }
    }
    done.wait()
    withExtendedLifetime(timers) {}
    return DeadlineLateness(milliseconds: fired.withLock { $0 }.map { ($0 - due) / .milliseconds(1) }.sorted())
  }

  /// One line.
  var line: String {
    func at(_ share: Double) -> String {
      String(format: "%.2f", milliseconds[min(Int(Double(milliseconds.count) * share), milliseconds.count - 1)])
    }
    return "\(milliseconds.count) deadlines due at once fired after \(at(0)) ms (first), \(at(0.5)) ms (median), "
      + "\(at(0.99)) ms (99 of 100), \(at(1)) ms (last); early: \(milliseconds.count { $0 < 0 })"
  }
}
