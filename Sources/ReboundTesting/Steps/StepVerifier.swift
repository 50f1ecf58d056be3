import Combine

/// A script for a publisher: what it must do next, and what is done to it, step by step in virtual time.
///
///     try StepVerifier(search.$results, on: scheduler)
///       .thenRun { search.text = "swift" }
///       .expectNoEvent(for: .milliseconds(799))
///       .thenAdvance(by: .milliseconds(1))
///       .expectNext(["Swift", "swiftly"])
///       .thenCancel()
///       .verify()
///
/// Nothing happens until ``verify(fileID:filePath:line:column:)``, which subscribes and takes the steps in order. Each
/// event must be expected by a step, but for the subscription, which need not be. Besides, the laws of all streams are
/// checked all the time: one subscription, and before all else; no value beyond the demand; nothing after an end or a
/// cancel.
///
/// Work that is due is done after the subscription and after each `then` step. Time moves only where a step says so.
///
/// It imports no test framework: a step that goes wrong is thrown as a ``StepFailure``, which says where it stands.
public struct StepVerifier<Output, Failure: Error> {
  private let publisher: AnyPublisher<Output, Failure>
  private let scheduler: TestScheduler
  private let demand: Subscribers.Demand
  private var steps: [Step] = []

  private struct Step {
    let name: String
    let location: CodeLocation
    let take: (StepSession<Output, Failure>) throws(StepProblem) -> Void
  }

  /// Makes a script without steps.
  ///
  /// - Parameters:
  ///   - publisher: Subscribed to once for each verification.
  ///   - scheduler: Whose time the steps move.
  ///   - demand: What is requested as soon as there is a subscription.
  public init<P: Publisher>(
    _ publisher: P,
    on scheduler: TestScheduler = TestScheduler(),
    requesting demand: Subscribers.Demand = .unlimited
  ) where P.Output == Output, P.Failure == Failure {
    self.publisher = publisher.eraseToAnyPublisher()
    self.scheduler = scheduler
    self.demand = demand
  }

  /// Subscribes and takes the steps.
  ///
  /// - Returns: All that came, to look at more closely.
  /// - Throws: The first step that goes wrong; in the end, an event that no step expects.
  @discardableResult
  public func verify(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) throws(StepFailure) -> Recorder<Output, Failure> {
    let session = StepSession<Output, Failure>(scheduler, requesting: demand)
    defer { session.cancelQuietly() }
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    var current = (number: 1, name: "subscribe", location: location)
    do throws(StepProblem) {
      session.subscribe(to: publisher)
      try session.checkLaws()
      for (index, step) in steps.enumerated() {
        current = (index + 1, step.name, step.location)
        try step.take(session)
        try session.checkLaws()
      }
      current = (steps.count + 1, "verify", location)
      try session.expectNothingLeft()
    } catch {
      throw StepFailure(
        step: current.number,
        name: current.name,
        location: current.location,
        problem: error.text,
        history: session.history
      )
    }
    return session.recorder
  }

  /// The same script with one more step.
  func adding(
    _ name: String,
    _ location: CodeLocation,
    _ take: @escaping (StepSession<Output, Failure>) throws(StepProblem) -> Void
  ) -> Self {
    var copy = self
    copy.steps.append(Step(name: name, location: location, take: take))
    return copy
  }
}
