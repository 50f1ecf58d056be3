import Dispatch
import StreamSupport

/// Lets closures race through the same object on several threads, many times.
///
///     try race(rounds: 500, seed: 1) { round in
///       let subject = PassthroughSubject<Int, Never>()
///       let recorder = Recorder<Int, Never>()
///       subject.subscribe(recorder)
///       try round.run(
///         { subject.send(1) },
///         { recorder.cancel() }
///       )
///       #expect(recorder.values.count <= 1, "\(round)")
///     }
///
/// In each round the closures wait for each other at a barrier, and then start in an order and with tiny delays that are
/// drawn from the round's seed. The threads are the same in all rounds. Best run under ThreadSanitizer, too.
///
/// - Parameters:
///   - rounds: How many rounds.
///   - seed: The seed of the first round; each round's is one more. What a failing round names plays it again alone,
///     though threads that race may need several rounds to fail again.
///   - body: Sets up a round, runs it, and looks at what came of it.
/// - Throws: ``RaceFailure`` with the round, when the body throws.
public func race(rounds: Int, seed: UInt64 = 0, _ body: (RaceRound) throws -> Void) throws(RaceFailure) {
  let crews = RaceCrews()
  for number in 0..<max(rounds, 0) {
    let round = RaceRound(number: number, seed: seed &+ UInt64(number), crews: crews)
    do { try body(round) } catch { throw RaceFailure(round: number, seed: round.seed, cause: error) }
  }
}

/// One round of a ``race(rounds:seed:_:)``.
public final class RaceRound: CustomStringConvertible {
  /// The number of the round, from 0.
  public let number: Int
  /// Where the order and the delays of this round come from.
  public let seed: UInt64
  /// For choices of the test's own: the same in each round with this seed.
  public var random: SeededRandom

  private let crews: RaceCrews
  private var jitter: SeededRandom

  fileprivate init(number: Int, seed: UInt64, crews: RaceCrews) {
    self.number = number
    self.seed = seed
    self.crews = crews
    random = SeededRandom(seed: seed)
    // Another sequence, so that the test's draws do not change the race.
    jitter = SeededRandom(seed: ~seed)
  }

  /// The round and its seed, for the message of an expectation.
  public var description: String { "round \(number), seed \(seed)" }

  /// Runs the closures at the same time, and returns when all have returned.
  ///
  /// - Parameters:
  ///   - bodies: One for each thread.
  ///   - limit: How long to wait for them in real time.
  /// - Throws: ``RaceStuck`` if they wait for each other, or for something else, for ever.
  public func run(_ bodies: (() -> Void)..., limit: DispatchTimeInterval = .seconds(60)) throws(RaceStuck) {
    let delayed = bodies.shuffled(using: &jitter).map { body in
      let steps = Int.random(in: 0..<200, using: &jitter)
      return {
        // A few nanoseconds a step: enough to let another one overtake.
        let step = Lock()
        for _ in 0..<steps { step.withLock {} }
        body()
      }
    }
    guard crews.run(delayed, limit: limit) else { throw RaceStuck() }
  }
}

/// The threads of a race, as many as its largest round needs.
private final class RaceCrews {
  private var crew = RaceCrew(size: 0)

  func run(_ bodies: [() -> Void], limit: DispatchTimeInterval) -> Bool {
    if crew.size < bodies.count { crew = RaceCrew(size: bodies.count) }
    let haveReturned = crew.run(bodies, limit: limit)
    // Its threads still stand in this round; a body that goes on without it gets new ones.
    if !haveReturned { crew = RaceCrew(size: 0) }
    return haveReturned
  }
}

/// The closures of a round have not returned.
public struct RaceStuck: Error, Hashable, CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    "The closures have not returned: they wait for each other, or for something that does not come. Look at where the "
      + "threads stand in a debugger."
  }
}

/// A round of a race has failed.
public struct RaceFailure: Error {
  /// The number of the round, from 0.
  public let round: Int
  /// The seed of the round.
  public let seed: UInt64
  /// What it failed with.
  public let cause: any Error
}

extension RaceFailure: CustomStringConvertible {
  /// What happened, in which round, and how to play it again.
  public var description: String {
    "Round \(round) of the race failed: \(cause). race(rounds: 1000, seed: \(seed)) begins with it."
  }
}
