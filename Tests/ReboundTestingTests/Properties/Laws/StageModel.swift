import Combine
import ReboundTesting

/// An operator, and what it makes of a list of values and an end.
struct StageModel: CustomDebugStringConvertible, Sendable {
  typealias Stream = AnyPublisher<Int, Broken>

  let debugDescription: String
  let apply: @Sendable (Stream) -> Stream
  let model: @Sendable (Outcome) -> Outcome
  /// Whether it may keep values back, which a failure then overtakes.
  var keepsBack = false
  /// Whether its end may wait for demand, for another reason than values that were kept back.
  var waits = false
  /// Whether it may fail by itself.
  var fails = false
  /// Whether it passes on whatever comes, as Apple's does, and asks for all of it.
  var ignoresDemand = false

  init(
    _ name: String,
    keepsBack: Bool = false,
    waits: Bool = false,
    fails: Bool = false,
    ignoresDemand: Bool = false,
    _ apply: @escaping @Sendable (Stream) -> any Publisher<Int, Broken>,
    _ model: @escaping @Sendable (Outcome) -> Outcome
  ) {
    debugDescription = name
    self.apply = { StageModel.erased(apply($0)) }
    self.model = model
    self.keepsBack = keepsBack
    self.waits = waits
    self.fails = fails
    self.ignoresDemand = ignoresDemand
  }

  private static func erased(_ stream: some Publisher<Int, Broken>) -> Stream { stream.eraseToAnyPublisher() }

  /// An operator that treats each value, and passes the end on.
  static func each(
    _ name: String,
    _ apply: @escaping @Sendable (Stream) -> any Publisher<Int, Broken>,
    _ values: @escaping @Sendable ([Int]) -> [Int]
  ) -> StageModel {
    StageModel(name, apply) { Outcome(values: values($0.values), end: $0.end) }
  }

  /// An operator that sends a value when its upstream has finished.
  static func atEnd(
    _ name: String,
    _ apply: @escaping @Sendable (Stream) -> any Publisher<Int, Broken>,
    _ value: @escaping @Sendable ([Int]) -> Int?
  ) -> StageModel {
    StageModel(name, waits: true, apply) {
      Outcome(values: $0.end == .finished ? value($0.values).map { [$0] } ?? [] : [], end: $0.end)
    }
  }

  /// An operator that finishes once its values are complete.
  static func until(
    _ name: String,
    _ apply: @escaping @Sendable (Stream) -> any Publisher<Int, Broken>,
    _ values: @escaping @Sendable ([Int]) -> (values: [Int], isComplete: Bool)
  ) -> StageModel {
    StageModel(name, waits: true, apply) { input in
      let (values, isComplete) = values(input.values)
      return Outcome(values: values, end: isComplete ? .finished : input.end)
    }
  }

  static let generator = Generator<StageModel> { choices in
    let number = choices.draw(.integer(in: 0...4))
    return choices.draw(.element(of: all(number)))
  }

  private static func all(_ n: Int) -> [StageModel] { mapping(n) + limiting(n) + reducing(n) + joining(n) }

  private static func mapping(_ n: Int) -> [StageModel] {
    [
      .each("map(+\(n))", { $0.map { $0 + n } }, { $0.map { $0 + n } }),
      .each("filter(even)", { $0.filter { $0.isMultiple(of: 2) } }, { $0.filter { $0.isMultiple(of: 2) } }),
      .each(
        "tryFilter(even)",
        { broken($0.tryFilter { $0.isMultiple(of: 2) }) },
        { $0.filter { $0.isMultiple(of: 2) } }
      ),
      .each("compactMap(≠\(n))", { $0.compactMap { $0 == n ? nil : $0 } }, { $0.filter { $0 != n } }),
      .each("scan(+)", { $0.scan(n, +) }, { sums($0, n) }),
      .each("tryScan(+)", { broken($0.tryScan(n) { $0 + $1 }) }, { sums($0, n) }),
      .each("dropFirst(\(n))", { $0.dropFirst(n) }, { Array($0.dropFirst(n)) }),
      .each("drop(< \(n))", { $0.drop { $0 < n } }, { Array($0.drop { $0 < n }) }),
      .each("tryDrop(< \(n))", { broken($0.tryDrop { $0 < n }) }, { Array($0.drop { $0 < n }) }),
      .each("removeDuplicates", { $0.removeDuplicates() }, { unlike($0, ==) }),
      .each("removeDuplicates(by:)", { $0.removeDuplicates { $0 % 2 == $1 % 2 } }, { unlike($0) { $0 % 2 == $1 % 2 } }),
      .each("handleEvents", { $0.handleEvents() }, { $0 }),
      .each("ignoreOutput", { $0.ignoreOutput().map { (_: Never) -> Int in } }, { _ in [] }),
      .each("replaceNil", { $0.map { $0 == n ? nil : $0 }.replaceNil(with: 8) }, { $0.map { $0 == n ? 8 : $0 } }),
      StageModel("tryMap(throws at \(n))", fails: true, { broken($0.tryMap { try throwing($0, at: n) }) }) { input in
        guard let place = input.values.firstIndex(of: n) else { return input }
        return Outcome(values: Array(input.values[..<place]), end: .failed)
      },
      .each("mapError", { $0.mapError { _ in Broken() } }, { $0 }),
    ]
  }

