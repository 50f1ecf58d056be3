import StreamSupport

/// A publisher of one value or a failure, which work that began with it produces later.
///
/// The work starts when the future is made, whether somebody is subscribed or not. All subscribers get its result,
/// also those who come later.
public final class Future<Output, Failure: Error>: Publisher {
  /// Called by the work with its result; the first call counts.
  ///
  /// It keeps the future alive, and may be called from any thread.
  public typealias Promise = (Result<Output, Failure>) -> Void

  private let lock = Lock()
  // Guarded by `lock`: the result once it is there, and who waits for it, by the order of subscription.
  @exclusivity(unchecked) private var result: Result<Output, Failure>?
  @exclusivity(unchecked) private var waiting: [Int: FutureSubscription<Output, Failure>] = [:]
  @exclusivity(unchecked) private var lastTicket = 0

  /// Starts work.
  ///
  /// - Parameter attemptToFulfill: runs at once, and calls the promise when the result is there.
  public init(_ attemptToFulfill: @escaping (@escaping Promise) -> Void) {
    attemptToFulfill { self.fulfill($0) }
  }

  /// Attaches a subscriber, which gets the value and the end once it has asked for any, or the failure unasked.
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    let erased = AnySubscriber(subscriber).erased
    let ticket = lock.withLock {
      lastTicket += 1
      return lastTicket
    }
    let subscription = FutureSubscription(to: erased, of: self, ticket: ticket)
    erased.receive(subscription: subscription)
    // Only now: a failure that another thread sends must not come before the subscription.
    lock.lock()
    if result == nil, !subscription.isOver { waiting[ticket] = subscription }
    let result = result
    lock.unlock()
    if let result { subscription.resolve(result) }
  }

  private func fulfill(_ result: Result<Output, Failure>) {
    lock.lock()
    guard self.result == nil else {
      lock.unlock()
      return
    }
    self.result = result
    let waiting = waiting
    self.waiting = [:]
    lock.unlock()
    for (_, subscription) in waiting.sorted(by: { $0.key < $1.key }) { subscription.resolve(result) }
  }

  fileprivate func forget(_ ticket: Int) {
    lock.lock()
    let subscription = waiting.removeValue(forKey: ticket)
    lock.unlock()
    // Outside the lock: the subscriber behind it may run code of its own when it goes.
    withExtendedLifetime(subscription) {}
  }
}

extension Future where Failure == Never {
  /// The value, once it is there.
  ///
  /// Cancelling the task does not end the wait.
  public final nonisolated(nonsending) var value: Output {
    get async {
      await withCheckedContinuation { continuation in
        subscribe(Awaiter { if case .success(let value) = $0 { continuation.resume(returning: value) } })
      }
    }
  }
}

extension Future {
  /// The value, once it is there; throws the failure if it is one.
  ///
  /// Cancelling the task does not end the wait.
  public final nonisolated(nonsending) var value: Output {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in
        subscribe(Awaiter { continuation.resume(with: $0.mapError { $0 }) })
      }
    }
  }
}

/// Hands the result of a future to a task that waits for it.
private final class Awaiter<Input, Failure: Error>: Subscriber {
  private let resume: (sending Result<Input, Failure>) -> Void

  init(resume: @escaping (sending Result<Input, Failure>) -> Void) {
    self.resume = resume
  }

  func receive(subscription: any Subscription) { subscription.request(.max(1)) }

  func receive(_ input: Input) -> Subscribers.Demand {
    // The future keeps the value, too: sharing it is as safe as for two subscribers on different threads.
    nonisolated(unsafe) let result = Result<Input, Failure>.success(input)
    resume(result)
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    if case .failure(let error) = completion { resume(.failure(error)) }
  }
}

/// One subscriber's subscription to a future.
private final class FutureSubscription<Output, Failure: Error>: SubscriptionBase, ReflectedSubscription {
  private let ticket: Int
  private let deferred = DeferredResult()
  private let lock = Lock()
  // Guarded by `lock`, and emptied upon delivery or cancellation. The future is not kept alive from here: it holds this
  // while the result is missing, and only its promise can bring one.
  @exclusivity(unchecked) private weak var future: Future<Output, Failure>?
  @exclusivity(unchecked) private var erased: ErasedSubscriber<Output, Failure>?
  @exclusivity(unchecked) private var value: Output?
  @exclusivity(unchecked) private var hasAnyDemand = false

  init(to erased: ErasedSubscriber<Output, Failure>, of future: Future<Output, Failure>, ticket: Int) {
    self.erased = erased
    self.future = future
    self.ticket = ticket
  }

  var isOver: Bool { deferred.isOver }

  /// Takes the result; called once.
  func resolve(_ result: Result<Output, Failure>) {
    switch result {
    case .success(let value):
      lock.withLock { self.value = value }
      switch deferred.arrive() {
      case .waits: break
      case .isWanted: deliver()
      case .isLate: _ = empty()
      }
    case .failure(let error):
      guard deferred.end() != .over else { return }
      empty().erased?.receive(completion: .failure(error))
    }
  }

  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    lock.withLock { if erased != nil { hasAnyDemand = true } }
    if deferred.request() { deliver() }
  }

  override func cancel() {
    guard deferred.end() != .over else { return }
    let future = lock.withLock { self.future }
    _ = empty()
    future?.forget(ticket)
  }

  private func deliver() {
    let (erased, value) = empty()
    guard let erased, let value else { return }
    _ = erased.receive(value)
    // The subscriber may have cancelled from inside.
    if deferred.end() != .over { erased.receive(completion: .finished) }
  }

  /// Hands out subscriber and value, and keeps neither them nor the future.
  private func empty() -> (erased: ErasedSubscriber<Output, Failure>?, value: Output?) {
    lock.lock()
    defer { lock.unlock() }
    let held = (erased, value)
    erased = nil
    value = nil
    future = nil
    return held
  }

  override var name: String { "Future" }
  override var children: [(label: String?, value: Any)] {
    lock.lock()
    let future = future
    let erased = erased
    let hasAnyDemand = hasAnyDemand
    lock.unlock()
    return [
      ("parent", future as Any), ("downstream", erased?.subject as Any), ("hasAnyDemand", hasAnyDemand),
      ("subject", future as Any),
    ]
  }
}
