import Expectations
import ReboundTesting
import Testing

@testable import Combine

/// Each of these stopped both threads for ever, when each waited for a combining lock that the other one was inside of.
@Suite("Joins and flattening operators on two threads that are on their way to each other")
struct DeadlockTests {
  typealias Values = PassthroughSubject<Int, TestFailure>

  /// A publisher that sends 0 upon each request, once `whenAsked` returns.
  private final class Faucet: Publisher {
    typealias Output = Int
    typealias Failure = TestFailure

    var whenAsked: () -> Void = {}

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestFailure {
      subscriber.receive(subscription: Connection(faucet: self, subscriber: AnySubscriber(subscriber)))
    }

    private struct Connection: Subscription {
      let faucet: Faucet
      let subscriber: AnySubscriber<Int, TestFailure>
      let combineIdentifier = CombineIdentifier()

      func request(_ demand: Subscribers.Demand) {
        faucet.whenAsked()
        _ = subscriber.receive(0)
      }

      func cancel() {}
    }
  }

  /// A join of a subject and a faucet: who asks it for more is sent through its combining lock by the faucet.
  private final class Side {
    let subject = Values()
    let faucet = Faucet()

    func zipped() -> Publishers.Map<Publishers.Zip<Values, Faucet>, Int> { subject.zip(faucet) { $0 + $1 } }

    func latest() -> Publishers.Map<Publishers.CombineLatest<Values, Faucet>, Int> {
      subject.combineLatest(faucet) { $0 + $1 }
    }
  }

  /// Sends a value into each of two sides at the same time, and has each thread ask the other's side.
  ///
  /// The first thread gets as far as the faucet of the second side before the second one starts, and goes on when that
  /// one has got to the faucet of the first side.
  ///
  /// - Returns: Whether both have come back.
  private func sendAcross(first: (Side, Int), second: (Side, Int)) -> Bool {
    let (firstAsks, secondAsks) = (Signal(), Signal())
    let hasAsked = Shared(false)
    second.0.faucet.whenAsked = {
      guard !hasAsked.change({ hasAsked in (hasAsked, hasAsked = true).0 }) else { return }
      firstAsks.send()
      #expect(secondAsks.wait())
    }
    first.0.faucet.whenAsked = { if hasAsked.value { secondAsks.send() } }
    return RaceCrew(size: 2).run([
      { first.0.subject.send(first.1) },
      {
        #expect(firstAsks.wait())
        second.0.subject.send(second.1)
      },
    ])
  }

  /// How the rows reach what joins them.
  enum Way: CaseIterable {
    case straight, pastOneOperator, pastForeignCode, pastAnotherJoin
  }

  @Test("combineLatest of zips, which asks both for more", arguments: Way.allCases)
  func rowsOfRows(way: Way) {
    let sides = [Side(), Side()]
    func row(_ side: Side) -> AnyPublisher<Int, TestFailure> {
      let row = side.zipped()
      return switch way {
      case .straight: row.eraseToAnyPublisher()
      case .pastOneOperator: row.removeDuplicates { _, _ in false }.eraseToAnyPublisher()
      case .pastForeignCode: Passage(upstream: row.eraseToAnyPublisher()).eraseToAnyPublisher()
      case .pastAnotherJoin:
        row.combineLatest(Just(0).setFailureType(to: TestFailure.self)) { $0 + $1 }.eraseToAnyPublisher()
      }
    }
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { _, recorder in
        recorder.request(.max(1))
        return .none
      }
    )
    row(sides[0]).combineLatest(row(sides[1])) { $0 + $1 }.subscribe(recorder)
    for side in sides { side.subject.send(0) }
    expectEqual(recorder.values, [0])

