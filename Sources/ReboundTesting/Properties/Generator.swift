/// Makes values by chance, for ``forAll(_:runs:seed:shrinks:fileID:filePath:line:column:_:)``.
///
///     let point = Generator { choices in
///       Point(x: choices.draw(.integer(in: -9...9)), y: choices.draw(.integer(in: -9...9)))
///     }
///
/// A failing value is made simpler by simpler choices, whatever generators it is composed of: numbers come nearer to zero,
/// lists become shorter, and the first of several cases is taken.
public struct Generator<Value>: Sendable {
  let make: @Sendable (inout ChoiceSequence) -> Value

  /// Makes a generator.
  ///
  /// - Parameter make: Makes a value of choices, and of nothing else: of the same choices, the same value.
  public init(_ make: @escaping @Sendable (inout ChoiceSequence) -> Value) {
    self.make = make
  }

  /// Makes other values of these.
  public func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Generator<Other> {
    Generator<Other> { transform(make(&$0)) }
  }

  /// Makes a value, and another of the generator that it stands for.
  public func flatMap<Other>(_ next: @escaping @Sendable (Value) -> Generator<Other>) -> Generator<Other> {
    Generator<Other> { next(make(&$0)).make(&$0) }
  }

  /// Makes only values that meet a condition.
  ///
  /// Where a hundred in a row do not, the run does not count; a generator that makes the right ones at once is better. What
  /// goes on with its value, such as ``map(_:)``, gets one of the right ones then, too, unless hardly any value is right.
  public func filter(_ isRight: @escaping @Sendable (Value) -> Bool) -> Generator {
    Generator { choices in
      for _ in 0...100 {
        let value = make(&choices)
        if isRight(value) { return value }
      }
      choices.isRejected = true
      // Nobody sees what is made of it, but who makes it may rely on the condition: a division, say.
      var others = ChoiceSequence(seed: 0)
      var value = make(&others)
      for _ in 0..<1_000 where !isRight(value) { value = make(&others) }
      return value
    }
  }
}

// MARK: - Values

extension Generator {
  /// Always the same value.
  public static func constant(_ value: Value) -> Generator where Value: Sendable { Generator { _ in value } }

  /// One of some values, the first being the simplest.
  ///
  /// - Parameter values: At least one.
  public static func element(of values: [Value]) -> Generator where Value: Sendable {
    // There is no value to make of none: a mistake in the test, which has to be told where it is.
    precondition(!values.isEmpty, "Generator.element(of:) needs at least one value to choose from")
    return Generator { values[Int($0.draw(upTo: UInt64(values.count - 1)))] }
  }

  /// A value of one of some generators, the first being the simplest.
  ///
  /// - Parameter generators: At least one.
  public static func one(of generators: Generator...) -> Generator { one(of: generators) }

  /// A value of one of some generators, the first being the simplest.
  ///
  /// - Parameter generators: At least one; one that stands there twice is taken twice as often.
  public static func one(of generators: [Generator]) -> Generator {
    // There is no value to make of none: a mistake in the test, which has to be told where it is.
    precondition(!generators.isEmpty, "Generator.one(of:) needs at least one generator to choose from")
    return Generator { choices in
      choices.draw(generators[Int(choices.draw(upTo: UInt64(generators.count - 1)))])
    }
  }

  /// `nil` is the simplest.
  public static func optional<Wrapped>(_ generator: Generator<Wrapped>) -> Generator where Value == Wrapped? {
    Generator { choices in choices.draw(upTo: 3) == 0 ? nil : choices.draw(generator) }
  }

  /// A list, the shorter the simpler.
  ///
  /// - Parameters:
  ///   - element: Makes its elements.
  ///   - count: How many there are; ten more than the least on average, where there may be more than twenty.
  public static func array<Element>(
    of element: Generator<Element>,
    count: ClosedRange<Int> = 0...1_000
  ) -> Generator where Value == [Element] {
    let least = max(count.lowerBound, 0)
    let most = max(count.upperBound, 0) - least
    let average = UInt64(min(most / 2 + most % 2, 10))
    return Generator { choices in
      var elements: [Element] = []
      while elements.count < least { elements.append(choices.draw(element)) }
      guard count.upperBound > least else { return elements }
      // One choice before each element, and one behind the last in any case, so that an element can be left out without a
      // change to what comes behind it.
      while choices.draw(upTo: average) > 0, elements.count < count.upperBound {
        elements.append(choices.draw(element))
      }
      return elements
    }
  }
}

