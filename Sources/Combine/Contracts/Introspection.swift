import StreamSupport
import Synchronization

/// Watches what publishers, subscribers and subscriptions say to each other, for debugging tools.
///
/// What is subscribed while at least one watcher is enabled is watched from then on; `will` is called before the event,
/// `did` after it, so events caused by others lie between. Attaching with `receive(subscriber:)` instead of
/// `subscribe(_:)` is not watched.
public protocol _Introspection: AnyObject {
  /// A subscriber is about to be attached to a publisher.
  func willReceive<P, S>(publisher: P, subscriber: S)
  where P: Publisher, S: Subscriber, P.Failure == S.Failure, P.Output == S.Input

  /// A subscriber was attached to a publisher.
  func didReceive<P, S>(publisher: P, subscriber: S)
  where P: Publisher, S: Subscriber, P.Failure == S.Failure, P.Output == S.Input

  /// A subscriber is about to receive its subscription.
  func willReceive<S>(subscriber: S, subscription: any Subscription) where S: Subscriber

  /// A subscriber received its subscription.
  func didReceive<S>(subscriber: S, subscription: any Subscription) where S: Subscriber

  /// A subscriber is about to receive a value.
  func willReceive<S>(subscriber: S, input: S.Input) where S: Subscriber

  /// A subscriber received a value and answered with a demand.
  func didReceive<S>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand) where S: Subscriber

  /// A subscriber is about to receive the end.
  func willReceive<S>(subscriber: S, completion: Subscribers.Completion<S.Failure>) where S: Subscriber

  /// A subscriber received the end.
  func didReceive<S>(subscriber: S, completion: Subscribers.Completion<S.Failure>) where S: Subscriber

  /// A subscription is about to be asked for values.
  func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand)

  /// A subscription was asked for values.
  func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand)

  /// A subscription is about to be cancelled.
  func willCancel(subscription: any Subscription)

  /// A subscription was cancelled.
  func didCancel(subscription: any Subscription)
}

extension _Introspection {
  /// Does nothing.
  public func willReceive<P, S>(publisher: P, subscriber: S)
  where P: Publisher, S: Subscriber, P.Failure == S.Failure, P.Output == S.Input {}

  /// Does nothing.
  public func didReceive<P, S>(publisher: P, subscriber: S)
  where P: Publisher, S: Subscriber, P.Failure == S.Failure, P.Output == S.Input {}

  /// Does nothing.
  public func willReceive<S>(subscriber: S, subscription: any Subscription) where S: Subscriber {}

  /// Does nothing.
  public func didReceive<S>(subscriber: S, subscription: any Subscription) where S: Subscriber {}

  /// Does nothing.
  public func willReceive<S>(subscriber: S, input: S.Input) where S: Subscriber {}

  /// Does nothing.
  public func didReceive<S>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand) where S: Subscriber {}

  /// Does nothing.
  public func willReceive<S>(subscriber: S, completion: Subscribers.Completion<S.Failure>) where S: Subscriber {}

  /// Does nothing.
  public func didReceive<S>(subscriber: S, completion: Subscribers.Completion<S.Failure>) where S: Subscriber {}

  /// Does nothing.
  public func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {}

  /// Does nothing.
  public func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {}

  /// Does nothing.
  public func willCancel(subscription: any Subscription) {}

  /// Does nothing.
  public func didCancel(subscription: any Subscription) {}

  /// Starts watching; the watcher is kept until ``disable()``.
  public func enable() { watchers.add(self) }

  /// Stops watching.
  public func disable() { watchers.remove(self) }

  /// Whether this watches.
  public var isEnabled: Bool { watchers.all.contains { $0 === self } }
}

/// Whether anybody watches: all that a subscription pays if nobody does.
@usableFromInline let isWatched = Atomic<Bool>(false)

private let watchers = Watchers()

/// All enabled watchers, in the order in which they were enabled.
///
/// Each says itself what threads it can stand.
private final class Watchers: Sendable {
  private let list = Locked<[any _Introspection]>([])

  var all: [any _Introspection] { list.withLock { $0 } }

  func add(_ watcher: any _Introspection) {
    list.withLock { list in
      if !list.contains(where: { $0 === watcher }) { list.append(watcher) }
      isWatched.store(true, ordering: .relaxed)
    }
  }

  func remove(_ watcher: any _Introspection) {
    list.withLock { list in
      // The caller holds the watcher, so it does not go under the lock.
      list.removeAll { $0 === watcher }
      isWatched.store(!list.isEmpty, ordering: .relaxed)
    }
  }
}

extension Publisher {
  /// Attaches a subscriber through a tap that tells the watchers.
  @usableFromInline @inline(never)
  func subscribeWatched<S>(_ subscriber: S) where S: Subscriber, Failure == S.Failure, Output == S.Input {
    for watcher in watchers.all { watcher.willReceive(publisher: self, subscriber: subscriber) }
    // A publisher may hand on the tap that it got, erased or not, by `subscribe`: one tap is enough for one subscriber.
    let erased = (subscriber as? AnySubscriber<Output, Failure>)?.erased.subject
    if (erased ?? subscriber) is any SubscriberTap {
      receive(subscriber: subscriber)
    } else {
      receive(subscriber: Tap(subscriber))
    }
    for watcher in watchers.all { watcher.didReceive(publisher: self, subscriber: subscriber) }
  }
}

/// A subscriber whose events the watchers are told already.
private protocol SubscriberTap {}

/// Stands before a subscriber and tells the watchers what it receives.
private struct Tap<Watched: Subscriber>: Subscriber, SubscriberTap, CustomStringConvertible {
  let watched: Watched

  init(_ watched: Watched) {
    self.watched = watched
  }

  func receive(subscription: any Subscription) {
    for watcher in watchers.all { watcher.willReceive(subscriber: watched, subscription: subscription) }
    watched.receive(subscription: SubscriptionTap(subscription))
    for watcher in watchers.all { watcher.didReceive(subscriber: watched, subscription: subscription) }
  }

  func receive(_ input: Watched.Input) -> Subscribers.Demand {
    for watcher in watchers.all { watcher.willReceive(subscriber: watched, input: input) }
    let demand = watched.receive(input)
    for watcher in watchers.all { watcher.didReceive(subscriber: watched, input: input, resultingDemand: demand) }
    return demand
  }

  func receive(completion: Subscribers.Completion<Watched.Failure>) {
    for watcher in watchers.all { watcher.willReceive(subscriber: watched, completion: completion) }
    watched.receive(completion: completion)
    for watcher in watchers.all { watcher.didReceive(subscriber: watched, completion: completion) }
  }

  var combineIdentifier: CombineIdentifier { watched.combineIdentifier }
  var description: String { "\(watched)" }
}

/// Stands before a subscription and tells the watchers what it is asked.
private struct SubscriptionTap: Subscription, CustomStringConvertible {
  let watched: any Subscription

  init(_ watched: any Subscription) {
    self.watched = watched
  }

  func request(_ demand: Subscribers.Demand) {
    for watcher in watchers.all { watcher.willRequest(subscription: watched, demand) }
    watched.request(demand)
    for watcher in watchers.all { watcher.didRequest(subscription: watched, demand) }
  }

  func cancel() {
    for watcher in watchers.all { watcher.willCancel(subscription: watched) }
    watched.cancel()
    for watcher in watchers.all { watcher.didCancel(subscription: watched) }
  }

  var combineIdentifier: CombineIdentifier { watched.combineIdentifier }
  var description: String { "\(watched)" }
}
