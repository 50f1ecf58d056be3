import Combine
import ReboundTesting
import Testing

/// Operators against plain functions of lists, under any demand.
@Suite("operators and their models")
struct OperatorPropertyTests {
  private static let chains = zip(
    Generator<[StageModel]>.array(of: StageModel.generator, count: 1...4),
    Generator<[Move]>.array(of: Move.generator(sides: 1), count: 1...40),
    // What the subscriber asks for with each value.
    Generator<Int>.integer(in: 0...1)
  )

  @Test(
    "a chain gives what its model gives: no value too many, too late or lost, and one end",
    arguments: 0..<10 as Range<UInt64>
  )
  func chains(seed: UInt64) throws {
    try forAll(Self.chains, runs: 200, seed: seed * 1_000) { stages, moves, answer in
      let supply = Supply()
      let demand: Subscribers.Demand = stages.contains(where: \.ignoresDemand) ? .unlimited : .none
      let recorder = Recorder<Int, Broken>(requesting: demand) { _, _ in .max(answer) }
      stages.reduce(supply.eraseToAnyPublisher()) { $1.apply($0) }.subscribe(recorder)
      for move in moves {
        switch move {
        case .request(let count): recorder.request(.max(count))
        case .requestAll: recorder.request(.unlimited)
        case .send(let value, _): supply.send(value)
        case .finish: supply.send(completion: .finished)
        case .fail: supply.send(completion: .failure(Broken()))
        }
        try check(recorder, supply, stages, "after '\(move)'")
      }
    }
  }

  private func check(
    _ recorder: Recorder<Int, Broken>,
    _ supply: Supply,
    _ stages: [StageModel],
    _ moment: String
  ) throws {
    let end: Outcome.End? = supply.end.map { $0 == .finished ? .finished : .failed }
    let expected = stages.reduce(Outcome(values: supply.sent, end: end)) { $1.model($0) }
    let outcome = recorder.outcome
    try requireEqual(recorder.demand.excess, 0, "\(moment), values beyond the demand")
    try requireTrue(recorder.completions.count <= 1, "\(moment), ends: \(recorder.completions)")
    let asks = recorder.demand.outstanding > .none
    if outcome.end == nil, asks {
      try requireTrue(supply.demand > .none || supply.isOver, "\(moment), nothing is asked of the upstream")
    }
    if outcome.end != nil {
      try requireTrue(supply.isOver || !supply.isSubscribed, "\(moment), the upstream is not let go of")
    }
    // A failure overtakes what is kept back, and what comes behind depends on how much that was.
    if stages.contains(where: \.keepsBack), end == .failed || stages.contains(where: \.fails) { return }
    try requireEqual(outcome.values, Array(expected.values.prefix(outcome.values.count)), moment)
    if asks { try requireEqual(outcome.values, expected.values, "\(moment), values that were asked for") }
    if outcome.end != nil || outcome.values == expected.values, !awaitsDemand(stages) || asks {
      try requireEqual(outcome, expected, moment)
    }
  }

  /// Whether the end may wait for demand, since only that shows that nothing comes before it.
  private func awaitsDemand(_ stages: [StageModel]) -> Bool { stages.contains { $0.keepsBack || $0.waits } }

  private static let moves = Generator<[Move]>.array(of: Move.generator(sides: 2), count: 1...60)

  /// Lets two upstreams and a subscriber make their moves; `check` is told what was sent, in order.
  private func play(
    _ moves: [Move],
    _ answer: Int,
    isLively: Bool = true,
    _ join: (Supply, Supply) -> some Publisher<Int, Broken>,
    _ check: (Recorder<Int, Broken>, [Supply], [Move], String) throws -> Void
  ) throws {
    let supplies = [Supply(), Supply()]
    let recorder = Recorder<Int, Broken>(requesting: .none) { _, _ in .max(answer) }
    join(supplies[0], supplies[1]).subscribe(recorder)
    var done: [Move] = []
    for move in moves {
      let isDone =
        switch move {
        case .request, .requestAll: recorder.completion == nil
        case .send(let value, let side): supplies[side].demand > .none && !supplies[side].isOver && value >= 0
        case .finish(let side), .fail(let side): !supplies[side].isOver
        }
      guard isDone else { continue }
      done.append(move)
      switch move {
      case .request(let count): recorder.request(.max(count))
      case .requestAll: recorder.request(.unlimited)
      case .send(let value, let side): supplies[side].send(value * 2 + side)
      case .finish(let side): supplies[side].send(completion: .finished)
      case .fail(let side): supplies[side].send(completion: .failure(Broken()))
      }
      let moment = "after \(done)"
      try requireEqual(recorder.demand.excess, 0, "\(moment), values beyond the demand")
      try requireTrue(recorder.completions.count <= 1, "\(moment), ends: \(recorder.completions)")
      if recorder.completion != nil {
        try requireTrue(supplies.allSatisfy(\.isOver), "\(moment), an upstream is not let go of")
      } else if isLively, recorder.demand.outstanding > .none {
        try requireTrue(
          supplies.contains { $0.demand > .none && !$0.isOver } || supplies.allSatisfy(\.isOver),
          "\(moment), nothing is asked of the upstreams"
        )
      }
      try check(recorder, supplies, done, moment)
    }
  }