extension Generator where Value == Bool {
  /// False is the simpler one.
  public static var bool: Generator { Generator { $0.draw(upTo: 1) == 1 } }
}

extension Generator where Value == Double {
  /// A number in `0..<1`; zero is the simplest.
  public static var unit: Generator { Generator { Double($0.draw(upTo: 1 << 53 - 1)) * 0x1p-53 } }
}

extension Generator where Value: FixedWidthInteger & Sendable {
  /// A number of a range, the nearer to zero the simpler.
  ///
  /// Of wide ranges, small numbers and those at the ends come more often than others.
  public static func integer(in range: ClosedRange<Value> = .min ... .max) -> Generator {
    let origin = min(max(0, range.lowerBound), range.upperBound)
    return Generator { choices in
      let (up, down) = (distance(from: origin, to: range.upperBound), distance(from: range.lowerBound, to: origin))
      let isDown = down > 0 && (up == 0 || choices.draw(upTo: 1) == 1)
      // The bits are those of the sum, which lies in the range, whatever the sign.
      let offset = Value(truncatingIfNeeded: offset(upTo: isDown ? down : up, &choices))
      return isDown ? origin &- offset : origin &+ offset
    }
  }

  private static func distance(from low: Value, to high: Value) -> Value.Magnitude {
    Value.Magnitude(truncatingIfNeeded: high &- low)
  }

  private static func offset(upTo far: Value.Magnitude, _ choices: inout ChoiceSequence) -> Value.Magnitude {
    guard let near = UInt64(exactly: far) else { return wideOffset(upTo: far, &choices) }
    let offset = near > 1_000 ? choices.drawFavouringEnds(upTo: near) : choices.draw(upTo: near)
    return Value.Magnitude(truncatingIfNeeded: offset)
  }

  /// Two choices make up a number of more bits than one has; of a type of more than 128 bits, only the lower ones are drawn.
  private static func wideOffset(upTo far: Value.Magnitude, _ choices: inout ChoiceSequence) -> Value.Magnitude {
    let top = UInt64(clamping: far >> 64)
    let high = choices.draw(upTo: 1) == 0 ? 0 : choices.drawFavouringEnds(upTo: top)
    let isLast = high == far >> 64
    let low = choices.drawFavouringEnds(upTo: isLast ? UInt64(truncatingIfNeeded: far) : .max)
    return Value.Magnitude(truncatingIfNeeded: high) << 64 | Value.Magnitude(truncatingIfNeeded: low)
  }
}

extension Generator where Value == String {
  /// A text, the shorter the simpler.
  ///
  /// - Parameters:
  ///   - characters: What it is made of, the first being the simplest; at least one.
  ///   - count: How many there are.
  public static func string(of characters: String, count: ClosedRange<Int> = 0...1_000) -> Generator {
    Generator<[Character]>.array(of: .element(of: Array(characters)), count: count).map { String($0) }
  }

  /// A text of any characters, letters before others.
  public static var string: Generator {
    let ascii = Generator<Unicode.Scalar>.element(
      of: (0x61...0x7E).map(Unicode.Scalar.init) + (0...0x60).map(Unicode.Scalar.init)
    )
    let other = Generator<UInt32>.integer(in: 0x80...0x10FFFF).map { Unicode.Scalar($0) ?? "\u{FFFD}" }
    return Generator<[Unicode.Scalar]>.array(of: .one(of: ascii, ascii, other))
      .map { String(String.UnicodeScalarView($0)) }
  }
}

/// Makes pairs.
public func zip<A, B>(_ a: Generator<A>, _ b: Generator<B>) -> Generator<(A, B)> {
  Generator { ($0.draw(a), $0.draw(b)) }
}

/// Makes triples.
public func zip<A, B, C>(_ a: Generator<A>, _ b: Generator<B>, _ c: Generator<C>) -> Generator<(A, B, C)> {
  Generator { ($0.draw(a), $0.draw(b), $0.draw(c)) }
}

/// Makes fours.
public func zip<A, B, C, D>(
  _ a: Generator<A>,
  _ b: Generator<B>,
  _ c: Generator<C>,
  _ d: Generator<D>
) -> Generator<(A, B, C, D)> {
  Generator { ($0.draw(a), $0.draw(b), $0.draw(c), $0.draw(d)) }
}