  private static func limiting(_ n: Int) -> [StageModel] {
    [
      .until("prefix(\(n + 1))", { $0.prefix(n + 1) }, { (Array($0.prefix(n + 1)), $0.count > n) }),
      .until("prefix(< \(n))", { $0.prefix { $0 < n } }, { (Array($0.prefix { $0 < n }), $0.contains { $0 >= n }) }),
      .until("first", { $0.first() }, { (Array($0.prefix(1)), !$0.isEmpty) }),
      .until("first(\(n))", { $0.first { $0 == n } }, { ($0.contains(n) ? [n] : [], $0.contains(n)) }),
      .until(
        "output(in: \(n)..<\(n + 2))",
        { $0.output(in: n..<n + 2) },
        { (Array($0.dropFirst(n).prefix(2)), $0.count >= n + 2) }
      ),
      .until("output(at: \(n))", { $0.output(at: n) }, { (Array($0.dropFirst(n).prefix(1)), $0.count > n) }),
      StageModel("contains(\(n))", waits: true, { $0.contains(n).map { $0 ? 1 : 0 } }) { input in
        input.values.contains(n)
          ? Outcome(values: [1], end: .finished) : Outcome(values: input.end == .finished ? [0] : [], end: input.end)
      },
      StageModel("allSatisfy(≠\(n))", waits: true, { $0.allSatisfy { $0 != n }.map { $0 ? 1 : 0 } }) { input in
        input.values.contains(n)
          ? Outcome(values: [0], end: .finished) : Outcome(values: input.end == .finished ? [1] : [], end: input.end)
      },
    ]
  }

  private static func reducing(_ n: Int) -> [StageModel] {
    [
      .atEnd("count", { $0.count() }, { $0.count }),
      .atEnd("last", { $0.last() }, { $0.last }),
      .atEnd("last(\(n))", { $0.last { $0 == n } }, { $0.last { $0 == n } }),
      .atEnd("min", { $0.min() }, { $0.min() }),
      .atEnd("max", { $0.max() }, { $0.max() }),
      .atEnd("reduce(+)", { $0.reduce(n, +) }, { $0.reduce(n, +) }),
      .atEnd("tryReduce(+)", { broken($0.tryReduce(n) { $0 + $1 }) }, { $0.reduce(n, +) }),
      .atEnd("collect", { $0.collect().map { $0.reduce(0, +) } }, { $0.reduce(0, +) }),
      StageModel("collect(\(n + 1))", waits: true, { $0.collect(n + 1).map { $0.reduce(0, +) } }) { input in
        let groups = stride(from: 0, to: input.values.count, by: n + 1).map { input.values.dropFirst($0).prefix(n + 1) }
        let complete = groups.filter { $0.count == n + 1 || input.end == .finished }
        return Outcome(values: complete.map { $0.reduce(0, +) }, end: input.end)
      },
      StageModel("replaceEmpty", waits: true, ignoresDemand: true, { $0.replaceEmpty(with: n) }) { input in
        input == Outcome(end: .finished) ? Outcome(values: [n], end: .finished) : input
      },
      StageModel("replaceError", waits: true, { $0.replaceError(with: n).setFailureType(to: Broken.self) }) { input in
        input.end == .failed ? Outcome(values: input.values + [n], end: .finished) : input
      },
    ]
  }

  private static func joining(_ n: Int) -> [StageModel] {
    [
      StageModel("append", keepsBack: true, { $0.append(7, n) }) { input in
        input.end == .finished ? Outcome(values: input.values + [7, n], end: .finished) : input
      },
      StageModel("prepend", keepsBack: true, { $0.prepend(7, n) }) { input in
        Outcome(values: [7, n] + input.values, end: input.end)
      },
      StageModel("catch", waits: true, { $0.catch { _ in [7, n].publisher.setFailureType(to: Broken.self) } }) {
        input in
        input.end == .failed ? Outcome(values: input.values + [7, n], end: .finished) : input
      },
      StageModel(
        "flatMap(max 1)",
        keepsBack: true,
        { $0.flatMap(maxPublishers: .max(1)) { Array(0..<$0 % 3).publisher.setFailureType(to: Broken.self) } }
      ) { Outcome(values: $0.values.flatMap { 0..<$0 % 3 }, end: $0.end) },
      StageModel(
        "buffer(by request)",
        keepsBack: true,
        { $0.buffer(size: 1_000, prefetch: .byRequest, whenFull: .dropNewest) }
      ) { $0 },
      StageModel(
        "buffer(keep full)",
        keepsBack: true,
        { $0.buffer(size: 1_000, prefetch: .keepFull, whenFull: .dropNewest) }
      ) { $0 },
    ]
  }

  private static func broken(_ stream: some Publisher<Int, any Error>) -> some Publisher<Int, Broken> {
    stream.mapError { _ in Broken() }
  }

  private static func throwing(_ value: Int, at n: Int) throws -> Int {
    if value == n { throw Broken() }
    return value
  }

  private static func sums(_ values: [Int], _ start: Int) -> [Int] {
    var sum = start
    return values.map { value in
      sum += value
      return sum
    }
  }

  private static func unlike(_ values: [Int], _ areAlike: (Int, Int) -> Bool) -> [Int] {
    values.reduce(into: []) { kept, value in
      if let last = kept.last, areAlike(last, value) { return }
      kept.append(value)
    }
  }
}
