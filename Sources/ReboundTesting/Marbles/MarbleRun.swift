import Combine

/// Plays one marble diagram, and compares what comes with what it says.
struct MarbleRun<Input, InputFailure: Error, Output: Equatable, Failure: Error> {
  let scheduler: TestScheduler
  let sources: [MarblePublisher<Input, InputFailure>]
  let diagram: MarbleDiagram<Output, Failure>
  let input: (Character) -> Input?
  let output: (Character) -> Output?
  let outputNames: (Output) -> Character?
  let failure: InputFailure
  let location: CodeLocation

  private typealias Mark = MarbleRow.Mark

  /// How much time may pass behind the last frame of the diagram, to see that nothing else comes.
  private static var rest: Int { 1_000 }

  /// How much may be done in a frame; what takes more goes on without end.
  private static var mostWork: Int { 100_000 }

  func check() throws {
    let inputs = try inputRows()
    let (expected, demand, subscriptions) = try outcomeRows()
    let zero = inputs.map(\.zero).max() ?? 0
    let recorder = Recorder<Output, Failure>(requesting: .none, on: scheduler)
    try schedule(demand, recorder)
    for (source, row) in zip(sources, inputs) {
      let frames = try MarblePublisher<Input, InputFailure>.frames(row, failure, input)
      source.play(row.text.contains("^") ? .hot(frames) : .cold(frames))
    }
    let endlessFrame = run(
      upTo: (inputs.map(\.frames.count) + [expected.frames.count, demand?.frames.count ?? 0]).max() ?? 0
    )

    var sheet = MarbleSheet(zero: zero)
    for (index, row) in inputs.enumerated() {
      sheet.add(inputs.count == 1 ? "input" : "input \(index + 1)", row.frames, from: -row.zero)
    }
    if let demand { sheet.add("demand", demand.frames) }
    if let endlessFrame { throw endless(at: endlessFrame, expected, sheet) }
    try compare(expected, recorder, sheet)
    if let subscriptions { try compare(subscriptions, sheet) }
  }

  // MARK: Reading the rows

  private func inputRows() throws -> [MarbleRow] {
    try diagram.inputs.map { line in
      guard case .row(let text) = line.kind else {
        throw MarbleSyntaxError("", 0, "a demand or subscription row before the chain. Put it behind the chain.")
      }
      return try MarbleRow(text)
    }
  }

  private func outcomeRows() throws -> (expected: MarbleRow, demand: MarbleRow?, subscriptions: [MarbleRow]?) {
    var expected: MarbleRow?
    var demand: MarbleRow?
    var subscriptions: [MarbleRow]?
    for line in diagram.outcome {
      switch line.kind {
      case .row(let text):
        if expected != nil { throw MarbleSyntaxError(text, 0, "a second row of output behind the chain. Leave one.") }
        let row = try MarbleRow(text)
        try row.refuse([.subscription, .cancel], "a mark of the subscriber among the output. Use a DemandRow.")
        expected = row
      case .demand(let row):
        if demand != nil { throw MarbleSyntaxError(row.text, 0, "a second demand row behind the chain. Leave one.") }
        demand = try MarbleRow(row.text)
      case .subscriptions(let rows):
        if subscriptions != nil {
          throw MarbleSyntaxError(rows.rows.first ?? "", 0, "a second 'SubscriptionRows'. Put all rows into one.")
        }
        subscriptions = try rows.rows.map { text in try MarbleRow(text) }
      }
    }
    guard let expected else { throw MarbleSyntaxError("", 0, "no row of output behind the chain. Add it.") }
    return (expected, demand, subscriptions)
  }

  // MARK: Playing

  private enum Signal {
    case subscribe
    case request(Subscribers.Demand)
    case cancel
  }

  /// Lets the subscriber do what its row says; it is scheduled first, so in each frame it acts first.
  private func schedule(_ row: MarbleRow?, _ recorder: Recorder<Output, Failure>) throws {
    let chain = diagram.chain.publisher
    for (frame, signals) in try signals(in: row) {
      scheduler.schedule(after: VirtualTime(frame: frame)) {
        for signal in signals {
          switch signal {
          case .subscribe: chain.subscribe(recorder)
          case .request(let demand): recorder.request(demand)
          case .cancel: recorder.cancel()
          }
        }
      }
    }
  }

  /// What the subscriber does, by frame.
  private func signals(in row: MarbleRow?) throws -> [Int: [Signal]] {
    guard let row else { return [0: [.subscribe, .request(.unlimited)]] }
    try row.refuse(
      [.finish, .failure],
      "an end in a demand row. The publisher ends; the subscriber cancels, with '!'."
    )
    let asks = row.places.contains { if case .value = $0.mark { true } else { false } }
    let beginning: [Signal] = asks ? [.subscribe] : [.subscribe, .request(.unlimited)]
    var signals = row.text.contains("^") ? [:] : [0: beginning]
    var hasCancelled = false
    for place in row.places {
      // A recorder without a subscription would do nothing, and the test show nothing.
      if signals.isEmpty, place.mark != .subscription {
        throw MarbleSyntaxError(
          row.text,
          place.column,
          "something before '^', where the subscriber begins. Put it behind."
        )
      }
      if hasCancelled {
        throw MarbleSyntaxError(row.text, place.column, "something behind '!', which ends all. Leave it out.")
      }
      switch place.mark {
      case .value(let name): signals[place.frame, default: []].append(.request(try demand(name, place, row)))
      case .cancel: signals[place.frame, default: []].append(.cancel)
      case .subscription: signals[place.frame, default: []] += beginning
      case .finish, .failure: break
      }
      hasCancelled = place.mark == .cancel
    }
    return signals
  }