  @Test("zip pairs values in order, and ends when no further pair can come", arguments: 0..<4 as Range<UInt64>)
  func zips(seed: UInt64) throws {
    try forAll(zip(Self.moves, Generator<Int>.integer(in: 0...1)), runs: 200, seed: seed * 1_000) { moves, answer in
      try play(moves, answer, { $0.zip($1) { $0 * 100 + $1 } }) { recorder, supplies, _, moment in
        let pairs = Swift.zip(supplies[0].sent, supplies[1].sent).map { $0 * 100 + $1 }
        let isComplete = supplies.contains { $0.end == .finished && $0.sent.count == pairs.count }
        let hasFailed = supplies.contains { $0.end == .failure(Broken()) }
        let end: Outcome.End? = hasFailed ? .failed : isComplete ? .finished : nil
        try requireEqual(recorder.outcome, Outcome(values: pairs, end: end), moment)
      }
    }
  }

  @Test("merge passes on every value, those of each upstream in order", arguments: 0..<4 as Range<UInt64>)
  func merges(seed: UInt64) throws {
    try forAll(zip(Self.moves, Generator<Int>.integer(in: 0...1)), runs: 200, seed: seed * 1_000) { moves, answer in
      try play(moves, answer, { $0.merge(with: $1) }) { recorder, supplies, _, moment in
        let outcome = recorder.outcome
        for (side, supply) in supplies.enumerated() {
          let received = outcome.values.filter { $0 % 2 == side }
          try requireEqual(received, Array(supply.sent.prefix(received.count)), moment)
        }
        let count = supplies.reduce(0) { $0 + $1.sent.count }
        if supplies.contains(where: { $0.end == .failure(Broken()) }) {
          try requireEqual(outcome.end, .failed, moment)
        } else {
          let isComplete = supplies.allSatisfy { $0.end == .finished } && outcome.values.count == count
          try requireEqual(outcome.end, isComplete ? .finished : nil, moment)
          if recorder.demand.outstanding > .none { try requireEqual(outcome.values.count, count, "\(moment), count") }
        }
      }
    }
  }

  @Test("combineLatest sends the latest values when there is demand", arguments: 0..<4 as Range<UInt64>)
  func combines(seed: UInt64) throws {
    try forAll(zip(Self.moves, Generator<Int>.integer(in: 0...1)), runs: 200, seed: seed * 1_000) { moves, answer in
      // Values that come before the other side has any use up what was asked for, as with Apple's.
      try play(moves, answer, isLively: false, { $0.combineLatest($1) { $0 * 100 + $1 } }) {
        recorder,
        _,
        done,
        moment in
        var (expected, demand) = (Outcome(), 0)
        var latest: [Int?] = [nil, nil]
        var finished = Set<Int>()
        for move in done {
          switch move {
          case .request(let count): demand += count
          case .requestAll: demand = 1_000_000
          case .send(let value, let side):
            latest[side] = value * 2 + side
            guard let left = latest[0], let right = latest[1], demand > 0 else { continue }
            expected.values.append(left * 100 + right)
            demand += answer - 1
          case .finish(let side):
            finished.insert(side)
            if finished.count == 2 { expected.end = .finished }
          case .fail: expected.end = .failed
          }
        }
        try requireEqual(recorder.outcome, expected, moment)
      }
    }
  }
}
