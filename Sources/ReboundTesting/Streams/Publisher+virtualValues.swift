import Combine

/// The values that a test waited for have not come.
public struct MissingValues: Error, CustomStringConvertible, Sendable {
  /// What was waited for.
  public let expectation: String
  /// What came instead, in words.
  public let outcome: String
  /// Where.
  public let location: CodeLocation

  /// What happened, where, and what came instead.
  public var description: String {
    "\(location): expected \(expectation), but \(outcome)."
  }
}

extension Publisher {
  /// The first value, in virtual time: moves time on until it is there, and then cancels.
  ///
  ///     let weather = try api.forecast(for: city).retry(policy, time: scheduler.time).firstValue(on: scheduler)
  ///
  /// Nothing blocks and nothing waits: an hour costs no time.
  ///
  /// - Parameters:
  ///   - scheduler: Whose time moves on, from piece of work to piece of work.
  ///   - limit: How far at most.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if no value comes.
  public func firstValue(
    on scheduler: TestScheduler,
    within limit: VirtualTime.Stride = .seconds(86_400),
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) throws(MissingValues) -> Output {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return try wait(for: "a value", on: scheduler, limit, location) { $0.values.first }
  }

  /// The next values, in virtual time: moves time on until as many are there, and then cancels.
  ///
  /// - Parameters:
  ///   - count: How many values; no more are requested.
  ///   - scheduler: Whose time moves on, from piece of work to piece of work.
  ///   - limit: How far at most.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if fewer come.
  public func nextValues(
    _ count: Int,
    on scheduler: TestScheduler,
    within limit: VirtualTime.Stride = .seconds(86_400),
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) throws(MissingValues) -> [Output] {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let count = Swift.max(count, 0)
    return try wait(for: "\(count) values", on: scheduler, limit, location, demand: .max(count)) {
      $0.values.count >= count ? Array($0.values.prefix(count)) : nil
    }
  }

  /// All values, in virtual time: moves time on until the publisher finishes.
  ///
  /// - Parameters:
  ///   - scheduler: Whose time moves on, from piece of work to piece of work.
  ///   - limit: How far at most.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if it does not finish.
  public func allValues(
    on scheduler: TestScheduler,
    within limit: VirtualTime.Stride = .seconds(86_400),
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) throws(MissingValues) -> [Output] {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return try wait(for: "a finish", on: scheduler, limit, location) { $0.isFinished ? $0.values : nil }
  }

  /// The last value, in virtual time: moves time on until the publisher finishes.
  ///
  /// - Parameters:
  ///   - scheduler: Whose time moves on, from piece of work to piece of work.
  ///   - limit: How far at most.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if it does not finish, or finishes without a value.
  public func lastValue(
    on scheduler: TestScheduler,
    within limit: VirtualTime.Stride = .seconds(86_400),
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) throws(MissingValues) -> Output {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return try wait(for: "a last value and a finish", on: scheduler, limit, location) {
      $0.isFinished ? $0.values.last : nil
    }
  }

  /// The only value, in virtual time: moves time on until the publisher finishes.
  ///
  /// - Parameters:
  ///   - scheduler: Whose time moves on, from piece of work to piece of work.
  ///   - limit: How far at most.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if it does not finish, or not after exactly one value.
  public func singleValue(
    on scheduler: TestScheduler,
    within limit: VirtualTime.Stride = .seconds(86_400),
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) throws(MissingValues) -> Output {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return try wait(for: "exactly one value and a finish", on: scheduler, limit, location) {
      $0.isFinished && $0.values.count == 1 ? $0.values.first : nil
    }
  }

  private func wait<Wanted>(
    for expectation: String,
    on scheduler: TestScheduler,
    _ limit: VirtualTime.Stride,
    _ location: CodeLocation,
    demand: Subscribers.Demand = .unlimited,
    _ read: (Recorder<Output, Failure>) -> Wanted?
  ) throws(MissingValues) -> Wanted {
    let recorder = Recorder<Output, Failure>(requesting: demand, on: scheduler)
    let start = scheduler.now
    let end = start.advanced(by: limit)
    subscribe(recorder)
    defer { recorder.cancel() }
    while true {
      if let wanted = read(recorder) { return wanted }
      guard recorder.completion == nil, let due = scheduler.nextDue, due <= end else { break }
      guard scheduler.doAll(dueBy: due, limit: 300_000) else {
        let outcome = "there is always more to do at \(due), and time does not go on"
        throw MissingValues(expectation: expectation, outcome: outcome, location: location)
      }
    }
    let outcome = Self.outcome(recorder, start, scheduler.nextDue.map { (due: $0, limit: limit) })
    throw MissingValues(expectation: expectation, outcome: outcome, location: location)
  }

  private static func outcome(
    _ recorder: Recorder<Output, Failure>,
    _ start: VirtualTime,
    _ next: (due: VirtualTime, limit: VirtualTime.Stride)?
  ) -> String {
    let came = recorder.values.count == 1 ? "1 value came" : "\(recorder.values.count) values came"
    switch (recorder.completion, next) {
    case (.finished, _): return "\(came) and then the finish"
    case (.failure(let error), _): return "\(came) and then the failure \(error)"
    case (nil, let next?): return "\(came) within \(next.limit); the next work is due at \(next.due)"
    case (nil, nil): return "\(came), and nothing waits any more that could bring another"
    }
  }
}
