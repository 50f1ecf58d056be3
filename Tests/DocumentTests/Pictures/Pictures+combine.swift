import Combine
import ReboundTesting

/// Runs of Combine's own operators, for the articles of its catalogue.
extension Picture {
  static let ofCombine: [Picture] = [
    map, scan, filter, removeDuplicates, prefix, untilOutput, collect, reduce, debounce, atMostOne, delay, merge, zip,
    combineLatest, append, flatMap, oneAtATime, switchToLatest, share, retryAtOnce, replaceError, buffer,
  ]

  private typealias Marbles = AnyPublisher<String, MarbleFailure>

  private init(
    _ name: String,
    _ title: String,
    _ code: String,
    run: @escaping @Sendable (StreamStage) throws -> Void
  ) {
    self.init(name: name, catalogue: "Combine") {
      let stage = StreamStage()
      try run(stage)
      return try stage.picture(title, code)
    }
  }

  /// The digit of a marble.
  private static func digit(_ marble: String) -> Int { Int(marble) ?? 0 }

  // MARK: One stream

  private static let map = Picture("map", "Each value becomes another one", "letters.map { $0.uppercased() }") {
    stage in
    stage.listen("output", to: try stage.source("letters", "-a-b--c|").map { $0.uppercased() })
  }

  private static let scan = Picture(
    "scan",
    "Each value comes with all before it",
    "numbers.scan(0) { $0 + $1 }"
  ) { stage in
    stage.listen("output", to: try stage.source("numbers", "-1-2--3|").scan(0) { $0 + digit($1) })
  }

  private static let filter = Picture(
    "filter",
    "Only what the closure says yes to goes on",
    "numbers.filter { $0 % 2 == 1 }"
  ) { stage in
    stage.listen("output", to: try stage.source("numbers", "-1-2-3-4-5|").filter { digit($0) % 2 == 1 })
  }

  private static let removeDuplicates = Picture(
    "remove-duplicates",
    "A value that equals the one before is left out",
    "letters.removeDuplicates()"
  ) { stage in
    stage.listen("output", to: try stage.source("letters", "-a-a-b-a-a|").removeDuplicates())
  }

  private static let prefix = Picture(
    "prefix",
    "After two values the upstream is cancelled, and the stream finishes",
    "letters.prefix(2)"
  ) { stage in
    stage.listen("output", to: try stage.source("letters", "-a--b--c--d|").prefix(2))
  }

  private static let untilOutput = Picture(
    "prefix-until",
    "The first value of another publisher ends the stream",
    "letters.prefix(untilOutputFrom: stop)"
  ) { stage in
    let (letters, stop) = (try stage.source("letters", "-a--b--c--d|"), try stage.source("stop", "-----x"))
    stage.listen("output", to: letters.prefix(untilOutputFrom: stop))
  }

  private static let collect = Picture(
    "collect",
    "Pairs, and what is left when the upstream finishes",
    "numbers.collect(2)"
  ) { stage in
    let pairs = try stage.source("numbers", "-1-2-3-4-5|").collect(2)
    stage.listen("how many", to: pairs) { "\($0.count)".first ?? "•" }
  }

  private static let reduce = Picture(
    "reduce",
    "One result, when the upstream has finished",
    "numbers.reduce(0) { $0 + $1 }"
  ) { stage in
    stage.listen("output", to: try stage.source("numbers", "-1-2-3--|").reduce(0) { $0 + digit($1) })
  }

  // MARK: Time

  private static let debounce = Picture(
    "debounce",
    "A value goes on once two seconds have passed without another one",
    "typed.debounce(for: .seconds(2), scheduler: scheduler)"
  ) { stage in
    let typed = try stage.source("typed", "-a-bc----d----|")
    stage.listen("output", to: typed.debounce(for: .seconds(2), scheduler: stage.scheduler))
  }

  private static let atMostOne = Picture(
    "throttle",
    "At most one value in three seconds, the latest",
    "readings.throttle(for: .seconds(3), scheduler: scheduler, latest: true)"
  ) { stage in
    let readings = try stage.source("readings", "-abc-d--e-f----|")
    stage.listen("output", to: readings.throttle(for: .seconds(3), scheduler: stage.scheduler, latest: true))
  }

