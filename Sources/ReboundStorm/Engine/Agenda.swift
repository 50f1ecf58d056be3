import Combine
import Rebound
import StreamSupport

/// What is due at which moment, and the virtual time that goes with it: a calendar queue.
///
/// Moments lie in slots of equal length; only those of the slot at hand are kept in order, in a heap. What is due at the
/// same moment comes in the order in which it was entered. What is due behind the end is dropped.
///
/// Unchecked, because a play runs on one thread: it hands its time to nobody but the pipelines that it subscribes to there,
/// and none of those has another.
///
/// - Complexity: Entering is O(1), or O(log *n*) in what the slot at hand holds; taking out is O(log *n*) in that.
final class Agenda: @unchecked Sendable {
  /// What is done.
  enum Event {
    case arrival
    case client(Int)
    case deliver(ServiceAttempt)
    case workDone(ServiceAttempt)
    /// Indirect, so that the others, of which there are many, take one word.
    indirect case outageBegins(ServiceState, _ replica: Int?)
    case timer(Timer)
  }

  /// Somebody's closure, until it is cancelled.
  final class Timer: Cancellable, @unchecked Sendable {
    // Unchecked for the reason of the agenda's.
    @exclusivity(unchecked) fileprivate var action: (@Sendable () -> Void)?

    init(_ action: @escaping @Sendable () -> Void) {
      self.action = action
    }

    func cancel() {
      let action = self.action
      self.action = nil
      withExtendedLifetime(action) {}
    }

    func fire() {
      let action = self.action
      self.action = nil
      action?()
    }
  }

  private static let slotCount = 1 << 16

  /// Nanoseconds since the beginning.
  var now: Int {
    guard let outer else { return ownTime }
    return Self.nanoseconds(outer.time.now)
  }
  @exclusivity(unchecked) private var ownTime = 0
  @exclusivity(unchecked) private var end: Int
  private let slotLength: Int
  @exclusivity(unchecked) private var slots: [[(moment: Int, event: Event)]]
  @exclusivity(unchecked) private var slot = 0
  @exclusivity(unchecked) private var heap = DeadlineHeap<Int, Event>()
  /// Has what is entered done at its time; `nil` if it is taken out of here.
  private let outer: Outer?

  /// A time that moves by itself, and what is done in it.
  struct Outer {
    let time: TimeSource
    let perform: (Event) -> Void
  }

  /// - Parameter outer: Whose time it is; `nil` for its own, which moves as events are taken out.
  init(duration: Double, on outer: Outer? = nil) {
    self.outer = outer
    end = Int(duration * 1e9)
    slotLength = max(end / Self.slotCount + 1, 1_000)
    slots = Array(repeating: [], count: Self.slotCount + 1)
  }

  var seconds: Double { Double(now) * 1e-9 }

  var time: TimeSource {
    if let outer { return outer.time }
    return TimeSource(
      now: { .nanoseconds(self.now) },
      wallClock: { .nanoseconds(self.now) },
      after: { delay, action in
        let timer = Timer(action)
        self.enter(.timer(timer), after: delay)
        return timer
      }
    )
  }

  func enter(_ event: Event, after delay: Duration) {
    enter(event, at: now + max(Self.nanoseconds(delay), 0))
  }

  /// The shortest whole number of them that is not shorter: nothing comes too early.
  private static func nanoseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    // What is later than any end of a play is dropped anyway.
    return Int(clamping: min(seconds, 1_000_000_000)) * 1_000_000_000 + Int((attoseconds + 999_999_999) / 1_000_000_000)
  }

  func enter(_ event: Event, afterSeconds delay: Double) {
    enter(event, at: now + Int(min(max(delay, 0), 1e9) * 1e9))
  }

  private func enter(_ event: Event, at moment: Int) {
    guard moment < end else { return }
    if let outer {
      // Of the agenda's one thread, as all of it.
      let held = Confined(event)
      _ = outer.time.after(.nanoseconds(moment - now)) {
        // What an end has dropped is not done either.
        if self.end > 0 { self.outer?.perform(held.value) }
      }
      return
    }
    let place = moment / slotLength
    if place <= slot { heap.insert(event, at: moment) } else { slots[place].append((moment, event)) }
  }

  /// Goes to the next moment; `nil` at the end.
  func next() -> Event? {
    while true {
      if let (moment, event) = heap.popFirst() {
        ownTime = moment
        return event
      }
      slot += 1
      guard slot < slots.count else { return nil }
      guard !slots[slot].isEmpty else { continue }
      let due = slots[slot]
      slots[slot] = []
      heap.reserveCapacity(due.count)
      for (moment, event) in due { heap.insert(event, at: moment) }
    }
  }

  /// What is entered from here on is dropped.
  func close() {
    end = 0
  }
}
