import Synchronization

/// Counts what is alive of the objects that it made.
final class LifetimeTracker: Sendable {
  private let living = Atomic<Int>(0)

  var count: Int { living.load(ordering: .acquiring) }

  func make() -> Tracked { Tracked(self) }

  /// An object that is counted as long as it lives.
  final class Tracked: Sendable {
    private let tracker: LifetimeTracker

    fileprivate init(_ tracker: LifetimeTracker) {
      self.tracker = tracker
      tracker.living.add(1, ordering: .acquiringAndReleasing)
    }

    /// For closures that are to keep the object and have no other use for it.
    func touch() {}

    deinit { tracker.living.subtract(1, ordering: .acquiringAndReleasing) }
  }
}

/// A value that says who sent it when, and whose life is counted.
struct Parcel: Sendable, Equatable {
  /// The source that it was sent through.
  let source: Int
  /// The thread that sent it.
  let sender: Int
  /// How many this sender sent through this source before.
  let number: Int
  let tracked: LifetimeTracker.Tracked

  static func == (left: Parcel, right: Parcel) -> Bool { left.tracked === right.tracked }
}

struct StressFailure: Error, Equatable {}