  private func demand(_ name: Character, _ place: MarbleRow.Place, _ row: MarbleRow) throws -> Subscribers.Demand {
    if name == "*" { return .unlimited }
    if let count = name.wholeNumberValue, count > 0 { return .max(count) }
    throw MarbleSyntaxError(row.text, place.column, "'\(name)' in a demand row. Use 1 to 9, * ^ ! or -.")
  }

  /// Plays until nothing waits any more, or for long enough to see that nothing else comes.
  ///
  /// - Returns: The frame in which there was always more to do, if there was one.
  private func run(upTo lastFrame: Int) -> Int? {
    let end = VirtualTime(frame: lastFrame + Self.rest)
    var (frame, done) = (0, 0)
    while scheduler.doNext(dueBy: end) {
      if scheduler.now.frame > frame { (frame, done) = (scheduler.now.frame, 0) }
      done += 1
      if done > Self.mostWork { return frame }
    }
    return nil
  }

  /// Without what came, which may be more than anybody reads.
  private func endless(at frame: Int, _ expected: MarbleRow, _ sheet: MarbleSheet) -> MarbleMismatch {
    var sheet = sheet
    sheet.add("expected", expected.frames)
    let problem = """
      there is always more to do in frame \(frame): after \(Self.mostWork) pieces of work time has not come to the next one. Let \
      the chain end, or take longer for what it repeats.
      """
    return MarbleMismatch(location: location, problem: problem, diagram: sheet.text(pointingAt: frame))
  }

  // MARK: Comparing

  private struct Difference {
    let frame: Int
    let problem: String
  }

  private func compare(_ expected: MarbleRow, _ recorder: Recorder<Output, Failure>, _ sheet: MarbleSheet) throws {
    let entries = recorder.entries.filter { if case .subscription = $0.event { false } else { true } }
    guard let difference = try difference(expected, entries) else { return }
    var sheet = sheet
    sheet.add("expected", expected.frames)
    sheet.add("actual", frames(of: entries))
    throw MarbleMismatch(
      location: location,
      problem: difference.problem,
      diagram: sheet.text(pointingAt: difference.frame)
    )
  }

  private func difference(_ expected: MarbleRow, _ entries: [Recorder<Output, Failure>.Entry]) throws -> Difference? {
    for (index, place) in expected.places.enumerated() {
      let wanted = "expected \(place.mark.character) in frame \(place.frame)"
      guard index < entries.count else {
        return Difference(frame: place.frame, problem: "\(wanted), but nothing came.")
      }
      let entry = entries[index]
      guard try matches(entry.event, place, expected), entry.time == VirtualTime(frame: place.frame) else {
        let first = min(place.frame, entry.time.frame)
        return Difference(frame: first, problem: "\(wanted), but \(entry.event.text) came at \(entry.time).")
      }
    }
    guard entries.count > expected.places.count else { return nil }
    let entry = entries[expected.places.count]
    let problem = "expected nothing more, but \(entry.event.text) came at \(entry.time)."
    return Difference(frame: entry.time.frame, problem: problem)
  }

  private func matches(
    _ event: Recorder<Output, Failure>.Event,
    _ place: MarbleRow.Place,
    _ row: MarbleRow
  ) throws -> Bool {
    switch (place.mark, event) {
    case (.value(let name), _):
      guard let wanted = output(name) else {
        throw MarbleSyntaxError(row.text, place.column, "no value is given for '\(name)'.")
      }
      if case .value(let value) = event { return value == wanted }
      return false
    case (.finish, .completion(.finished)), (.failure, .completion(.failure)): return true
    default: return false
    }
  }

  private func frames(of entries: [Recorder<Output, Failure>.Entry]) -> [[Mark]] {
    entries.marbleFrames { outputNames($0) ?? "?" }
  }

  private func compare(_ expected: [MarbleRow], _ sheet: MarbleSheet) throws {
    let actual = sources.flatMap(\.subscriptionFrames)
    let between = sources.lazy.flatMap(\.subscriptionTimes).first { !$0.isOnFrame }
    guard expected.map(\.trimmedFrames) != actual || between != nil else { return }
    var sheet = sheet
    for row in expected { sheet.add("expected", row.frames) }
    for frames in actual { sheet.add("actual", frames) }
    let problem =
      if expected.count != actual.count {
        "expected \(expected.count) subscriptions to the input, but there were \(actual.count)."
      } else if let between {
        "a subscription to the input begins or ends at \(between), between two frames."
      } else {
        "the subscriptions to the input begin or end at other times."
      }
    throw MarbleMismatch(location: location, problem: problem, diagram: sheet.text())
  }
}

extension Array {
  /// What came, frame by frame.
  func marbleFrames<Value, Failure>(naming: (Value) -> Character) -> [[MarbleRow.Mark]]
  where Element == Recorder<Value, Failure>.Entry {
    var frames: [[MarbleRow.Mark]] = []
    for entry in self {
      let mark: MarbleRow.Mark
      switch entry.event {
      case .subscription: continue
      case .value(let value): mark = .value(naming(value))
      case .completion(.finished): mark = .finish
      case .completion(.failure): mark = .failure
      }
      let frame = Swift.max(entry.time.frame, 0)
      while frames.count <= frame { frames.append([]) }
      frames[frame].append(mark)
    }
    return frames
  }
}

extension Recorder {
  /// What came, as a row of marbles; a frame is one second.
  ///
  /// - Parameter name: The letter that stands for a value.
  public func marbles(naming name: (Input) -> Character) -> String {
    entries.marbleFrames(naming: name).map(MarbleRow.cell).joined()
  }
}

extension Recorder where Input == String {
  /// What came, as a row of marbles; a frame is one second, and texts of one letter stand for themselves.
  public var marbles: String {
    marbles { $0.count == 1 ? $0.first ?? "?" : "?" }
  }
}
