/// Looks for simpler choices for which a property still fails: fewer ones, or as many that are smaller from the left.
struct ShrinkSearch<Value> {
  typealias Found = (choices: [UInt64], value: Value, cause: any Error)

  private let generator: Generator<Value>
  private let property: (Value) throws -> Void
  private var budget: Int
  /// How many times something simpler was found.
  private(set) var steps = 0

  init(_ generator: Generator<Value>, _ property: @escaping (Value) throws -> Void, budget: Int) {
    self.generator = generator
    self.property = property
    self.budget = budget
  }

  mutating func simplify(_ choices: [UInt64], _ value: Value, _ cause: any Error) -> Found {
    var best: Found = (choices, value, cause)
    while budget > 0 {
      let before = steps
      leaveOut(&best)
      zero(&best)
      lower(&best)
      exchange(&best)
      shift(&best)
      if steps == before { break }
    }
    return best
  }

  /// Takes the choices if the property fails for what is made of them, and they are simpler.
  private mutating func take(_ choices: [UInt64], _ best: inout Found) -> Bool {
    guard budget > 0 else { return false }
    budget -= 1
    var sequence = ChoiceSequence(choices)
    let value = generator.make(&sequence)
    // What counts is what was asked for, which may be fewer than were given, or more.
    let made = sequence.made
    guard !sequence.isRejected, isSimpler(made, best.choices) else { return false }
    do { try property(value) } catch {
      best = (made, value, error)
      steps += 1
      return true
    }
    return false
  }

  private func isSimpler(_ left: [UInt64], _ right: [UInt64]) -> Bool {
    left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
  }

  private mutating func leaveOut(_ best: inout Found) {
    for size in [32, 16, 8, 7, 6, 5, 4, 3, 2, 1] {
      var start = best.choices.count - size
      while start >= 0, budget > 0 {
        var choices = best.choices
        choices.removeSubrange(start..<start + size)
        if !take(choices, &best), start > 0, choices[start - 1] > 0 {
          // What is in front may say how many there are.
          choices[start - 1] -= 1
          _ = take(choices, &best)
        }
        start = min(start - 1, best.choices.count - size)
      }
    }
  }

  private mutating func zero(_ best: inout Found) {
    for size in [16, 8, 4, 2] {
      var start = 0
      while start + size <= best.choices.count, budget > 0 {
        var choices = best.choices
        choices.replaceSubrange(start..<start + size, with: repeatElement(0, count: size))
        if choices != best.choices { _ = take(choices, &best) }
        start += size
      }
    }
  }

  /// Halves the distance to the smallest choice for which it fails, each choice for itself.
  private mutating func lower(_ best: inout Found) {
    var index = 0
    while index < best.choices.count, budget > 0 {
      defer { index += 1 }
      guard best.choices[index] > 0, !takeLower(0, at: index, &best) else { continue }
      var low: UInt64 = 0
      while index < best.choices.count, best.choices[index] > low + 1, budget > 0 {
        let middle = low + (best.choices[index] - low) / 2
        if !takeLower(middle, at: index, &best) { low = middle }
      }
    }
  }

  private mutating func takeLower(_ choice: UInt64, at index: Int, _ best: inout Found) -> Bool {
    var choices = best.choices
    choices[index] = choice
    return take(choices, &best)
  }

  /// Sorts neighbours, so that what is large comes last.
  private mutating func exchange(_ best: inout Found) {
    for distance in 1...3 {
      var index = 0
      while index + distance < best.choices.count, budget > 0 {
        if best.choices[index] > best.choices[index + distance] {
          var choices = best.choices
          choices.swapAt(index, index + distance)
          _ = take(choices, &best)
        }
        index += 1
      }
    }
  }

  /// Takes from one what it gives to another behind it, for properties of sums.
  private mutating func shift(_ best: inout Found) {
    for distance in 1...3 {
      var index = 0
      while index + distance < best.choices.count, budget > 0 {
        defer { index += 1 }
        var amount = best.choices[index]
        while amount > 0, index + distance < best.choices.count, budget > 0 {
          var choices = best.choices
          choices[index] -= min(amount, choices[index])
          choices[index + distance] &+= amount
          let isTaken = choices[index + distance] >= amount && take(choices, &best)
          amount = isTaken && index < best.choices.count ? min(amount, best.choices[index]) : amount / 2
        }
      }
    }
  }
}
