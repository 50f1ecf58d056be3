import Combine

/// The chains of one source, or of none, that keep something for each subscriber.
///
/// What keeps nothing has nothing to race for, and is in no list of its own: `map` in all its kinds, `tryMap`, `filter`,
/// `compactMap`, `mapError`, `setFailureType`, `replaceNil`, `ignoreOutput`, `handleEvents`, `breakpoint`,
/// `assertNoFailure` and `eraseToAnyPublisher` pass on what comes, on the thread on which it comes; `Just`, `Empty`,
/// `Fail`, `Optional.Publisher` and `Result.Publisher` have one answer; `Deferred` makes a publisher, and forgets it.
/// Several of them stand in the chains below all the same.
extension RaceCase {
  static let singles: [RaceCase] = limiting + reducing + transforming + supplies

  private static let limiting: [RaceCase] = [
    RaceCase("first where", [.strictOrder, .demand, .ends]) { stage in
      stage.a.first { $0.number == 2 }.eraseToAnyPublisher()
    },
    RaceCase("first", [.strictOrder, .demand, .ends]) { $0.a.first().eraseToAnyPublisher() },
    RaceCase("try first where", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryFirst { if $0.number == 3 { throw StressFailure() } else { $0.number == 2 && $0.sender == 0 } }
        .mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
    RaceCase("prefix while", [.strictOrder, .demand, .ends]) { stage in
      stage.a.prefix { $0.number < 4 }.eraseToAnyPublisher()
    },
    RaceCase("try prefix while", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryPrefix { if $0.number == 4 { throw StressFailure() } else { true } }.mapError { _ in StressFailure() }
        .eraseToAnyPublisher()
    },
    RaceCase("drop while", [.strictOrder, .demand, .ends]) { stage in
      stage.a.drop { $0.number < 2 }.eraseToAnyPublisher()
    },
    RaceCase("try drop while", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryDrop { $0.number < 2 }.mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
    RaceCase("output at and in", [.strictOrder, .demand, .ends]) { stage in
      stage.a.output(in: 1...12).output(at: 3).eraseToAnyPublisher()
    },
    RaceCase("try filter and try compactMap", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryFilter { $0.number % 3 != 1 }.tryCompactMap { $0.number == 9 ? nil : $0 }
        .mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
    RaceCase("try that throws", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryMap { if $0.number == 5 { throw StressFailure() } else { $0 } }.mapError { _ in StressFailure() }
        .eraseToAnyPublisher()
    },
    RaceCase("try removeDuplicates", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryRemoveDuplicates { $0 == $1 }.mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
  ]

  private static let reducing: [RaceCase] = [
    RaceCase("collect", [.strictOrder, .demand, .ends]) { $0.a.collect().compactMap(\.last).eraseToAnyPublisher() },
    RaceCase("reduce", [.strictOrder, .demand, .ends]) { stage in
      stage.a.reduce(nil as Parcel?) { $1 }.compactMap { $0 }.eraseToAnyPublisher()
    },
    RaceCase("try reduce", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryReduce(nil as Parcel?) { if $1.number == 6 { throw StressFailure() } else { $1 } }.compactMap { $0 }
        .mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
    RaceCase("max", [.strictOrder, .demand, .ends]) { stage in
      stage.a.max { $0.number < $1.number }.eraseToAnyPublisher()
    },
    RaceCase("last where", [.strictOrder, .demand, .ends]) { stage in
      stage.a.last { $0.number.isMultiple(of: 2) }.eraseToAnyPublisher()
    },
    RaceCase("count, contains and allSatisfy", [.strictOrder, .demand, .ends]) { stage in
      let parcel = Parcel(source: 9, sender: 0, number: 0, tracked: stage.tracker.make())
      let shared = stage.a.share()
      return shared.count().map { _ in parcel }
        .merge(
          with: shared.contains { $0.number == 3 }.map { _ in
            Parcel(source: 9, sender: 1, number: 0, tracked: parcel.tracked)
          },
          shared.allSatisfy { $0.number < 3 }.map { _ in
            Parcel(source: 9, sender: 2, number: 0, tracked: parcel.tracked)
          }
        )
        .eraseToAnyPublisher()
    },
  ]

  private static let transforming: [RaceCase] = [
    RaceCase("try scan", [.strictOrder, .demand, .ends]) { stage in
      stage.a.tryScan(nil as Parcel?) { $1 }.compactMap { $0 }.mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
    RaceCase("measureInterval", [.strictOrder, .demand, .ends]) { stage in
      let tracked = stage.tracker.make()
      return stage.a.measureInterval(using: stage.scheduler)
        .scan(Parcel(source: 9, sender: 0, number: 0, tracked: tracked)) { last, _ in
          Parcel(source: 9, sender: 0, number: last.number + 1, tracked: tracked)
        }
        .eraseToAnyPublisher()
    },
    RaceCase("try catch", [.strictOrder, .demand, .ends], sources: 2) { stage in
      stage.a.tryCatch { _ in stage.b }.mapError { _ in StressFailure() }.eraseToAnyPublisher()
    },
    RaceCase("prepend", [.strictOrder, .demand, .lossless, .ends]) { stage in
      stage.a.prepend([Parcel]()).map { $0 }.eraseToAnyPublisher()
    },
    RaceCase("print", [.strictOrder, .demand, .lossless, .ends]) { stage in
      stage.a.print("", to: Silence()).eraseToAnyPublisher()
    },
    RaceCase("zip4", [.strictOrder, .ends], sources: 3) { stage in
      stage.a.zip(stage.b, stage.c, stage.a) { first, _, _, _ in first }.eraseToAnyPublisher()
    },
    RaceCase("combineLatest3", [.looseOrder, .demand, .ends], sources: 3) { stage in
      stage.a.combineLatest(stage.b, stage.c) { first, _, _ in first }.eraseToAnyPublisher()
    },
    RaceCase("merge of many", sources: 3) { stage in
      Publishers.MergeMany(stage.sources).eraseToAnyPublisher()
    },
  ]

  /// Sources that deliver what they have to who asks, whatever is sent meanwhile.
  private static let supplies: [RaceCase] = [
    RaceCase("sequence", [.strictOrder, .demand, .ends]) { stage in
      Publishers.Sequence(sequence: parcels(stage)).eraseToAnyPublisher()
    },
    RaceCase("record", [.strictOrder, .demand, .ends]) { stage in
      Record(output: parcels(stage), completion: .failure(StressFailure())).eraseToAnyPublisher()
    },
    RaceCase("just after just", [.strictOrder, .demand, .ends]) { stage in
      let all = parcels(stage)
      return Just(all[0]).append(all[1]).append(Optional.Publisher(all[2])).append(Empty())
        .setFailureType(to: StressFailure.self).append(Result.Publisher(.success(all[3])))
        .append(Fail(error: StressFailure())).eraseToAnyPublisher()
    },
    RaceCase("subject that is sent through another", [.strictOrder, .demand, .lossless, .ends]) { stage in
      let subject = PassthroughSubject<Parcel, StressFailure>()
      stage.keep(stage.a.subscribe(subject))
      return subject.eraseToAnyPublisher()
    },
    RaceCase("connectable", [.strictOrder, .demand, .lossless, .ends]) { stage in
      let connectable = stage.a.multicast(subject: PassthroughSubject<Parcel, StressFailure>())
      stage.keep(AnyCancellable(connectable.connect()))
      return connectable.eraseToAnyPublisher()
    },
    RaceCase("multicast of the latest", [.strictOrder, .demand, .lossless, .ends]) { stage in
      let multicast = stage.a.map { Optional($0) }.multicast { CurrentValueSubject<Parcel?, StressFailure>(nil) }
      stage.keep(AnyCancellable(multicast.connect()))
      return multicast.compactMap { $0 }.eraseToAnyPublisher()
    },
  ]

  private static func parcels(_ stage: Stage) -> [Parcel] {
    (0..<20).map { Parcel(source: 9, sender: 0, number: $0, tracked: stage.tracker.make()) }
  }
}

/// Takes text, and keeps nothing of it.
private struct Silence: TextOutputStream {
  func write(_ string: String) {}
}
