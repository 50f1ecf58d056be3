import Combine
import StreamSupport

/// What the `#` of a marble diagram fails with, unless another error is given.
public struct MarbleFailure: Error, Hashable, CustomStringConvertible {
  /// Makes the failure.
  public init() {}

  /// "#".
  public var description: String { "#" }
}

/// A publisher that does what a row of marbles says, in virtual time.
///
///     let source = try MarblePublisher(cold: "-a-b-#", on: scheduler)
///
/// A cold one plays the row anew for each subscriber, and keeps values until they are requested. A hot one plays it once
/// for all, from the frame of its `^`, and drops values for subscribers that have not requested them.
public final class MarblePublisher<Output, Failure: Error>: Publisher, Sendable {
  private struct State {
    var score = Score.cold([:])
    var connections: [MarbleConnection<Output, Failure>] = []
    var hotCompletion: Subscribers.Completion<Failure>?
  }

  /// What happens in one frame.
  struct Frame {
    var values: [Output] = []
    var completion: Subscribers.Completion<Failure>?
  }

  /// What the subscribers see, by frame of time.
  enum Score {
    case cold([Int: Frame])
    case hot([Int: Frame])
  }

  private let scheduler: TestScheduler
  private let state = Locked(State())

  /// Makes a publisher that does nothing until it gets its score.
  init(on scheduler: TestScheduler) {
    self.scheduler = scheduler
  }

  /// Makes a publisher that plays a row for each subscriber, from the moment of its subscription.
  ///
  /// - Parameters:
  ///   - row: The diagram.
  ///   - values: What the letters stand for.
  ///   - failure: What `#` fails with.
  ///   - scheduler: Whose time it plays in.
  /// - Throws: ``MarbleSyntaxError`` if the row makes no sense.
  public convenience init(
    cold row: String,
    values: [Character: Output],
    failure: Failure,
    on scheduler: TestScheduler
  ) throws(MarbleSyntaxError) {
    self.init(on: scheduler)
    let row = try MarbleRow(row)
    try row.refuse([.subscription], "'^' in a row that is cold, which begins with each subscription. Leave it out.")
    play(.cold(try Self.frames(row, failure) { values[$0] }))
  }

  /// Makes a publisher that plays a row once, for all; the frame of `^` is the present moment.
  ///
  /// - Parameters:
  ///   - row: The diagram.
  ///   - values: What the letters stand for.
  ///   - failure: What `#` fails with.
  ///   - scheduler: Whose time it plays in.
  /// - Throws: ``MarbleSyntaxError`` if the row makes no sense.
  public convenience init(
    hot row: String,
    values: [Character: Output],
    failure: Failure,
    on scheduler: TestScheduler
  ) throws(MarbleSyntaxError) {
    self.init(on: scheduler)
    play(.hot(try Self.frames(try MarbleRow(row), failure) { values[$0] }))
  }

  /// What stands in the frames of a row, counted from its `^`.
  static func frames(
    _ row: MarbleRow,
    _ failure: Failure,
    _ value: (Character) -> Output?
  ) throws(MarbleSyntaxError) -> [Int: Frame] {
    try row.refuse([.cancel], "'!' in the row of an input. The subscriber cancels, in its own row.")
    var frames: [Int: Frame] = [:]
    var hasEnded = false
    for place in row.places {
      if hasEnded, place.mark != .subscription {
        throw MarbleSyntaxError(row.text, place.column, "something behind the end of an input.")
      }
      let frame = place.frame - row.zero
      switch place.mark {
      case .value(let name):
        guard let value = value(name) else {
          throw MarbleSyntaxError(row.text, place.column, "no value is given for '\(name)'.")
        }
        frames[frame, default: Frame()].values.append(value)
      case .finish: frames[frame, default: Frame()].completion = .finished
      case .failure: frames[frame, default: Frame()].completion = .failure(failure)
      case .subscription, .cancel: break
      }
      hasEnded = hasEnded || place.mark == .finish || place.mark == .failure
    }
    return frames
  }

  /// Gives it what to play; a hot one begins at once.
  func play(_ score: Score) {
    guard case .hot(let frames) = score else { return state.withLock { $0.score = score } }
    state.withLock { state in
      state.score = score
      // What came before the present moment is over, but an end stays one.
      state.hotCompletion = frames.first { $0.key < 0 && $0.value.completion != nil }?.value.completion
    }
    let start = scheduler.now
    for (index, frame) in frames.sorted(by: { $0.key < $1.key }) where index >= 0 {
      scheduler.schedule(after: start.advanced(by: .ticks(index))) { self.send(frame) }
    }
  }

  /// One event after the other, each to all who have subscribed by then, as a subject does.
  private func send(_ frame: Frame) {
    for value in frame.values {
      for connection in state.withLock({ $0.connections }) { connection.receive(value, keeping: false) }
    }
    guard let completion = frame.completion else { return }
    let connections = state.withLock { state in
      state.hotCompletion = completion
      return state.connections
    }
    for connection in connections { connection.receive(completion) }
  }

