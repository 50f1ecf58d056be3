/// Runs a property with many values made by chance, and finds a simple one for which it does not hold.
///
///     try forAll(.array(of: .integer(in: 0...99))) { numbers in
///       try requireEqual(Array(numbers.reversed().reversed()), numbers)
///     }
///
/// The property fails by throwing, so use ``requireEqual(_:_:_:)`` and ``requireTrue(_:_:)``: what a test framework's own
/// macros find is reported at once, also for each of the many values that are tried to find a simple one.
///
/// - Parameters:
///   - generator: Makes the values; `zip` makes one of several.
///   - runs: How many values.
///   - seed: The seed of the first run; each run's is one more.
///   - shrinks: How many simpler values are tried at most.
///   - fileID: Where the property stands.
///   - filePath: Where the property stands.
///   - line: Where the property stands.
///   - column: Where the property stands.
///   - property: Throws if it does not hold for a value; of the same value, it does the same each time.
/// - Throws: ``PropertyFailure`` with the simplest value that was found.
public func forAll<Value>(
  _ generator: Generator<Value>,
  runs: Int = 100,
  seed: UInt64 = 0,
  shrinks: Int = 2_000,
  fileID: String = #fileID,
  filePath: StaticString = #filePath,
  line: Int = #line,
  column: Int = #column,
  _ property: (Value) throws -> Void
) throws(PropertyFailure) {
  let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  var (done, tried, used) = (0, 0, UInt64(0))
  while done < runs {
    var choices = ChoiceSequence(seed: seed &+ used)
    defer { used += 1 }
    let value = generator.make(&choices)
    tried += 1
    if choices.isRejected {
      // Most are thrown away, so what is tested is not what was meant.
      guard tried <= 10 * (done + 10) else { throw .starved(at: location, tried: tried, done: done) }
      continue
    }
    done += 1
    do { try property(value) } catch {
      let (simplest, steps) = withoutActuallyEscaping(property) { property in
        var search = ShrinkSearch(generator, property, budget: shrinks)
        return (search.simplify(choices.made, value, error), search.steps)
      }
      throw PropertyFailure(
        location: location,
        seed: seed &+ used,
        run: done,
        value: String(reflecting: simplest.value),
        cause: simplest.cause,
        steps: steps
      )
    }
  }
}

/// A property does not hold.
public struct PropertyFailure: Error {
  /// Where the property stands.
  public let location: CodeLocation
  /// The seed of the run: `forAll` with it begins with this run.
  public let seed: UInt64
  /// The number of the run, from 1.
  public let run: Int
  /// The simplest value that was found for which it does not hold.
  public let value: String
  /// What the property threw for that value.
  public let cause: any Error
  /// How many times the value was made simpler.
  public let steps: Int

  static func starved(at location: CodeLocation, tried: Int, done: Int) -> PropertyFailure {
    PropertyFailure(
      location: location,
      seed: 0,
      run: done,
      value: "none",
      cause: StarvedGenerator(tried: tried, done: done),
      steps: 0
    )
  }
}

extension PropertyFailure: CustomStringConvertible {
  /// The value, what it led to, and how to run it again.
  public var description: String {
    if cause is StarvedGenerator { return "\(location): \(cause)" }
    let simpler = steps == 0 ? "as it was drawn" : "made simpler \(steps) times"
    return """
      \(location): the property does not hold for \(value)
        \(cause)
      Found in run \(run), \(simpler). forAll(…, seed: \(seed)) begins with it.
      """
  }
}

/// A generator's condition is hardly ever met.
public struct StarvedGenerator: Error, Hashable, CustomStringConvertible {
  /// How many values were made.
  public let tried: Int
  /// How many of them met the condition.
  public let done: Int

  /// What happened, and what to do next.
  public var description: String {
    "Of \(tried) values only \(done) met the generator's condition. Make the right values at once in place of filter(_:)."
  }
}

/// A value is not what a property expects.
public struct PropertyMismatch: Error, CustomStringConvertible {
  /// What is wrong.
  public let description: String
}

/// Makes sure that two values are equal, and reports to nobody but its caller.
///
/// - Parameters:
///   - actual: What it is.
///   - expected: What it should be.
///   - comment: What it is about.
/// - Throws: ``PropertyMismatch`` if they are not.
public func requireEqual<Value: Equatable>(
  _ actual: Value,
  _ expected: Value,
  _ comment: @autoclosure () -> String = ""
) throws(PropertyMismatch) {
  guard actual != expected else { return }
  let text = comment()
  throw PropertyMismatch(
    description: (text.isEmpty ? "" : "\(text): ")
      + "\(String(reflecting: actual)), expected \(String(reflecting: expected))"
  )
}

/// Makes sure that a condition is met, and reports to nobody but its caller.
///
/// - Parameters:
///   - condition: What should hold.
///   - comment: What it is about.
/// - Throws: ``PropertyMismatch`` if it does not.
public func requireTrue(_ condition: Bool, _ comment: @autoclosure () -> String) throws(PropertyMismatch) {
  guard !condition else { return }
  throw PropertyMismatch(description: comment())
}
