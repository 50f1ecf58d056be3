import Combine
import Foundation
import Testing

@Suite("Code written for Apple's Combine")
struct AppleSourceTests {
  private let articles = [Article(id: 1, title: "Combine"), Article(id: 2, title: "Concurrency")]

  @Test("a view model searches, shows what it found, and what went wrong")
  @MainActor
  func viewModel() {
    let model = SearchViewModel(service: BundledArticleService(articles: articles))
    var changes = 0
    var canClear: [Bool] = []
    var selected: [Article] = []
    var bag = Set<AnyCancellable>()
    model.objectWillChange.sink { changes += 1 }.store(in: &bag)
    model.canClear.sink { canClear.append($0) }.store(in: &bag)
    model.didSelect.sink { selected.append($0) }.store(in: &bag)
    #expect(model.hint == "Nothing found")
    model.query = " com "
    #expect(model.articles.map(\.id) == [1] && !model.isLoading && model.hint == nil)
    model.query = "offline"
    #expect(model.message == "offline")
    model.select(articles[1])
    #expect(changes > 0 && canClear.first == false && canClear.last == true && selected == [articles[1]])
  }

  @Test("objects announce their changes, and properties are bound to each other")
  func observation() {
    let settings = Settings()
    var changes = 0
    settings.onChange = { changes += 1 }
    settings.isDark = true
    settings.fontSize += 1
    #expect(changes == 2)

    let form = Form()
    let controller = Controller()
    controller.bind(to: form)
    form.password = "12345678"
    #expect(controller.label.text == "invalid" && controller.label.isHidden)
    form.repeated = "12345678"
    #expect(form.isValid && controller.label.text == "valid" && !controller.label.isHidden)
    controller.unbind()
    form.password = ""
    #expect(controller.label.text == "valid")
  }

  @Test("publishers, subscribers, subjects and operators of one's own fit in")
  func conformances() {
    let subscriber = IntSubscriber()
    Countdown(start: 3).subscribe(subscriber)
    #expect(subscriber.values == [3, 2, 1] && subscriber.isFinished)

    var received: [Int] = []
    let relay = RelaySubject<Int?>()
    let handle = Publishers.Doubled(upstream: relay.unwrap()).prefix(2).sink { received.append($0) }
    relay.send(1)
    relay.send(nil)
    relay.send(completion: .finished)
    relay.send(2)
    #expect(received == [2, 4])
    handle.cancel()

    var results: [Result<Int, SearchError>] = []
    _ = loadAtOnce(nil).asResult().sink { results.append($0) }
    #expect(results == [.failure(.offline)])

    let label = Label()
    let binding = Just("text").assignWeakly(to: \.text, on: label)
    #expect(label.text == "text")
    binding.cancel()
  }

  @Test("schedulers of one's own fit in")
  func schedulers() {
    let steps = StepScheduler()
    var log: [String] = []
    var received: [Int] = []
    let scheduler = LoggingScheduler(base: steps) { log.append($0) }
    let handle = [1, 2, 3].publisher.delay(for: .seconds(1), scheduler: scheduler).receive(on: scheduler)
      .sink { received.append($0) }
    steps.advance(by: .milliseconds(999))
    #expect(received.isEmpty)
    steps.advance(by: .milliseconds(1))
    #expect(received == [1, 2, 3] && log.contains("after") && log.contains("now"))
    var ticks = 0
    let timer = scheduler.schedule(after: scheduler.now, interval: .seconds(1)) { ticks += 1 }
    steps.advance(by: .seconds(2))
    timer.cancel()
    steps.advance(by: .seconds(2))
    #expect(ticks == 3)
    handle.cancel()
  }

  @Test("stores, watchers and records pass on what happens")
  func services() {
    let store = SessionStore()
    var states: [SessionStore.State] = []
    var failures = 0
    var bag = Set<AnyCancellable>()
    store.publisher.sink { states.append($0) }.store(in: &bag)
    store.errorPublisher.sink { _ in failures += 1 }.store(in: &bag)
    store.signIn(with: Just("ann").setFailureType(to: Error.self).eraseToAnyPublisher())
    store.signIn(with: Fail(error: SearchError.offline as Error).eraseToAnyPublisher())
    store.signOut()
    #expect(states == [.signedOut, .signedIn(user: "ann"), .signedOut] && failures == 1)
    #expect(store.current == .signedOut)

    let center = NotificationCenter()
    let watcher = Watcher()
    watcher.watch(center)
    center.post(name: .didSignIn, object: nil, userInfo: ["name": "ann"])
    #expect(watcher.names == ["ann"])
    watcher.tick().cancel()
    var polled: [Int] = []
    watcher.poll({ Just(7).eraseToAnyPublisher() }, every: 60).sink { polled.append($0) }.store(in: &bag)
    #expect(polled == [7])

    let book = Ledgerbook()
    book.record([1, 2].publisher.eraseToAnyPublisher()).cancel()
    #expect(book.text == "1 makes 1, 2 makes 3, end")
  }

  @Test("every operator is called as it is on Apple's platforms")
  func operators() {
    func all<P: Publisher>(_ publisher: P) -> [P.Output] {
      var values: [P.Output] = []
      publisher.sink(receiveCompletion: { _ in }, receiveValue: { values.append($0) }).cancel()
      return values
    }
    let numbers = (0..<5).publisher.eraseToAnyPublisher()
    #expect(all(Operators.mapping(numbers.setFailureType(to: SearchError.self).eraseToAnyPublisher())).last == "15")
    #expect(
      all(Operators.scanning(numbers.setFailureType(to: SearchError.self).eraseToAnyPublisher())) == [1, 3, 6, 10]
    )
    #expect(all(Operators.filtering(numbers)) == [2, 3, 4])
    #expect(all(Operators.reducing(numbers)).first?.contains("sum 10") == true)
    #expect(all(Operators.joining(numbers, ["a", "b"].publisher.eraseToAnyPublisher())).first == "begin")
    #expect(all(Operators.recovering(Fail(error: .offline).eraseToAnyPublisher())) == [0])
    let loaded = Operators.nested([2, 1]) { id in
      Just(Article(id: id, title: "")).setFailureType(to: SearchError.self).eraseToAnyPublisher()
    }
    #expect(all(loaded).first?.map(\.id) == [1, 2])
  }

  @Test("futures are awaited, and publishers looped over")
  func concurrency() async throws {
    #expect(await loadInBackground(7).value == 7)
    var sum = 0
    for await number in [1, 2, 3].publisher.values { sum += number }
    #expect(sum == 6)
    for try await number in Fail<Int, SearchError>(error: .offline).catch({ _ in Just(4) }).tryMap({ $0 }).values {
      sum += number
    }
    #expect(sum == 10)
    let inbox = Inbox()
    await inbox.read(from: ["a", "b"].publisher.eraseToAnyPublisher())
    #expect(await inbox.all == ["a", "b"])
    #expect(await changesOfCache() == 2)
    let task = Task {
      var last = 0
      for await number in (0..<3).publisher.values { last = number }
      return last
    }
    #expect(await task.value == 2)
  }

  @Disk
  private func changesOfCache() -> Int {
    let cache = Cache()
    let count = cache.countChanges()
    cache.store(1, for: "a")
    cache.store(2, for: "b")
    return count()
  }

  @Test("operators with a queue deliver there")
  func queues() async {
    let queue = DispatchQueue(label: "apple")
    let endless = Just(2).append(Empty(completeImmediately: false)).eraseToAnyPublisher()
    var values: [Int] = []
    for await value in Operators.timing(endless, on: queue).values {
      values.append(value)
      break
    }
    #expect(values == [2])
  }
}
