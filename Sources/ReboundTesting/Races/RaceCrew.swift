import Dispatch
import Foundation
import StreamSupport

/// Threads that start their work together, round after round.
///
/// They live as long as the crew, so that a round costs no thread. ``race(rounds:seed:_:)`` has one; a test that draws
/// its own rounds may use one directly.
public final class RaceCrew: Sendable {
  private final class Seat: Sendable {
    let start = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    private let work = Locked<(() -> Void)?>(nil)

    func give(_ work: @escaping () -> Void) { self.work.withLock { $0 = work } }

    func take() -> (() -> Void)? {
      work.withLock { work in
        defer { work = nil }
        return work
      }
    }
  }

  /// How many threads the barrier waits for.
  private final class Barrier: Sendable {
    private let awaited = Locked(0)

    func expect(_ count: Int) { awaited.withLock { $0 = count } }

    /// Returns when all are here.
    func wait() {
      awaited.withLock { $0 -= 1 }
      while awaited.withLock({ $0 > 0 }) { sched_yield() }
    }
  }

  private let seats: [Seat]
  private let barrier = Barrier()

  /// Starts the threads.
  ///
  /// - Parameter size: How many bodies a round has at most.
  public init(size: Int) {
    seats = (0..<max(size, 0)).map { _ in Seat() }
    for seat in seats {
      Thread.detachNewThread { [barrier] in
        while true {
          seat.start.wait()
          guard Self.work(at: seat, behind: barrier) else { return }
          seat.done.signal()
        }
      }
    }
  }

  /// Does the work of one round, and lets go of it before anybody hears that it is done.
  private static func work(at seat: Seat, behind barrier: Barrier) -> Bool {
    guard let work = seat.take() else { return false }
    barrier.wait()
    work()
    return true
  }

  deinit {
    for seat in seats { seat.start.signal() }
  }

  /// How many bodies a round has at most.
  public var size: Int { seats.count }

  /// Runs the bodies at the same time, each on a thread of its own, and returns when all have.
  ///
  /// The bodies need not be Sendable: whether what they share stands it is what a race is to find out.
  ///
  /// - Parameters:
  ///   - bodies: No more than the crew's size; those beyond it are not run.
  ///   - limit: How long to wait for them in real time, for the day that they wait for each other for ever.
  /// - Returns: Whether all have returned. After `false` the crew is of no more use.
  public func run(_ bodies: [() -> Void], limit: DispatchTimeInterval = .seconds(60)) -> Bool {
    let pairs = Array(zip(seats, bodies))
    barrier.expect(pairs.count)
    for (seat, body) in pairs {
      seat.give(body)
      seat.start.signal()
    }
    let deadline = DispatchTime.now() + limit
    return pairs.allSatisfy { seat, _ in seat.done.wait(timeout: deadline) == .success }
  }
}
