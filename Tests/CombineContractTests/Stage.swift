import ReboundTesting

@testable import Combine

enum ContractFailure: Error, Equatable {
  case expected
}

/// Where a scenario is played: upstreams that do as they are told, a subscriber, and one log of all that happens.
///
/// The log's words: `sub` a subscription came downstream (`own` if it is the upstream's very own), `value:x`, `end`,
/// `error`; `ask:n` and `cancel` reached the upstream, `refused` its second subscription was cancelled; `answer:n` is what
/// an upstream got for a value. A mark tells the upstream, except of the first: `ask:1'`.
final class Stage {
  typealias Upstream = HandingOn<AnyPublisher<Int, ContractFailure>>
  typealias FaultlessUpstream = HandingOn<AnyPublisher<Int, Never>>

  let scheduler = TestScheduler()
  private(set) var log: [String] = []
  private var sides: [Side] = []
  /// Who came to the upstreams, in that order.
  private(set) var arrivals: [CombineIdentifier] = []
  private var reactions: Reactions
  private var subscription: (any Subscription)?
  private var toRelease: [any Cancellable] = []
  private var kept: [Any] = []
  private var cancelSubscriber: (() -> Void)?
  /// Told what publishers without an upstream should send.
  var feed: ((Int) -> Void)?
  var feedEnd: ((Subscribers.Completion<ContractFailure>) -> Void)?
  var inputs = Inputs()

  /// What the upstreams send.
  struct Inputs {
    var passing = 1
    var skipped: Int?
    var last: Int?
  }

  private struct Side {
    var subscriber: AnySubscriber<Int, ContractFailure>?
    var subscription: LoggedSubscription?
    /// The subscriber as it came.
    var shown: Any?
  }

  init(_ reactions: Reactions = Reactions()) {
    self.reactions = reactions
  }

  /// A further upstream.
  func upstream() -> Upstream {
    let index = sides.count
    sides.append(Side())
    let publisher = TestPublisher<Int, ContractFailure>(handingOver: { [unowned self] in
      arrivals.append($0.combineIdentifier)
      sides[index].shown = $0
      sides[index].subscriber = $0
    })
    return Upstream(base: publisher.eraseToAnyPublisher())
  }

  /// A further upstream that cannot fail, as its type says.
  func faultless() -> FaultlessUpstream {
    let index = sides.count
    sides.append(Side())
    let publisher = TestPublisher<Int, Never>(handingOver: { [unowned self] subscriber in
      arrivals.append(subscriber.combineIdentifier)
      sides[index] = Side(subscriber: Self.failing(subscriber), shown: subscriber)
    })
    return FaultlessUpstream(base: publisher.eraseToAnyPublisher())
  }

  /// A subscriber that cannot be told a failure, for an upstream that has one and does not tell it.
  static func failing(_ subscriber: some Subscriber<Int, Never>) -> AnySubscriber<Int, ContractFailure> {
    AnySubscriber(
      receiveSubscription: subscriber.receive(subscription:),
      receiveValue: subscriber.receive,
      receiveCompletion: { if case .finished = $0 { subscriber.receive(completion: .finished) } }
    )
  }

  /// Puts a subscriber where an operator would be: it gets what the upstream sends.
  func place(_ subscriber: AnySubscriber<Int, ContractFailure>, as shown: Any, cancelling cancel: @escaping () -> Void)
  {
    sides.append(Side(subscriber: subscriber, shown: shown))
    cancelSubscriber = cancel
  }

  func write(_ word: String, _ side: Int = 0) {
    log.append(word + String(repeating: "'", count: side))
  }

  /// Keeps what somebody who uses a publisher would keep.
  func keep(_ publisher: Any, _ connection: (any Cancellable)?) {
    kept.append(publisher)
    if let connection { toRelease.append(connection) }
  }

  /// Subscribes, without a subscription from the upstreams so far.
  func attach<P: Publisher>(_ publisher: P) -> Spectator<P.Output, P.Failure> {
    let spectator = Spectator<P.Output, P.Failure>(self)
    publisher.subscribe(spectator)
    scheduler.advance()
    return spectator
  }

  func perform(_ step: Step) {
    act(step)
    scheduler.advance(by: 1)
  }

  private func act(_ step: Step) {
    switch step {
    case .subscribe: for index in sides.indices { handOver(index, "cancel") }
    case .subscribeAgain: for index in sides.indices { handOver(index, "refused") }
    case .request(let demand): subscription?.request(demand)
    case .cancel:
      if let subscription { subscription.cancel() } else { cancelEarly() }
      cancelSubscriber?()
    case .send: send(inputs.passing)
    case .sendSkipped: if let value = inputs.skipped { send(value) }
    case .sendLast: if let value = inputs.last { send(value) }
    case .finish: complete(.finished, sides.indices)
    case .fail: complete(.failure(.expected), sides.indices.prefix(1))
    }
  }

