import Combine
import StreamSupport

/// The decisions of all policies of a program, or of a part of it, as one stream; and what shared objects hold.
///
///     let events = PolicyEvents()
///     let weather = try Pipeline<Forecast>("weather", events: events) { Retry(.standard) }
///     events.filter { $0.severity >= .warning }.sink { log.notice("\($0)") }.store(in: &subscriptions)
///     for gauge in events.gauges { log.info("\(gauge)") }
///
/// Subscribers may come and go on any thread. Each gets the events that are told from then on, in one order, one at a time,
/// with no lock held, on the threads of those who decide, or on one of the system's where they decide as fast as it is told.
/// Nothing is kept for those who come later or have requested nothing, and nothing is printed.
///
/// A pipeline with these events adds the shared objects that it holds; others are added with ``watch(_:named:)``. They are
/// not kept alive by it.
public final class PolicyEvents: Publisher, Sendable {
  /// What it publishes.
  public typealias Output = PolicyEvent
  /// It never fails, and never ends.
  public typealias Failure = Never

  private let clock: Locked<Clock>
  private let revise: @Sendable (PolicyEvent) -> PolicyEvent?
  private let shared = SharedSubject(PassthroughSubject<PolicyEvent, Never>())
  private let audience = Audience()
  private let executionCount = Locked(0)
  let watched = Shared<WatchedObjects, PolicyEvent>(WatchedObjects())

  /// Makes a stream without subscribers.
  ///
  /// - Parameters:
  ///   - time: Measures when events are told; `nil` for that of the first pipeline with these events that has a time of its
  ///     own, and for ``TimeSource/current``, as it is here, until there is one.
  ///   - revise: Changes events before anybody gets them: their severity, or their text where a log must not hold all of
  ///     it; `nil` leaves one out, to take samples. Called on the threads of those who decide, while somebody listens.
  public init(
    time: TimeSource? = nil,
    revising revise: @escaping @Sendable (PolicyEvent) -> PolicyEvent? = { $0 }
  ) {
    clock = Locked(Clock(time: time ?? .current, isSaid: time != nil))
    self.revise = revise
    watched.observe { [weak self] event in self?.shared.subject.send(event) }
  }

  deinit {
    // What it has watched may live longer, and lets go of what it has left there when somebody else comes to watch it.
    audience.end()
  }

