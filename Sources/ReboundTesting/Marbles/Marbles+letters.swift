import Combine

/// Plays a diagram with one input, and a chain that needs a scheduler.
///
///     try expect {
///       "a-#"                                                      // the input, anew for each subscription
///       $0.retry(.constant(.ticks(2)), times: 1, time: $1.time)
///       "a---a-#"                                                  // what comes of it
///     }
///
/// Time runs to the right, one second a frame. `-` is a frame in which nothing happens, a letter a value (a text of this
/// letter), `|` the finish, `#` a failure; `(ab|)` happens in one frame, in this order; spaces stand for nothing. An input
/// with a `^` is hot: it plays once for all, and the `^` is time zero. Any other is cold. Behind the chain stands the
/// output, and beside it what else is to be said: a ``DemandRow``, ``SubscriptionRows``.
///
/// Time goes on behind the diagram, to see that nothing else comes. A chain that has always more to do in one frame, such as a retry
/// at once without an end, fails the test.
///
/// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
public func expect<Failure: Error>(
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  @MarbleBuilder _ build: (MarblePublisher<String, MarbleFailure>, TestScheduler) -> MarbleDiagram<String, Failure>
) throws {
  try Marbles(failure: MarbleFailure())
    .expect(fileID: fileID, filePath: filePath, line: line, column: column, build)
}

/// Plays a diagram with one input.
///
/// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
public func expect<Failure: Error>(
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  @MarbleBuilder _ build: (MarblePublisher<String, MarbleFailure>) -> MarbleDiagram<String, Failure>
) throws {
  try Marbles(failure: MarbleFailure())
    .expect(fileID: fileID, filePath: filePath, line: line, column: column, build)
}

/// Plays a diagram with two inputs.
///
/// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
public func expect<Failure: Error>(
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  @MarbleBuilder _ build: (MarblePublisher<String, MarbleFailure>, MarblePublisher<String, MarbleFailure>) ->
    MarbleDiagram<String, Failure>
) throws {
  try Marbles(failure: MarbleFailure())
    .expect(fileID: fileID, filePath: filePath, line: line, column: column, build)
}

/// Plays a diagram with two inputs, and a chain that needs a scheduler.
///
/// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
public func expect<Failure: Error>(
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  @MarbleBuilder _ build: (
    MarblePublisher<String, MarbleFailure>, MarblePublisher<String, MarbleFailure>, TestScheduler
  ) -> MarbleDiagram<String, Failure>
) throws {
  try Marbles(failure: MarbleFailure())
    .expect(fileID: fileID, filePath: filePath, line: line, column: column, build)
}
