import Combine

/// What the letters of marble diagrams stand for.
///
///     let numbers = Marbles(["a": 1, "b": 2, "c": 3])
///     try numbers.expect {
///       "a-b-|"
///       $0.scan(0, +)
///       "a-c-|"
///     }
///
/// Letters that stand for themselves need none of this: the free function `expect` plays them.
public struct Marbles<Input, Output: Equatable, InputFailure: Error> {
  private let input: (Character) -> Input?
  private let output: (Character) -> Output?
  private let name: (Output) -> Character?
  private let failure: InputFailure

  init(
    input: @escaping (Character) -> Input?,
    output: @escaping (Character) -> Output?,
    name: @escaping (Output) -> Character?,
    failure: InputFailure
  ) {
    self.input = input
    self.output = output
    self.name = name
    self.failure = failure
  }

  /// Says what the letters stand for.
  ///
  /// - Parameters:
  ///   - inputs: The letters of the inputs.
  ///   - outputs: The letters of the output.
  ///   - failure: What `#` in an input fails with; in the output `#` is any failure.
  public init(inputs: [Character: Input], outputs: [Character: Output], failure: InputFailure) {
    self.init(
      input: { inputs[$0] },
      output: { outputs[$0] },
      name: { value in outputs.filter { $0.value == value }.keys.min() },
      failure: failure
    )
  }

  /// Plays a diagram with one input.
  ///
  /// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
  public func expect<Failure: Error>(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column,
    @MarbleBuilder _ build: (MarblePublisher<Input, InputFailure>) -> MarbleDiagram<Output, Failure>
  ) throws {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    try check(inputs: 1, location) { sources, _ in build(sources[0]) }
  }

  /// Plays a diagram with one input, and a chain that needs a scheduler.
  ///
  /// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
  public func expect<Failure: Error>(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column,
    @MarbleBuilder _ build: (MarblePublisher<Input, InputFailure>, TestScheduler) -> MarbleDiagram<Output, Failure>
  ) throws {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    try check(inputs: 1, location) { sources, scheduler in build(sources[0], scheduler) }
  }

  /// Plays a diagram with two inputs.
  ///
  /// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
  public func expect<Failure: Error>(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column,
    @MarbleBuilder _ build: (MarblePublisher<Input, InputFailure>, MarblePublisher<Input, InputFailure>) ->
      MarbleDiagram<Output, Failure>
  ) throws {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    try check(inputs: 2, location) { sources, _ in build(sources[0], sources[1]) }
  }

  /// Plays a diagram with two inputs, and a chain that needs a scheduler.
  ///
  /// - Throws: ``MarbleMismatch`` with both diagrams if something else comes, ``MarbleSyntaxError`` if a row makes no sense.
  public func expect<Failure: Error>(
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column,
    @MarbleBuilder _ build: (MarblePublisher<Input, InputFailure>, MarblePublisher<Input, InputFailure>, TestScheduler)
      -> MarbleDiagram<Output, Failure>
  ) throws {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    try check(inputs: 2, location) { sources, scheduler in build(sources[0], sources[1], scheduler) }
  }

  private func check<Failure>(
    inputs count: Int,
    _ location: CodeLocation,
    _ build: ([MarblePublisher<Input, InputFailure>], TestScheduler) -> MarbleDiagram<Output, Failure>
  ) throws {
    let scheduler = TestScheduler()
    let sources = (0..<count).map { _ in MarblePublisher<Input, InputFailure>(on: scheduler) }
    let run = MarbleRun(
      scheduler: scheduler,
      sources: sources,
      diagram: build(sources, scheduler),
      input: input,
      output: output,
      outputNames: name,
      failure: failure,
      location: location
    )
    try run.check()
  }
}

extension Marbles where InputFailure == MarbleFailure {
  /// Says what the letters stand for; inputs fail with ``MarbleFailure``.
  ///
  /// - Parameters:
  ///   - inputs: The letters of the inputs.
  ///   - outputs: The letters of the output.
  public init(inputs: [Character: Input], outputs: [Character: Output]) {
    self.init(inputs: inputs, outputs: outputs, failure: MarbleFailure())
  }
}

extension Marbles where Input == Output {
  /// Says what the letters stand for, in inputs and output alike.
  ///
  /// - Parameters:
  ///   - values: The letters.
  ///   - failure: What `#` in an input fails with; in the output `#` is any failure.
  public init(_ values: [Character: Input], failure: InputFailure) {
    self.init(inputs: values, outputs: values, failure: failure)
  }
}

extension Marbles where Input == Output, InputFailure == MarbleFailure {
  /// Says what the letters stand for, in inputs and output alike; inputs fail with ``MarbleFailure``.
  public init(_ values: [Character: Input]) {
    self.init(inputs: values, outputs: values, failure: MarbleFailure())
  }
}

extension Marbles where Input == String, Output == String {
  /// Letters that stand for themselves, and what `#` in an input fails with.
  public init(failure: InputFailure) {
    self.init(
      input: { String($0) },
      output: { String($0) },
      name: { $0.count == 1 ? $0.first : nil },
      failure: failure
    )
  }
}
