import Combine
import Foundation
import ReboundTesting
import Testing

/// The code of the articles in Sources/Combine/Combine.docc, as it stands there.
@Suite("The code of Combine's articles")
struct CombineArticleTests {
  @Test("Mapping values: values are mapped one by one")
  func mapping() {
    var subscriptions: Set<AnyCancellable> = []

    var sums: [Int] = []
    ["3", "4", "x"].publisher
      .map { Int($0) }
      .replaceNil(with: 0)
      .scan(0, +)
      .sink { sums.append($0) }
      .store(in: &subscriptions)
    #expect(sums == [3, 7, 7])
  }

  @Test("Filtering values: values that are refused are left out")
  func filtering() {
    var subscriptions: Set<AnyCancellable> = []

    let typed = PassthroughSubject<String, Never>()
    var searches: [String] = []
    typed
      .filter { $0.count >= 2 }
      .removeDuplicates()
      .sink { searches.append($0) }
      .store(in: &subscriptions)

    for text in ["a", "ab", "ab", "abc"] { typed.send(text) }
    #expect(searches == ["ab", "abc"])
  }

  @Test("Limiting values: a stream is cut at both ends")
  func limiting() {
    var subscriptions: Set<AnyCancellable> = []

    let chunks = PassthroughSubject<String, Never>()
    let stop = PassthroughSubject<Void, Never>()
    var log: [String] = []
    chunks
      .dropFirst()
      .prefix(untilOutputFrom: stop)
      .sink(receiveCompletion: { _ in log.append("end") }, receiveValue: { log.append($0) })
      .store(in: &subscriptions)

    chunks.send("header")
    chunks.send("a")
    stop.send()
    chunks.send("b")
    #expect(log == ["a", "end"])
  }

  @Test("Reducing values: the first value that is refused decides")
  func reducing() {
    var subscriptions: Set<AnyCancellable> = []

    let readings = PassthroughSubject<Int, Never>()
    var verdicts: [Bool] = []
    readings
      .allSatisfy { $0 < 100 }
      .sink { verdicts.append($0) }
      .store(in: &subscriptions)

    readings.send(20)
    readings.send(140)  // decides: the upstream is cancelled, and the rest is not looked at
    #expect(verdicts == [false])
  }

  @Test("Joining publishers: the latest values come together")
  func joining() {
    var subscriptions: Set<AnyCancellable> = []

    let width = CurrentValueSubject<Int, Never>(2)
    let height = CurrentValueSubject<Int, Never>(3)
    var areas: [Int] = []
    width
      .combineLatest(height) { $0 * $1 }
      .sink { areas.append($0) }
      .store(in: &subscriptions)

    width.send(4)
    height.send(5)
    #expect(areas == [6, 12, 20])
  }

  @Test("Flattening publishers: the latest publisher wins")
  func flattening() {
    var subscriptions: Set<AnyCancellable> = []

    let pages = PassthroughSubject<AnyPublisher<String, Never>, Never>()
    let slow = PassthroughSubject<String, Never>()
    var shown: [String] = []
    pages
      .switchToLatest()
      .sink { shown.append($0) }
      .store(in: &subscriptions)

    pages.send(slow.eraseToAnyPublisher())
    slow.send("first")
    pages.send(Just("second").eraseToAnyPublisher())
    slow.send("late")  // nobody listens any more
    #expect(shown == ["first", "second"])
  }

  @Test("Recovering from failures: three attempts, then something else")
  func recovering() {
    var subscriptions: Set<AnyCancellable> = []

    struct Unreachable: Error {}

    var attempts = 0
    let server = Deferred {
      attempts += 1
      return Fail<String, Unreachable>(error: Unreachable())
    }
    var lines: [String] = []
    server
      .retry(2)
      .catch { _ in Just("from the cache") }
      .sink { lines.append($0) }
      .store(in: &subscriptions)
    #expect(attempts == 3)
    #expect(lines == ["from the cache"])
  }

  @Test("Timing values: a value waits for a pause")
  func timing() {
    var subscriptions: Set<AnyCancellable> = []

    let scheduler = TestScheduler()
    let typed = PassthroughSubject<String, Never>()
    var searches: [String] = []
    typed
      .debounce(for: .milliseconds(300), scheduler: scheduler)
      .sink { searches.append($0) }
      .store(in: &subscriptions)

    typed.send("a")
    scheduler.advance(by: .milliseconds(100))
    typed.send("ab")
    scheduler.advance(by: .milliseconds(300))
    #expect(searches == ["ab"])
  }

  @Test("Buffering values: the oldest value makes room")
  func buffering() {
    let frames = PassthroughSubject<Int, Never>()
    let recorder = Recorder<Int, Never>(requesting: .max(1))
    frames
      .buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
      .subscribe(recorder)

    for frame in 1...4 { frames.send(frame) }
    recorder.request(.max(2))
    #expect(recorder.values == [1, 3, 4])
  }