  /// Cancels as somebody does who has no subscription yet, and takes the upstreams' subscribers for one.
  private func cancelEarly() {
    for side in sides { (side.subscriber?.erased.subject as? any Subscription)?.cancel() }
  }

  private func handOver(_ index: Int, _ wordForCancel: String) {
    let subscription = LoggedSubscription(self, index, wordForCancel)
    if sides[index].subscription == nil { sides[index].subscription = subscription }
    let subscriber = sides[index].subscriber
    subscriber?.receive(subscription: subscription)
  }

  private func send(_ value: Int) {
    feed?(value)
    for (index, side) in sides.enumerated() {
      guard let subscriber = side.subscriber else { continue }
      write("answer:\(name(subscriber.receive(value)))", index)
    }
  }

  private func complete(_ completion: Subscribers.Completion<ContractFailure>, _ range: Range<Int>) {
    feedEnd?(completion)
    for subscriber in sides[range].map(\.subscriber) { subscriber?.receive(completion: completion) }
  }

  // MARK: What comes downstream

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    let isOwn = sides.contains { $0.subscription === (subscription as AnyObject) }
    write(isOwn || subscription is LoggedSubscription ? "own" : "sub")
    let reaction = reactions.toSubscription
    reactions.toSubscription = nil
    if let reaction { act(reaction) }
  }

  func receive(value: String) -> Subscribers.Demand {
    write("value:\(value)")
    let reaction = reactions.toFirstValue
    reactions.toFirstValue = nil
    if let reaction { act(reaction) }
    return reactions.answer
  }

  func receive(end: String) {
    write(end)
    let reaction = reactions.toEnd
    reactions.toEnd = nil
    if let reaction { act(reaction) }
  }

  // MARK: Who is still there

  /// What the subscriber holds, for a look at it.
  var seenSubscription: (any Subscription)? { subscription }
  var seenSubscriber: Any? { sides.first?.shown }
  /// The subscribers that came to the upstreams.
  var seenSubscribers: [Any] { sides.compactMap(\.shown) }

  /// The upstreams' subscriptions, which the stage lets go of, together with its own of the downstream.
  func letGo() -> [Weak] {
    let left = sides.map { Weak(object: $0.subscription) }
    for index in sides.indices { sides[index].subscription = nil }
    subscription = nil
    return left
  }

  /// Lets go of the subscribers as well, as an upstream does that has ended.
  func letGoOfSubscribers() {
    for index in sides.indices {
      sides[index].subscriber = nil
      sides[index].shown = nil
    }
  }

  /// Ends what still runs, while there is still a log to write to.
  func close() {
    let connections = toRelease
    toRelease = []
    for connection in connections { connection.cancel() }
    subscription?.cancel()
    subscription = nil
    cancelSubscriber = nil
    scheduler.advance(by: 1)
    letGoOfSubscribers()
    kept = []
  }
}

/// Hands its subscriber on to another publisher, by `subscribe`, and does nothing else.
struct HandingOn<Base: Publisher>: Publisher {
  typealias Output = Base.Output
  typealias Failure = Base.Failure

  let base: Base

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    base.subscribe(subscriber)
  }
}

/// Something that may be gone.
struct Weak {
  weak var object: AnyObject?
}

/// What an upstream hands over: writes down what is asked of it.
final class LoggedSubscription: Subscription {
  private unowned let stage: Stage
  private let side: Int
  private let wordForCancel: String

  init(_ stage: Stage, _ side: Int, _ wordForCancel: String) {
    self.stage = stage
    self.side = side
    self.wordForCancel = wordForCancel
  }

  func request(_ demand: Subscribers.Demand) { stage.write("ask:\(name(demand))", side) }
  func cancel() { stage.write(wordForCancel, side) }
}

/// The subscriber of a scenario.
final class Spectator<Input, Failure: Error>: Subscriber {
  private unowned let stage: Stage

  init(_ stage: Stage) {
    self.stage = stage
  }

  func receive(subscription: any Subscription) { stage.receive(subscription: subscription) }
  func receive(_ input: Input) -> Subscribers.Demand { stage.receive(value: "\(input)".filter { $0 != " " }) }
  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished: stage.receive(end: "end")
    case .failure: stage.receive(end: "error")
    }
  }
}

func name(_ demand: Subscribers.Demand) -> String {
  demand.max.map { "\($0)" } ?? "all"
}