  private static let delay = Picture(
    "delay",
    "Values and the end come two seconds later",
    "letters.delay(for: .seconds(2), scheduler: scheduler)"
  ) { stage in
    stage.listen(
      "output",
      to: try stage.source("letters", "-a-b--c|").delay(for: .seconds(2), scheduler: stage.scheduler)
    )
  }

  // MARK: Several streams

  private static let merge = Picture("merge", "Values as they come, from both", "first.merge(with: second)") { stage in
    let (first, second) = (try stage.source("first", "-a--b---c|"), try stage.source("second", "--1-2--3---|"))
    stage.listen("output", to: first.merge(with: second))
  }

  private static let zip = Picture(
    "zip",
    "The first values of both, then the second ones, and so on",
    "first.zip(second) { $0 + $1 }"
  ) { stage in
    let (first, second) = (try stage.source("first", "-1-2-3-|"), try stage.source("second", "--1---2---3--4|"))
    stage.listen("output", to: first.zip(second) { digit($0) + digit($1) })
  }

  private static let combineLatest = Picture(
    "combine-latest",
    "Whenever one publishes, with the latest value of the other",
    "first.combineLatest(second) { $0 + $1 }"
  ) { stage in
    let (first, second) = (try stage.source("first", "-1----2-|"), try stage.source("second", "---1-3-----5|"))
    stage.listen("output", to: first.combineLatest(second) { digit($0) + digit($1) })
  }

  private static let append = Picture("append", "One after the other", "first.append(second)") { stage in
    let (first, second) = (try stage.source("first", "-a-b-|"), try stage.source("second", "--x-y|"))
    stage.listen("output", to: first.append(second))
  }

  private static let flatMap = Picture(
    "flat-map",
    "A publisher for each value; what they publish is mixed",
    "queries.flatMap { query in answers(to: query) }"
  ) { stage in
    let answers: Marbles = try stage.source("answers", "--a--b|", "-x-y|")
    stage.listen("output", to: try stage.source("queries", "-1-2|").flatMap { _ in answers })
  }

  private static let oneAtATime = Picture(
    "flat-map-one",
    "One at a time: the next value is asked for when a publisher has finished",
    "queries.flatMap(maxPublishers: .max(1)) { query in answers(to: query) }"
  ) { stage in
    let answers: Marbles = try stage.source("answers", "--a--b|", "-x-y|")
    let queries = try stage.source("queries", "-1-2|").buffer(size: 9, prefetch: .byRequest, whenFull: .dropNewest)
    stage.listen("output", to: queries.flatMap(maxPublishers: .max(1)) { _ in answers })
  }

  private static let switchToLatest = Picture(
    "switch-to-latest",
    "The answer to the first query is cancelled when the second one comes",
    "queries.map { query in answers(to: query) }.switchToLatest()"
  ) { stage in
    let answers: Marbles = try stage.source("answers", "--a--b|", "-x-y|")
    stage.listen("output", to: try stage.source("queries", "-1--2|").map { _ in answers }.switchToLatest())
  }

  // MARK: Subscribers and failures

  private static let share = Picture(
    "share",
    "One subscription for all; who comes late misses what was before",
    "request.share()"
  ) { stage in
    let shared = try stage.source("request", "--a--b--c|").share()
    for (number, second) in [0, 4].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("subscriber \(number + 1)", to: shared)
    }
  }

  private static let retryAtOnce = Picture(
    "retry-at-once",
    "After a failure the publisher is subscribed to anew, at once",
    "request.retry(1)"
  ) { stage in
    stage.listen("output", to: try stage.source("request", "-a-#", "--b|").retry(1))
  }

  private static let replaceError = Picture(
    "replace-error",
    "The failure becomes a value, and the stream finishes",
    #"live.replaceError(with: "x")"#
  ) { stage in
    stage.listen("output", to: try stage.source("live", "-a-b--#").replaceError(with: "x"))
  }

  private static let buffer = Picture(
    "buffer",
    "A subscriber that takes three seconds for each value; two wait, and the oldest gives way",
    "frames.buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)"
  ) { stage in
    let frames = try stage.source("frames", "-abcde-|").buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
    let shown = frames.flatMap(maxPublishers: .max(1)) { frame in
      Just(frame).setFailureType(to: MarbleFailure.self).delay(for: .seconds(3), scheduler: stage.scheduler)
    }
    stage.listen("shown", to: shown)
  }
}
