import Dispatch
import Foundation
import Synchronization

/// Threads that start their work together, round after round.
///
/// They live as long as the crew, so that a round costs no thread.
final class Crew: Sendable {
  /// Unchecked, because the semaphores hand the work over and back.
  private final class Seat: @unchecked Sendable {
    let start = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    var work: (() -> Void)?
  }

  private let seats: [Seat]
  private let awaited = Countdown()

  /// How many threads the barrier waits for.
  private final class Countdown: Sendable {
    let count = Atomic<Int>(0)
  }

  init(size: Int) {
    seats = (0..<size).map { _ in Seat() }
    for seat in seats {
      Thread.detachNewThread { [awaited] in
        while true {
          seat.start.wait()
          guard Self.work(at: seat, with: awaited) else { return }
          seat.done.signal()
        }
      }
    }
  }

  /// Does the work of one round, and lets go of it before anybody hears that it is done.
  private static func work(at seat: Seat, with awaited: Countdown) -> Bool {
    guard let work = seat.work else { return false }
    seat.work = nil
    // The barrier: nobody begins before all are awake.
    awaited.count.subtract(1, ordering: .acquiringAndReleasing)
    while awaited.count.load(ordering: .acquiring) > 0 { sched_yield() }
    work()
    return true
  }

  deinit {
    for seat in seats { seat.start.signal() }
  }

  /// Runs the bodies at the same time, and returns when all have.
  ///
  /// - Returns: Whether all have returned; false means that they wait for each other for ever.
  func run(_ bodies: [() -> Void]) -> Bool {
    awaited.count.store(bodies.count, ordering: .releasing)
    for (seat, body) in zip(seats, bodies) {
      seat.work = body
      seat.start.signal()
    }
    // The limit is there for the day that threads lock each other up; nothing measures it.
    return zip(seats, bodies).allSatisfy { seat, _ in seat.done.wait(timeout: .now() + .seconds(60)) == .success }
  }
}
