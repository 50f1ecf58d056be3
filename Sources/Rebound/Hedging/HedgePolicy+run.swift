extension HedgePolicy {
  /// Runs an asynchronous function, a second time while the first has not returned, and takes what comes first.
  ///
  ///     let forecast = try await policy.run { hedge in try await client.forecast(for: city, from: mirrors[hedge]) }
  ///
  /// The decisions and events are those of a publisher that is hedged with the same policy. Each attempt runs in a task of
  /// its own, a child of the caller's. The attempts that lose are cancelled, and waited for: one that does not heed a
  /// cancel is not left behind, and keeps the caller waiting. What they return is dropped; what they throw goes to
  /// ``DroppedErrors``. For idempotent functions only.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits.
  ///   - isolation: The caller's.
  ///   - operation: One attempt; gets its number, 0 for the primary one, then 1 and so on.
  /// - Returns: What the first attempt returned that did not fail.
  /// - Throws: What the primary attempt threw when all fail, unless the policy names another error; a fatal error at once.
  ///   When the caller's task is cancelled, no attempt begins any more, and the first error of an attempt is thrown.
  public func run<Value: Sendable>(
    time: TimeSource = .current,
    isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable (_ hedge: Int) async throws(Failure) -> Value
  ) async throws -> Value {
    let start = time.now
    var race = HedgeRace<Failure, Value>(self)
    let result = await withTaskGroup(of: HedgeResult<Value, Failure>.self, isolation: isolation) { group in
      var step = race.machine.begin(now: .zero)
      while true {
        for launch in step.launches {
          launch.grant?.begin()
          group.addTask {
            do throws(Failure) { return .value(launch.hedge, try await operation(launch.hedge)) } catch {
              return .failure(launch.hedge, error)
            }
          }
        }
        if !race.isWatching {
          // As for a publisher: the primary attempt is under way before the first delay begins.
          race.isWatching = true
          step = race.machine.watch(now: time.now - start)
          continue
        }
        if let due = race.takeNewTimer() {
          group.addTask {
            do {
              try await time.sleep(for: start + due - time.now)
              return .timeHasCome(due)
            } catch {
              return .timerStopped
            }
          }
        }
        // There is always an attempt under way until the race has a result.
        guard let news = await group.next() else { break }
        step = race.step(for: news, now: time.now - start, isCancelled: Task.isCancelled)
        if race.result != nil { break }
      }
      group.cancelAll()
      while let late = await group.next() {
        if case .failure(_, let error) = late { DroppedErrors.report(error, by: "HedgePolicy") }
      }
      return race.result ?? .failure(CancellationError())
    }
    return try result.get()
  }
}

private enum HedgeResult<Value: Sendable, Failure: Error>: Sendable {
  case value(Int, Value)
  case failure(Int, Failure)
  case timeHasCome(Duration)
  case timerStopped
}

/// The race of one call.
private struct HedgeRace<Failure: Error, Value: Sendable>: Sendable {
  var machine: HedgeMachine<Failure>
  var isWatching = false
  private(set) var result: Result<Value, any Error>?
  /// For when the latest timer is set.
  private var timerDue: Duration?

  init(_ policy: HedgePolicy<Failure>) {
    machine = HedgeMachine(policy)
  }

  /// For when to set a timer, if that is another moment than before; a timer that is superseded tells nothing new.
  mutating func takeNewTimer() -> Duration? {
    guard machine.due != timerDue else { return nil }
    timerDue = machine.due
    return timerDue
  }

  mutating func step(
    for news: HedgeResult<Value, Failure>,
    now: Duration,
    isCancelled: Bool
  ) -> HedgeMachine<Failure>.Step {
    switch news {
    case .value(let hedge, let value):
      machine.won(hedge, now: now)
      result = .success(value)
    case .failure(let hedge, let error):
      if isCancelled || error is CancellationError {
        machine.cancel()
        result = .failure(error)
        break
      }
      let step = machine.failed(hedge, with: error, now: now)
      result = step.failure.map { .failure($0) }
      return step
    case .timeHasCome(let due):
      if timerDue == due { timerDue = nil }
      if !isCancelled { return machine.timeHasCome(now: max(now, due)) }
    case .timerStopped:
      break
    }
    return HedgeMachine<Failure>.Step()
  }
}
