import Combine
import Dispatch
import ReboundTesting
import Synchronization
import Testing

/// What a chain under test is built of.
final class Stage {
  let sources = (0..<3).map { _ in PassthroughSubject<Parcel, StressFailure>() }
  let scheduler = TestScheduler()
  /// Jobs on it run at the same time; whoever is done waits for them with ``settle()``.
  let queue = DispatchQueue(label: "race", attributes: .concurrent)
  let tracker = LifetimeTracker()

  var a: PassthroughSubject<Parcel, StressFailure> { sources[0] }
  var b: PassthroughSubject<Parcel, StressFailure> { sources[1] }
  var c: PassthroughSubject<Parcel, StressFailure> { sources[2] }

  private let turn = Atomic<Int>(0)

  /// One source after the other, over and over.
  func nextSource() -> PassthroughSubject<Parcel, StressFailure> {
    sources[turn.wrappingAdd(1, ordering: .relaxed).oldValue % sources.count]
  }

  private var kept: [AnyCancellable] = []

  /// Keeps a connection as long as the stage stands.
  func keep(_ cancellable: AnyCancellable) {
    kept.append(cancellable)
  }

  /// Runs what is scheduled until nothing is; says whether that came to an end.
  func settle() -> Bool {
    for _ in 0..<10 {
      // A barrier waits for all jobs before it; those may have brought others.
      for _ in 0..<4 { queue.sync(flags: .barrier) {} }
      scheduler.advance(by: .seconds(1))
      if scheduler.pendingCount == 0 { return true }
    }
    return false
  }
}

/// A chain to race through, and the laws that hold for it.
struct RaceCase: Sendable, CustomTestStringConvertible {
  typealias Chain = AnyPublisher<Parcel, StressFailure>

  let name: String
  let laws: Laws
  // How many of the stage's sources the chain takes parcels from.
  let sourceCount: Int
  let build: @Sendable (Stage) -> Chain

  init(_ name: String, _ laws: Laws = .all, sources: Int = 1, _ build: @escaping @Sendable (Stage) -> Chain) {
    self.name = name
    self.laws = laws
    sourceCount = sources
    self.build = build
  }

  var testDescription: String { name }
}

/// One thing that a thread does in a race.
enum RaceAction {
  case send(source: Int)
  case request(keeper: Int, Subscribers.Demand)
  case cancel(keeper: Int)
  case subscribe(keeper: Int)
  case end(source: Int, Subscribers.Completion<StressFailure>)
  case advance
}

/// What each thread does, drawn from a seed.
struct RaceScript {
  var threads: [[RaceAction]]
  /// Who requests nothing before the race, and everything.
  let keeperCount: Int
  let asksInside: [Bool]
  /// Whether a source ends or fails in the race.
  let hasEnd: Bool

  init(seed: UInt64, sources: Int) {
    var random = SeededRandom(seed: seed)
    let threadCount = Int.random(in: 2...3, using: &random)
    keeperCount = Int.random(in: 2...4, using: &random)
    asksInside = (0..<keeperCount).map { $0 > 0 && Int.random(in: 0..<3, using: &random) == 0 }
    threads = Array(repeating: [], count: threadCount)
    // The first keeper is there all the time; the others come in the race.
    for keeper in 1..<keeperCount {
      threads[Int.random(in: 0..<threadCount, using: &random)].append(.subscribe(keeper: keeper))
    }
    let mayEnd = Bool.random(using: &random)
    var hasEnd = false
    for _ in 0..<Int.random(in: 6...30, using: &random) {
      let thread = Int.random(in: 0..<threadCount, using: &random)
      let keeper = Int.random(in: 1..<keeperCount, using: &random)
      let source = Int.random(in: 0..<sources, using: &random)
      let action: RaceAction
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<55: action = .send(source: source)
      case 55..<78: action = .request(keeper: keeper, .max(Int.random(in: 1...3, using: &random)))
      case 78..<82: action = .request(keeper: keeper, .unlimited)
      case 82..<87: action = .cancel(keeper: keeper)
      case 87..<90 where mayEnd:
        hasEnd = true
        action = .end(source: source, Bool.random(using: &random) ? .finished : .failure(StressFailure()))
      // Time is moved by one thread only.
      default: action = thread == 0 ? .advance : .send(source: source)
      }
      threads[thread].append(action)
    }
    for thread in threads.indices { threads[thread].shuffle(using: &random) }
    self.hasEnd = hasEnd
  }
}
