import Combine

// MARK: What must come next

extension StepVerifier {
  /// The subscription comes next.
  ///
  /// It is expected without this step as well.
  public func expectSubscription(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectSubscription", location) { session throws(StepProblem) in
      try session.expect("the subscription", skipsSubscription: false) { $0.isSubscription }
    }
  }

  /// A value for which the condition holds comes next.
  ///
  /// - Parameters:
  ///   - expectation: The condition in words, for the message.
  ///   - condition: Asked about the value.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public func expectNext(
    _ expectation: String,
    where condition: @escaping (Output) -> Bool,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectNext(\(expectation))", location) { session throws(StepProblem) in
      try session.expect("a value, \(expectation)") { $0.value.map(condition) ?? false }
    }
  }

  /// So many values come next, whatever they are.
  public func expectNextCount(
    _ count: Int,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectNextCount(\(count))", location) { session throws(StepProblem) in
      for number in 0..<max(count, 0) {
        try session.expect("value \(number + 1) of \(count)") { $0.value != nil }
      }
    }
  }

  /// Nothing has come that is not expected, and nothing comes while time moves on.
  ///
  /// - Parameters:
  ///   - stride: How far time moves on.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public func expectNoEvent(
    for stride: VirtualTime.Stride,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectNoEvent(for: \(stride))", location) { session throws(StepProblem) in
      try session.expectNoEvent(for: stride)
    }
  }

  /// The finish comes next.
  public func expectFinish(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectFinish", location) { session throws(StepProblem) in
      try session.expect("the finish") { $0.isFinish }
    }
  }

  /// A failure for which the condition holds comes next.
  ///
  /// - Parameters:
  ///   - condition: Asked about the error; without one, any failure will do.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public func expectFailure(
    where condition: @escaping (Failure) -> Bool = { _ in true },
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectFailure", location) { session throws(StepProblem) in
      try session.expect("a failure", "a failure as described") { $0.failure.map(condition) ?? false }
    }
  }

  /// The subscriber may still receive so many values.
  public func expectOutstanding(
    _ demand: Subscribers.Demand,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectOutstanding(\(demand.text))", location) { session throws(StepProblem) in
      let ledger = session.recorder.demand
      guard ledger.outstanding == demand else {
        throw StepProblem("expected \(demand.text) to be outstanding, but it is \(ledger).")
      }
    }
  }

  /// The chain has let go of its subscriber, now that it has ended or was cancelled: nothing has leaked.
  ///
  /// A ``TestPublisher`` holds its subscriber until it cancels; a chain on it leaks in this sense after an end.
  public func expectRelease(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectRelease", location) { session throws(StepProblem) in
      try session.expectRelease()
    }
  }
}

extension StepVerifier where Output: Equatable {
  /// These values come next, in this order.
  public func expectNext(
    _ values: Output...,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectNext(\(values.map { words(for: $0) }.joined(separator: ", ")))", location) {
      session throws(StepProblem) in
      for expected in values {
        try session.expect("the value \(words(for: expected))") { $0.value == expected }
      }
    }
  }
}

extension StepVerifier where Failure: Equatable {
  /// This failure comes next.
  public func expectFailure(
    _ failure: Failure,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("expectFailure(\(failure))", location) { session throws(StepProblem) in
      try session.expect("the failure \(failure)") { $0.failure == failure }
    }
  }
}

// MARK: What is done next

extension StepVerifier {
  /// Requests more.
  public func thenRequest(
    _ demand: Subscribers.Demand,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("thenRequest(\(demand.text))", location) { session throws(StepProblem) in
      session.recorder.request(demand)
      session.scheduler.advance()
    }
  }

  /// Moves time on, and does all work that falls due.
  public func thenAdvance(
    by stride: VirtualTime.Stride,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("thenAdvance(by: \(stride))", location) { session throws(StepProblem) in
      session.scheduler.advance(by: stride)
    }
  }

  /// Cancels; nothing may come after it.
  public func thenCancel(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("thenCancel", location) { session throws(StepProblem) in
      session.cancel()
    }
  }

  /// Runs a closure: to send something, or to look at something else.
  public func thenRun(
    _ body: @escaping () -> Void,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) -> Self {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding("thenRun", location) { session throws(StepProblem) in
      body()
      session.scheduler.advance()
    }
  }
}