  /// Connects a subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let connection = MarbleConnection<Output, Failure>(AnySubscriber(subscriber), scheduler)
    let (score, completion) = state.withLock { state in
      state.connections.append(connection)
      return (state.score, state.hotCompletion)
    }
    subscriber.receive(subscription: connection)
    if let completion { return connection.receive(completion) }
    guard case .cold(let frames) = score else { return }
    let start = scheduler.now
    for (index, frame) in frames.sorted(by: { $0.key < $1.key }) {
      scheduler.schedule(after: start.advanced(by: .ticks(index))) {
        for value in frame.values { connection.receive(value, keeping: true) }
        if let completion = frame.completion { connection.receive(completion) }
      }
    }
  }

  /// How often it was subscribed to.
  public var subscriptionCount: Int { state.withLock { $0.connections.count } }

  /// One row for each subscription: `^` where it began, and `|`, `#` or `!` where it ended or was cancelled.
  public var subscriptionRows: [String] {
    subscriptionFrames.map { $0.map(MarbleRow.cell).joined() }
  }

  var subscriptionFrames: [[[MarbleRow.Mark]]] {
    state.withLock { $0.connections }.map(\.frames)
  }

  /// When the subscriptions began and ended.
  var subscriptionTimes: [VirtualTime] {
    state.withLock { $0.connections }.flatMap(\.times)
  }
}

extension MarblePublisher where Output == String, Failure == MarbleFailure {
  /// Makes a publisher that plays a row for each subscriber; the letters stand for themselves.
  ///
  /// - Throws: ``MarbleSyntaxError`` if the row makes no sense.
  public convenience init(cold row: String, on scheduler: TestScheduler) throws(MarbleSyntaxError) {
    try self.init(cold: row, values: .letters(of: row), failure: MarbleFailure(), on: scheduler)
  }

  /// Makes a publisher that plays a row once, for all; the letters stand for themselves.
  ///
  /// - Throws: ``MarbleSyntaxError`` if the row makes no sense.
  public convenience init(hot row: String, on scheduler: TestScheduler) throws(MarbleSyntaxError) {
    try self.init(hot: row, values: .letters(of: row), failure: MarbleFailure(), on: scheduler)
  }
}

extension [Character: String] {
  /// Every character of a row, standing for itself.
  static func letters(of row: String) -> [Character: String] {
    Dictionary(row.map { ($0, String($0)) }, uniquingKeysWith: { first, _ in first })
  }
}

/// What one subscriber hears of a row.
final class MarbleConnection<Output, Failure: Error>: Subscription, Sendable {
  private enum Delivery {
    case value(Output, AnySubscriber<Output, Failure>)
    case end(Subscribers.Completion<Failure>, AnySubscriber<Output, Failure>)
  }

  private struct State: Drained {
    var subscriber: AnySubscriber<Output, Failure>?
    var owed = Subscribers.Demand.none
    var waiting = Queue<Output>()
    var completion: Subscribers.Completion<Failure>?
    var loop = DrainLoop()
    var end: (time: VirtualTime, mark: MarbleRow.Mark)?

    mutating func takeNext() -> Delivery? {
      guard let subscriber else { return nil }
      if owed > .none, let value = waiting.popFirst() {
        owed -= 1
        return .value(value, subscriber)
      }
      guard waiting.isEmpty, let completion else { return nil }
      self.subscriber = nil
      return .end(completion, subscriber)
    }
  }

  private let scheduler: TestScheduler
  private let start: VirtualTime
  private let state: Locked<State>

  init(_ subscriber: AnySubscriber<Output, Failure>, _ scheduler: TestScheduler) {
    state = Locked(State(subscriber: subscriber))
    self.scheduler = scheduler
    start = scheduler.now
  }

  /// From time zero: `^`, and how it ended.
  var frames: [[MarbleRow.Mark]] {
    let end = state.withLock { $0.end }
    var frames = [[MarbleRow.Mark]](repeating: [], count: max(start.frame, end?.time.frame ?? 0) + 1)
    frames[start.frame].append(.subscription)
    if let end { frames[end.time.frame].append(end.mark) }
    return frames
  }

  /// When it began, and when it ended if it has.
  var times: [VirtualTime] { [start] + state.withLock { $0.end.map { [$0.time] } ?? [] } }

  func receive(_ value: Output, keeping: Bool) {
    deliver { state in
      if keeping || state.owed > .none, state.subscriber != nil { state.waiting.append(value) }
    }
  }

  func receive(_ completion: Subscribers.Completion<Failure>) {
    deliver { $0.completion = $0.completion ?? completion }
  }

  func request(_ demand: Subscribers.Demand) {
    deliver { $0.owed += demand }
  }

  func cancel() {
    let time = scheduler.now
    let subscriber = state.withLock { state in
      let subscriber = state.subscriber
      if subscriber != nil { state.end = (time, .cancel) }
      state.subscriber = nil
      return subscriber
    }
    withExtendedLifetime(subscriber) {}
  }

  private func deliver(after change: (inout State) -> Void) {
    state.drain(after: change) { delivery in
      switch delivery {
      case .value(let value, let subscriber):
        let more = subscriber.receive(value)
        state.withLock { $0.owed += more }
      case .end(let completion, let subscriber):
        let time = scheduler.now
        state.withLock { state in
          if case .finished = completion { state.end = (time, .finish) } else { state.end = (time, .failure) }
        }
        subscriber.receive(completion: completion)
      }
    }
  }
}
