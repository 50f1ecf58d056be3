import Combine
import Foundation

/// Joins of joins whose upstreams answer at once: who asks from inside one of them is sent through the others.
extension RaceCase {
  static let joinsOfJoins: [RaceCase] = [
    RaceCase("combineLatest of two zips with sequences", [.looseOrder, .demand], sources: 2) { stage in
      numbered(stage.a).combineLatest(numbered(stage.b)) { first, _ in first }.eraseToAnyPublisher()
    },
    RaceCase("combineLatest of three zips behind pipes", [.looseOrder, .demand], sources: 3) { stage in
      numbered(stage.a).removeDuplicates()
        .combineLatest(
          numbered(stage.b).scan(nil as Parcel?) { $1 },
          numbered(stage.c).prefix(untilOutputFrom: Empty<Void, Never>(completeImmediately: false))
        ) { first, _, _ in first }
        .eraseToAnyPublisher()
    },
    RaceCase("combineLatest of shared zips", [.demand], sources: 2) { stage in
      numbered(stage.a).share().combineLatest(numbered(stage.b).share()) { first, _ in first }.eraseToAnyPublisher()
    },
    RaceCase("combineLatest of combineLatests of zips", [.looseOrder, .demand], sources: 3) { stage in
      numbered(stage.a).combineLatest(numbered(stage.b)) { first, _ in first }
        .combineLatest(numbered(stage.b).combineLatest(numbered(stage.c)) { first, _ in first }) { first, _ in first }
        .eraseToAnyPublisher()
    },
    RaceCase("zip of two zips with sequences", [.strictOrder], sources: 2) { stage in
      numbered(stage.a).zip(numbered(stage.b)) { first, _ in first }.eraseToAnyPublisher()
    },
    RaceCase("zip of combineLatests with sequences", [.looseOrder], sources: 2) { stage in
      latest(stage.a).zip(latest(stage.b)) { first, _ in first }.eraseToAnyPublisher()
    },
    RaceCase("merge of three zips with sequences", [.strictOrder, .demand], sources: 3) { stage in
      numbered(stage.a).merge(with: numbered(stage.b), numbered(stage.c)).eraseToAnyPublisher()
    },
    RaceCase("merge of combineLatests with sequences", [.looseOrder, .demand], sources: 3) { stage in
      latest(stage.a).merge(with: latest(stage.b), latest(stage.c)).eraseToAnyPublisher()
    },
    RaceCase("flatMap of a zip to zips with sequences", [.demand], sources: 3) { stage in
      numbered(stage.a).flatMap(maxPublishers: .max(2)) { numbered($0.number.isMultiple(of: 2) ? stage.b : stage.c) }
        .eraseToAnyPublisher()
    },
    RaceCase("flatMap to a few of combineLatests with sequences", [.demand], sources: 3) { stage in
      numbered(stage.a).flatMap(maxPublishers: .max(1)) {
        latest($0.number.isMultiple(of: 2) ? stage.b : stage.c).prefix(2)
      }
      .eraseToAnyPublisher()
    },
    RaceCase("switchToLatest of a zip to zips with sequences", [.strictOrder, .demand], sources: 3) { stage in
      numbered(stage.a).map { numbered($0.number.isMultiple(of: 2) ? stage.b : stage.c) }.switchToLatest()
        .eraseToAnyPublisher()
    },
  ]

  private typealias Numbers = Publishers.Sequence<Range<Int>, StressFailure>

  // Each is in no haste on its way down, so that others come meanwhile.

  private static func numbered<P>(_ upstream: P) -> AnyPublisher<Parcel, StressFailure>
  where P: Publisher<Parcel, StressFailure> {
    upstream.zip(Numbers(sequence: 0..<1000)) { first, _ in first }.handleEvents(receiveOutput: { _ in sched_yield() })
      .eraseToAnyPublisher()
  }

  private static func latest<P>(_ upstream: P) -> AnyPublisher<Parcel, StressFailure>
  where P: Publisher<Parcel, StressFailure> {
    upstream.combineLatest(Numbers(sequence: 0..<1000)) { first, _ in first }
      .handleEvents(receiveOutput: { _ in sched_yield() }).eraseToAnyPublisher()
  }
}
