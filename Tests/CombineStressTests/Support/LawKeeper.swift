import Combine
import Foundation
import StreamSupport

/// Which laws hold for what a chain publishes, besides those that always do.
struct Laws: OptionSet, Sendable {
  let rawValue: Int

  /// No sender's parcel comes twice or late.
  static let strictOrder = Laws(rawValue: 1)
  /// A parcel may come again, but none comes late.
  static let looseOrder = Laws(rawValue: 2)
  /// Never more values than asked for.
  static let demand = Laws(rawValue: 4)
  /// Who was there all the time and asked for everything gets every parcel of every source.
  static let lossless = Laws(rawValue: 8)
  /// The end of all sources is the end of the chain, for who has asked for everything.
  static let ends = Laws(rawValue: 16)

  /// The end may come instead of a subscription, as Apple's prefix(untilOutputFrom:) has it; never before one.
  static let mayEndUnannounced = Laws(rawValue: 32)

  static let all: Laws = [.strictOrder, .demand, .lossless, .ends]
}

/// A subscriber that looks at the laws while threads race.
///
/// Unchecked, because the lock guards all that changes.
final class LawKeeper: Subscriber, @unchecked Sendable {
  private struct Sender: Hashable {
    let source: Int
    let sender: Int
  }

  private let laws: Laws
  // Whether each value is answered with one more, and asks for one from inside.
  private let asksInside: Bool
  private let lock = Lock()
  // All guarded by `lock`.
  private var subscription: (any Subscription)?
  private var owed = Subscribers.Demand.none
  private var inside: Thread?
  private var depth = 0
  private var hasBegun = false
  private var isCancelled = false
  private var ends = 0
  private var count = 0
  private var newest: [Sender: Int] = [:]
  private var broken: [String] = []

  init(_ laws: Laws, asksInside: Bool) {
    self.laws = laws
    self.asksInside = asksInside
  }

  var breaches: [String] { lock.withLock { broken } }
  var valueCount: Int { lock.withLock { count } }
  var hasEnded: Bool { lock.withLock { ends > 0 } }

  // Called under the lock.
  private func enter(_ event: String) {
    if let inside, inside !== Thread.current { broken.append("\(event) while another event is inside") }
    inside = Thread.current
    depth += 1
  }

  // Called under the lock.
  private func leave() {
    depth -= 1
    if depth == 0 { inside = nil }
  }

  func receive(subscription: any Subscription) {
    let held = lock.withLock {
      if hasBegun { broken.append("a second subscription") }
      if ends > 0 { broken.append("a subscription after the end") }
      hasBegun = true
      self.subscription = isCancelled ? nil : subscription
      return (isCancelled, owed)
    }
    if held.0 { subscription.cancel() } else if held.1 > .none { subscription.request(held.1) }
  }

  func receive(_ parcel: Parcel) -> Subscribers.Demand {
    lock.withLock {
      enter("a value")
      if !hasBegun { broken.append("a value before the subscription") }
      if ends > 0 { broken.append("a value after the end") }
      if laws.contains(.demand) {
        if owed == .none { broken.append("a value beyond the demand") } else { owed -= 1 }
      }
      count += 1
      let sender = Sender(source: parcel.source, sender: parcel.sender)
      if let previous = newest[sender] {
        if laws.contains(.strictOrder), parcel.number <= previous {
          broken.append("\(parcel.number) after \(previous)")
        }
        if laws.contains(.looseOrder), parcel.number < previous { broken.append("\(parcel.number) after \(previous)") }
      }
      newest[sender] = parcel.number
    }
    if asksInside { request(.max(1)) }
    return lock.withLock {
      leave()
      guard asksInside else { return .none }
      owed += 1
      return .max(1)
    }
  }

  func receive(completion: Subscribers.Completion<StressFailure>) {
    let held = lock.withLock {
      enter("the end")
      if !hasBegun, !laws.contains(.mayEndUnannounced) { broken.append("the end before the subscription") }
      ends += 1
      if ends > 1 { broken.append("a second end") }
      leave()
      let held = subscription
      subscription = nil
      return held
    }
    withExtendedLifetime(held) {}
  }

  func request(_ demand: Subscribers.Demand) {
    let subscription = lock.withLock {
      owed += demand
      return self.subscription
    }
    subscription?.request(demand)
  }

  func cancel() {
    let subscription = lock.withLock {
      isCancelled = true
      let held = self.subscription
      self.subscription = nil
      return held
    }
    subscription?.cancel()
  }
}