  @Test("Sharing publishers: one request serves two")
  func sharing() {
    var subscriptions: Set<AnyCancellable> = []

    var requests = 0
    let response = PassthroughSubject<String, Never>()
    let shared = Deferred {
      requests += 1
      return response
    }
    .share()

    var texts: Set<String> = []
    shared.sink { texts.insert("1: \($0)") }.store(in: &subscriptions)
    shared.sink { texts.insert("2: \($0)") }.store(in: &subscriptions)
    response.send("hello")
    #expect(requests == 1)
    #expect(texts == ["1: hello", "2: hello"])
  }

  @Test("Watching a stream: closures see what passes")
  func watching() {
    var subscriptions: Set<AnyCancellable> = []

    let numbers = PassthroughSubject<Int, Never>()
    var steps: [String] = []
    numbers
      .handleEvents(receiveOutput: { steps.append("in \($0)") }, receiveCancel: { steps.append("cancelled") })
      .map { $0 * 10 }
      .sink { steps.append("out \($0)") }
      .store(in: &subscriptions)

    numbers.send(1)
    subscriptions.removeAll()
    #expect(steps == ["in 1", "out 10", "cancelled"])
  }

  @Test("Observing objects: an object speaks before it changes")
  func observing() {
    var subscriptions: Set<AnyCancellable> = []

    final class Player: ObservableObject {
      @Published var score = 0
    }

    let player = Player()
    var log: [String] = []
    player.objectWillChange
      .sink { log.append("will change from \(player.score)") }
      .store(in: &subscriptions)
    player.$score
      .sink { log.append("\($0), while the property is \(player.score)") }
      .store(in: &subscriptions)

    player.score = 7
    #expect(log == ["0, while the property is 0", "will change from 0", "7, while the property is 0"])
  }

  @Test("Scheduling work: a pause in virtual time")
  func scheduling() {
    var subscriptions: Set<AnyCancellable> = []

    func greeting<Context: Scheduler>(on scheduler: Context) -> AnyPublisher<String, Never> {
      Just("Good morning")
        .delay(for: .seconds(2), scheduler: scheduler)
        .eraseToAnyPublisher()
    }

    let scheduler = TestScheduler()  // a DispatchQueue in the program
    var greetings: [String] = []
    greeting(on: scheduler)
      .sink { greetings.append($0) }
      .store(in: &subscriptions)
    #expect(greetings.isEmpty)
    scheduler.advance(by: .seconds(2))
    #expect(greetings == ["Good morning"])
  }

  @Test("Bridging to async: a loop reads a stream")
  func bridging() async {
    var sum = 0
    for await number in (1...4).publisher.values { sum += number }
    #expect(sum == 10)

    let answer = await Future<Int, Never> { promise in promise(.success(42)) }.value
    #expect(answer == 42)
  }

  @Test("Using Foundation: a notification is decoded")
  func foundation() {
    var subscriptions: Set<AnyCancellable> = []

    struct Weather: Codable, Equatable {
      var degrees: Int
    }

    let center = NotificationCenter()
    let didReceive = Notification.Name("didReceive")
    var forecasts: [Weather] = []
    center.publisher(for: didReceive)
      .compactMap { $0.object as? Data }
      .decode(type: Weather.self, decoder: JSONDecoder())
      .replaceError(with: Weather(degrees: 0))
      .sink { forecasts.append($0) }
      .store(in: &subscriptions)

    center.post(name: didReceive, object: Data(#"{"degrees": 21}"#.utf8))
    #expect(forecasts == [Weather(degrees: 21)])
  }

  @Test("Writing a publisher: values come as they are asked for")
  func writing() {
    let recorder = Recorder<Int, Never>(requesting: .max(2))
    Countdown(start: 3).subscribe(recorder)
    #expect(recorder.values == [3, 2])
    recorder.request(.max(1))
    #expect(recorder.values == [3, 2, 1])
    #expect(recorder.isFinished)
  }
}

struct Countdown: Publisher {
  typealias Output = Int
  typealias Failure = Never

  let start: Int

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: CountdownSubscription(from: start, to: subscriber))
  }
}

// For one thread. If requests may come from several, guard the state with a lock, and let go of it for every call out.
final class CountdownSubscription<Downstream: Subscriber>: Subscription
where Downstream.Input == Int, Downstream.Failure == Never {
  private var downstream: Downstream?
  private var demand = Subscribers.Demand.none
  private var left: Int
  private var isSending = false

  init(from start: Int, to downstream: Downstream) {
    left = start
    self.downstream = downstream
  }

  func request(_ more: Subscribers.Demand) {
    demand += more
    // A request from inside a value only adds to the demand: the loop outside goes on with it.
    guard !isSending else { return }
    isSending = true
    defer { isSending = false }
    while left > 0, demand > .none, let downstream {
      demand -= 1
      left -= 1
      demand += downstream.receive(left + 1)
    }
    if left <= 0, let downstream {
      self.downstream = nil
      downstream.receive(completion: .finished)
    }
  }

  func cancel() {
    downstream = nil
  }
}
