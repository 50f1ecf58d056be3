import Combine
import Dispatch
import ReboundTesting
import StreamSupport

/// Runs all bodies at the same time, each on a thread of its own with random numbers of its own, and waits for them.
func race(seed: UInt64, _ bodies: [(inout SeededRandom) -> Void]) {
  let shared = SharedUnchecked(bodies)
  DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
    var numbers = SeededRandom(seed: seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
    shared.value[index](&numbers)
  }
}

/// Takes a value to other threads.
///
/// Unchecked, because what is shared here is made for that: subjects and subscribers.
struct SharedUnchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// A subscriber for races, which looks at the laws: one event at a time, no value that was not asked for, nothing after
/// the end.
///
/// Unchecked, because the lock guards all that changes.
final class LawKeeper<Input, Failure: Error>: Subscriber, @unchecked Sendable {
  private let lock = Lock()
  private var subscription: (any Subscription)?
  private var owed = Subscribers.Demand.none
  private var isInside = false
  private var hasEnded = false
  private var brokenLaws: [String] = []
  private var received = 0
  private let more: Subscribers.Demand

  /// - Parameter more: what each value is answered with.
  init(answering more: Subscribers.Demand = .none) {
    self.more = more
  }

  var breaches: [String] { lock.withLock { brokenLaws } }
  var valueCount: Int { lock.withLock { received } }
  var isOver: Bool { lock.withLock { hasEnded } }

  func receive(subscription: any Subscription) {
    lock.withLock { self.subscription = subscription }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    lock.withLock {
      if isInside { brokenLaws.append("two events at once") }
      if hasEnded { brokenLaws.append("a value after the end") }
      if owed == .none { brokenLaws.append("a value beyond the demand") }
      owed = owed == .none ? .none : owed - 1
      received += 1
      isInside = true
    }
    return lock.withLock {
      isInside = false
      owed += more
      return more
    }
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    lock.withLock {
      if isInside { brokenLaws.append("the end at the same time as a value") }
      if hasEnded { brokenLaws.append("a second end") }
      hasEnded = true
    }
  }

  func request(_ demand: Subscribers.Demand) {
    let subscription = lock.withLock {
      owed += demand
      return self.subscription
    }
    subscription?.request(demand)
  }

  func cancel() {
    lock.withLock { subscription }?.cancel()
  }
}