    let areDone = sendAcross(first: (sides[0], 1), second: (sides[1], 2))
    #expect(areDone)
    expectEqual(recorder.values, [0, 1, 3])
    if areDone { recorder.cancel() }
  }

  /// Passes everything on, in types that no operator knows.
  private struct Passage: Publisher {
    typealias Output = Int
    typealias Failure = TestFailure

    let upstream: AnyPublisher<Int, TestFailure>

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestFailure {
      upstream.subscribe(
        AnySubscriber(
          receiveSubscription: { subscriber.receive(subscription: Stairs(upstream: $0)) },
          receiveValue: { subscriber.receive($0) },
          receiveCompletion: { subscriber.receive(completion: $0) }
        )
      )
    }

    private struct Stairs: Subscription {
      let upstream: any Subscription
      let combineIdentifier = CombineIdentifier()

      func request(_ demand: Subscribers.Demand) { upstream.request(demand) }
      func cancel() { upstream.cancel() }
    }
  }

  enum Gathering: CaseIterable {
    case merge, flatMap
  }

  @Test("merge and flatMap, which replace a value that had to wait, and ask for all", arguments: Gathering.allCases)
  func rowsGathered(gathering: Gathering) {
    let sides = [Side(), Side()]
    let gathered =
      switch gathering {
      case .merge: sides[0].latest().merge(with: sides[1].latest()).eraseToAnyPublisher()
      case .flatMap:
        Publishers.Sequence<[Side], TestFailure>(sequence: sides).flatMap { $0.latest() }.eraseToAnyPublisher()
      }
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { value, recorder in
        switch value {
        case 1:
          // Has to wait until the request after it.
          sides[0].subject.send(2)
          recorder.request(.max(2))
        case 3: recorder.request(.unlimited)
        default: break
        }
        return .none
      }
    )
    gathered.subscribe(recorder)

    let areDone = sendAcross(first: (sides[1], 1), second: (sides[0], 3))
    #expect(areDone)
    #expect(recorder.values.starts(with: [1, 2, 3]))
    guard areDone else { return }
    for (index, side) in sides.enumerated() { side.subject.send(10 + index) }
    expectEqual(recorder.values.suffix(2), [10, 11])
    recorder.cancel()
  }

  enum Row: CaseIterable {
    case zip, combineLatest
  }

  @Test("two joins whose subscribers ask for more of the other one", arguments: Row.allCases)
  func joinedByHand(row: Row) {
    let sides = [Side(), Side()]
    var recorders: [Recorder<Int, TestFailure>] = []
    for (index, side) in sides.enumerated() {
      let recorder = Recorder<Int, TestFailure>(
        requesting: .max(1),
        answering: { _, recorder in
          if recorder.values.count == 1 { recorders[1 - index].request(.max(3)) }
          return .none
        }
      )
      recorders.append(recorder)
      switch row {
      case .zip: side.zipped().subscribe(recorder)
      case .combineLatest: side.latest().subscribe(recorder)
      }
    }
    let areDone = sendAcross(first: (sides[0], 1), second: (sides[1], 1))
    #expect(areDone)
    guard areDone else { return }
    for side in sides { side.subject.send(2) }
    for recorder in recorders {
      #expect(recorder.values.first == 1 && recorder.values.last == 2)
      recorder.cancel()
    }
  }

  // MARK: Events sent across

  enum Kind: CaseIterable {
    case zip, combineLatest, merge, flatMap, flatMapOfOuter, flatMapOfJust, switchToLatest, switchToJust

    /// What comes after 1 if first 2 and an end are sent across, and then 3 comes the way that 1 came.
    var valuesBeforeEnd: [Int] {
      switch self {
      case .zip: [3]
      case .combineLatest, .merge, .flatMap, .flatMapOfOuter: [2, 3]
      case .switchToLatest, .flatMapOfJust, .switchToJust: [2]
      }
    }

    var valuesBeforeFailure: [Int] { self == .zip ? [] : [2] }
  }

  /// An operator with two upstreams, each of which sends when it is told.
  private final class Junction {
    let publisher: AnyPublisher<Int, TestFailure>
    private let first = TestPublisher<Int, TestFailure>()
    private let second = TestPublisher<Int, TestFailure>()
    // Whether the second upstream is the only one, and sends on two threads.
    private let isSecondAlone: Bool

    init(_ kind: Kind) {
      let (first, second) = (first, second)
      let two = Just(2).setFailureType(to: TestFailure.self)
      isSecondAlone = kind == .flatMapOfJust || kind == .switchToJust
      publisher =
        switch kind {
        case .zip: first.zip(second) { max($0, $1) }.eraseToAnyPublisher()
        case .combineLatest: first.combineLatest(second) { max($0, $1) }.eraseToAnyPublisher()
        case .merge: first.merge(with: second.filter { $0 > 0 }).eraseToAnyPublisher()
        case .flatMap:
          Publishers.Sequence<[AnyPublisher<Int, TestFailure>], TestFailure>(
            sequence: [first.eraseToAnyPublisher(), second.filter { $0 > 0 }.eraseToAnyPublisher()]
          )
          .flatMap { $0 }.eraseToAnyPublisher()
        case .flatMapOfOuter:
          second.flatMap { $0 == 0 ? first.eraseToAnyPublisher() : two.eraseToAnyPublisher() }.eraseToAnyPublisher()
        case .flatMapOfJust: second.filter { $0 > 0 }.flatMap { Just($0) }.eraseToAnyPublisher()
        case .switchToLatest:
          second.map { $0 == 0 ? first.eraseToAnyPublisher() : two.eraseToAnyPublisher() }.switchToLatest()
            .eraseToAnyPublisher()
        case .switchToJust:
          second.filter { $0 > 0 }.map { Just($0).setFailureType(to: TestFailure.self) }.switchToLatest()
            .eraseToAnyPublisher()
        }
    }

    /// Sends what the first value needs to get through.
    func prepare() { second.send(0) }

    func send(_ value: Int) { (isSecondAlone ? second : first).send(value) }

    func sendAcross(_ completion: Subscribers.Completion<TestFailure>) {
      second.send(2)
      second.send(completion: completion)
    }

    func finish() { first.send(completion: .finished) }
  }

  @Test(
    "subscribers that send to each other's stream get all events, in order and one at a time",
    arguments: Kind.allCases,
    [Subscribers.Completion<TestFailure>.finished, .failure(.expected)]
  )
  func sentAcross(kind: Kind, end: Subscribers.Completion<TestFailure>) {
    let junctions = [Junction(kind), Junction(kind)]
    let areInside = [Signal(), Signal()]
    let depths = [Shared(0), Shared(0)]
    let recorders = junctions.indices.map { index in
      Recorder<Int, TestFailure>(answering: { value, _ in
        expectEqual(depths[index].change { ($0, $0 += 1).0 }, 0)
        if value == 1 {
          areInside[index].send()
          #expect(areInside[1 - index].wait())
          junctions[1 - index].sendAcross(end)
        }
        depths[index].change { $0 -= 1 }
        return .none
      })
    }
    for (junction, recorder) in zip(junctions, recorders) {
      junction.publisher.subscribe(recorder)
      junction.prepare()
    }
    let areDone = RaceCrew(size: 2).run(junctions.map { junction in { junction.send(1) } })
    #expect(areDone)
    guard areDone else { return }
    for (junction, recorder) in zip(junctions, recorders) {
      junction.send(3)
      junction.finish()
      expectEqual(recorder.values, [1] + (end == .finished ? kind.valuesBeforeEnd : kind.valuesBeforeFailure))
      expectEqual(recorder.completions, [end])
    }
  }
}
