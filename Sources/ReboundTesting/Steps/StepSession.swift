import Combine

/// What is wrong with a step, in words.
struct StepProblem: Error {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}

/// One verification: who listens, and how far the steps have come.
final class StepSession<Output, Failure: Error> {
  typealias Event = Recorder<Output, Failure>.Event
  typealias Entry = Recorder<Output, Failure>.Entry

  let recorder: Recorder<Output, Failure>
  let scheduler: TestScheduler
  /// How many events the steps have expected so far, and how many the laws were checked for.
  private var position = 0
  private var checked = 0
  /// Whether an end was among those.
  private var hasEnded = false
  /// How many events had come when the subscriber cancelled.
  private var cancelPosition: Int?
  private weak var ear: Ear?

  /// What the publisher knows of the recorder, so that it shows when the publisher lets go.
  private final class Ear: Subscriber {
    private let recorder: Recorder<Output, Failure>

    init(_ recorder: Recorder<Output, Failure>) {
      self.recorder = recorder
    }

    func receive(subscription: any Subscription) { recorder.receive(subscription: subscription) }
    func receive(_ input: Output) -> Subscribers.Demand { recorder.receive(input) }
    func receive(completion: Subscribers.Completion<Failure>) { recorder.receive(completion: completion) }
  }

  init(_ scheduler: TestScheduler, requesting demand: Subscribers.Demand) {
    self.scheduler = scheduler
    recorder = Recorder(requesting: demand, on: scheduler)
  }

  var history: [String] { recorder.entries.map { "\($0.time)  \($0.event.text)" } }

  func subscribe(to publisher: AnyPublisher<Output, Failure>) {
    let ear = Ear(recorder)
    self.ear = ear
    publisher.subscribe(ear)
    scheduler.advance()
  }

  func cancel() {
    // What comes from inside the cancel comes after it.
    cancelPosition = recorder.entries.count
    recorder.cancel()
    scheduler.advance()
  }

  /// Cancels what a script leaves running.
  func cancelQuietly() {
    recorder.cancel()
  }

  /// The next event that no step has expected yet.
  ///
  /// - Parameter skipsSubscription: Whether to leave out the subscription.
  func next(skipsSubscription: Bool = true) -> Entry? {
    let entries = recorder.entries
    if skipsSubscription, position == 0, case .subscription? = entries.first?.event { position = 1 }
    guard position < entries.count else { return nil }
    position += 1
    return entries[position - 1]
  }

  /// The next event, which there must be, and which must be what is expected.
  ///
  /// - Parameters:
  ///   - expectation: What is expected, in words.
  ///   - details: The same in more words, for when something else came.
  ///   - skipsSubscription: Whether to leave out the subscription.
  ///   - matches: Whether an event is what is expected.
  func expect(
    _ expectation: String,
    _ details: String? = nil,
    skipsSubscription: Bool = true,
    _ matches: (Event) -> Bool
  ) throws(StepProblem) {
    guard let entry = next(skipsSubscription: skipsSubscription) else {
      throw StepProblem("expected \(expectation) at \(scheduler.now), but nothing has come.\(hint)")
    }
    guard matches(entry.event) else {
      throw StepProblem("expected \(details ?? expectation), but \(entry.event.text) came at \(entry.time).")
    }
  }

  /// What to do about something that has not come.
  private var hint: String {
    if recorder.demand.outstanding == .none, recorder.completion == nil, cancelPosition == nil {
      return " Nothing is outstanding; thenRequest asks for more."
    }
    guard let due = scheduler.nextDue else { return " No work waits in the scheduler." }
    return " The next work is due at \(due); thenAdvance moves time on."
  }

  func expectNoEvent(for stride: VirtualTime.Stride) throws(StepProblem) {
    let end = scheduler.now.advanced(by: stride)
    if let entry = next() {
      throw StepProblem("expected no event, but \(entry.event.text) had come at \(entry.time) already.")
    }
    scheduler.advance(to: end)
    if let entry = next() {
      throw StepProblem("expected no event until \(end), but \(entry.event.text) came at \(entry.time).")
    }
  }

  func expectRelease() throws(StepProblem) {
    guard recorder.completion != nil || cancelPosition != nil else {
      throw StepProblem("the stream has neither ended nor been cancelled, so it may hold its subscriber.")
    }
    if ear != nil { throw StepProblem("the subscriber has leaked: the chain holds it after the end.") }
  }

  func expectNothingLeft() throws(StepProblem) {
    guard let entry = next() else { return }
    throw StepProblem("\(entry.event.text) came at \(entry.time), and no step expects it.")
  }

  /// The laws of all streams, for the events that came since the last time.
  func checkLaws() throws(StepProblem) {
    let entries = recorder.entries
    while checked < entries.count {
      let entry = entries[checked]
      checked += 1
      defer { hasEnded = hasEnded || entry.event.isCompletion }
      if entry.event.isSubscription {
        if checked > 1 { throw StepProblem("a second subscription, or a late one, came at \(entry.time).") }
      } else if checked == 1 {
        throw StepProblem("\(entry.event.text) came at \(entry.time), before the subscription.")
      } else if hasEnded {
        throw StepProblem("\(entry.event.text) came at \(entry.time), after the end: it would be dropped.")
      } else if let cancelPosition, checked > cancelPosition {
        throw StepProblem("\(entry.event.text) came at \(entry.time), after the cancel: it would be dropped.")
      }
    }
    let demand = recorder.demand
    if demand.excess > 0 { throw StepProblem("\(demand.excess) values came beyond the demand (\(demand)).") }
  }
}

extension Recorder.Event {
  var isSubscription: Bool { if case .subscription = self { true } else { false } }
  var isFinish: Bool { if case .completion(.finished) = self { true } else { false } }
  var isCompletion: Bool { if case .completion = self { true } else { false } }
  var value: Input? { if case .value(let value) = self { value } else { nil } }
  var failure: Failure? { if case .completion(.failure(let error)) = self { error } else { nil } }

  /// The event in words, for messages.
  var text: String {
    switch self {
    case .subscription: "the subscription"
    case .value(let value): "the value \(words(for: value))"
    case .completion(.finished): "the finish"
    case .completion(.failure(let error)): "the failure \(error)"
    }
  }
}

/// A value in words: a text in quotes, so that an empty one can be seen.
func words(for value: some Any) -> String {
  if let text = value as? String { "\"\(text)\"" } else { "\(value)" }
}