  /// Adds a subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == PolicyEvent, S.Failure == Never {
    let listener = Listener(in: audience)
    // Each who comes sees to it, since whoever has come before may not be through with it.
    for object in watched.read({ $0.objects }) { object.listenerCame() }
    shared.subject.handleEvents(receiveCancel: listener.leave).receive(subscriber: subscriber)
  }

  /// Whether there is a subscriber, for which it is worth while to build an event.
  ///
  /// Reading it costs as good as nothing, so that it can be asked before each decision.
  public var isListened: Bool { audience.isThere }

  /// Tells the subscribers of a decision: for policies of one's own, too.
  ///
  /// - Parameters:
  ///   - decision: What was decided; not built if there is no subscriber.
  ///   - source: The name of the pipeline or the shared object.
  public func tell(_ decision: @autoclosure () -> any PolicyDecision, of source: String) {
    tell(decision(), of: source, at: nil)
  }

  /// Tells them of a decision in an execution.
  ///
  /// - Parameter settle: Completes the place when it is certain which events come before this one, and which behind it; called
  ///   with a lock held.
  func tell(
    _ decision: @autoclosure () -> any PolicyDecision,
    of source: String,
    at place: @autoclosure () -> ExecutionPlace?,
    settling settle: (inout ExecutionPlace?) -> Void = { _ in }
  ) {
    guard isListened else { return }
    let place = place()
    var told = PolicyEvent(decision(), source: source, time: time.now)
    told.place = place
    guard var event = revise(told) else { return }
    // It may be one that was made anew.
    event.place = place
    watched.change { _, untold in
      settle(&event.place)
      untold.append(event)
    }
  }

  /// What events are timed by.
  package var time: TimeSource { clock.withLock { $0.time } }

  func nextExecution() -> ExecutionID {
    executionCount.withLock { count in
      count += 1
      return ExecutionID(count)
    }
  }

  /// Goes by the time of a pipeline from now on, unless a time was said.
  func adopt(_ time: TimeSource) {
    let before = clock.withLock { clock in
      let before = clock
      if !clock.isSaid { clock = Clock(time: time, isSaid: true) }
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// What the shared objects hold now, in the order in which they were added; reading it changes nothing.
  public var gauges: [PolicyGauge] {
    // Read with the lock open, since the objects ask for the time.
    watched.read { $0.objects }.compactMap(\.gauge)
  }

  /// Tells the decisions of a shared object, and reads its gauge; nothing happens the second time.
  ///
  /// - Parameters:
  ///   - object: Held weakly.
  ///   - name: What its decisions and its gauge are told under; `nil` for its own name.
  public func watch(_ object: some PolicyObservable, named name: String? = nil) {
    let name = name ?? object.name
    let new = WatchedObjects.Object(object, name: name)
    let (isNew, released) = watched.change { objects, _ in objects.add(new) }
    withExtendedLifetime(released) {}
    // The object may live longer than those who listen to it.
    if isNew { observe(object) { [weak self] decision in self?.tell(decision, of: name) } }
  }

  private func observe(_ object: some PolicyObservable, _ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
    if let attentive = object as? any AttentiveObservable {
      attentive.onDecision(to: audience, observer)
    } else {
      object.onDecision(observer)
    }
  }
}

/// What a stream measures its events by.
private struct Clock {
  let time: TimeSource
  /// Whether it was given to the stream, or to a pipeline of it.
  let isSaid: Bool
}

/// One subscriber, counted until it leaves or is forgotten.
private final class Listener: Sendable {
  private let others: Audience
  private let isThere = Locked(true)

  init(in others: Audience) {
    self.others = others
    others.change(by: 1)
  }

  deinit {
    leave()
  }

  func leave() {
    if isThere.exchange(false) { others.change(by: -1) }
  }
}

/// The shared objects whose decisions are told, held weakly.
struct WatchedObjects {
  final class Object: Sendable {
    let id: ObjectIdentifier
    private let name: String
    private weak let object: (any PolicyObservable)?

    init(_ object: some PolicyObservable, name: String) {
      id = ObjectIdentifier(object)
      self.object = object
      self.name = name
    }

    /// What the object holds now; `nil` if there is nothing to read.
    var gauge: PolicyGauge? {
      guard let object, let reading = object.reading else { return nil }
      return PolicyGauge(name: name, kind: type(of: object).kind, reading: reading)
    }

    /// Somebody has come to listen.
    func listenerCame() { (object as? any AttentiveObservable)?.listenerCame() }

    /// Whether the object is still there; after that its identity may be another one's.
    var isAlive: Bool { object != nil }
  }

  private(set) var objects: [Object] = []
  private var byID: [ObjectIdentifier: Object] = [:]
  /// From which count on it is worth while to look for objects that are gone.
  private var limit = 16

  /// - Returns: Whether it was not there before; and what is to be released with the lock open.
  ///
  /// - Complexity: O(1), amortised, unless another object had the same identity before.
  mutating func add(_ object: Object) -> (isNew: Bool, released: [Object]) {
    var released: [Object] = []
    if let known = byID[object.id] {
      if known.isAlive { return (false, []) }
      released = removeAll { $0.id == object.id }
    } else if objects.count >= limit {
      released = removeAll { !$0.isAlive }
      limit = max(2 * objects.count, 16)
    }
    objects.append(object)
    byID[object.id] = object
    return (true, released)
  }

  private mutating func removeAll(where isGone: (Object) -> Bool) -> [Object] {
    let released = objects.filter(isGone)
    objects.removeAll(where: isGone)
    for object in released { byID[object.id] = nil }
    return released
  }
}
