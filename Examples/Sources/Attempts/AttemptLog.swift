import Combine
import Foundation
import Rebound
import ReboundTelemetry

/// Writes down each request that an app sends, and what came of it: the list of attempts on the page.
///
/// All of it happens on one scheduler, which stands for the main queue.
public final class AttemptLog<Context: Scheduler>: ObservableObject {
  /// The requests sent, oldest first, and what came of them.
  @Published public private(set) var attempts: [Attempt] = []
  /// The last requests with all their attempts, oldest first.
  public private(set) var runs: [RecordedRun] = []

  private let scheduler: Context
  private let source: String
  private let events: PolicyEvents?
  private let lines: JSONLines?
  private let now: () -> Date
  private var lastID = 0
  private var lastExchange = 0
  private var lastRun = 0

  /// How many attempts are kept.
  private static var capacity: Int { 50 }

  /// Makes an empty log.
  ///
  /// - Parameters:
  ///   - scheduler: Where everything happens; serial, like the main queue.
  ///   - source: What the app is called where decisions are told.
  ///   - events: Is told what is decided after a failure; counted from there.
  ///   - lines: Gets a line of the type `request` for each turn of a request: see ``RecordedRun``.
  ///   - now: The time of day.
  public init(
    scheduler: Context,
    source: String = "app",
    events: PolicyEvents? = nil,
    lines: JSONLines? = nil,
    now: @escaping () -> Date = { Date() }
  ) {
    self.scheduler = scheduler
    self.source = source
    self.events = events
    self.lines = lines
    self.now = now
  }

  /// A publisher that sends a request, again if the policy says so, and whose every attempt is written down.
  ///
  /// - Parameters:
  ///   - request: What is sent, as in `GET /weather`.
  ///   - publisher: Sends it once for each subscription. Its values come out on the scheduler.
  ///   - policy: When to send it again; `nil` never does.
  ///   - hasCopy: Whether a saved copy stands in for an answer that has failed for good; asked once, then.
  ///   - success: What to write down for a value.
  ///   - failure: What to write down for a failure.
  public func writingDown<Output, Failure: Error>(
    _ request: String,
    _ publisher: AnyPublisher<Output, Failure>,
    retrying policy: RetryPolicy<Failure>? = nil,
    standingIn hasCopy: @escaping () -> Bool = { false },
    success: @escaping (Output) -> String,
    failure: @escaping (Failure) -> String
  ) -> AnyPublisher<Output, Failure> {
    let run = Run(exchange: nextExchange())
    let attempt = Deferred { [weak self, scheduler] () -> AnyPublisher<Output, Failure> in
      guard let self else { return Empty().eraseToAnyPublisher() }
      run.number += 1
      run.attempt += 1
      let id = self.begin(request, of: run.exchange, number: run.number)
      run.id = id
      self.tell(run, "attempt")
      return
        publisher
        .receive(on: scheduler)
        .handleEvents(
          receiveOutput: { [weak self] output in
            let words = success(output)
            self?.change(id) { $0.succeeded(words) }
            self?.tell(run, "value", [EventField("text", words)])
          },
          receiveCompletion: { [weak self] in
            guard case .failure(let error) = $0 else { return }
            let words = failure(error)
            self?.change(id) { $0.failed(words) }
            self?.tell(run, "attempt_failed", [EventField("text", words)])
          },
          receiveCancel: { [weak self] in self?.change(id) { $0.superseded() } }
        )
        .eraseToAnyPublisher()
    }
    let attempts = retrying(attempt, policy, run)
    return Deferred { [weak self] in
      self?.begin(run, request, isRetried: policy != nil)
      return attempts
    }
    .handleEvents(
      receiveCompletion: { [weak self] in
        if case .failure(let error) = $0, hasCopy() { self?.standIn(for: error, run) }
        self?.end(run, $0)
      },
      receiveCancel: { [weak self] in self?.leave(run) },
      receiveRequest: { [weak self] demand in
        self?.tell(run, "demand", [EventField("demand", demand.max.map { "\($0)" } ?? "unlimited")])
      }
    )
    .eraseToAnyPublisher()
  }

  private func retrying<Attempts: Publisher>(
    _ attempt: Attempts,
    _ policy: RetryPolicy<Attempts.Failure>?,
    _ run: Run
  ) -> AnyPublisher<Attempts.Output, Attempts.Failure> {
    guard let policy else { return attempt.eraseToAnyPublisher() }
    let observer = Confined<(RetryEvent) -> Void> { [weak self] event in
      guard let self else { return }
      change(run.id) { $0.follow(event) }
      changeRun(run) { $0.decisions.append(event) }
      events?.tell(event, of: source)
      tell(run, event.word, event.details)
    }
    return attempt.retry(policy.onEvent { observer.value($0) }, time: TimeSource(scheduler)).eraseToAnyPublisher()
  }

  private func standIn(for error: any Error, _ run: Run) {
    change(run.id) { $0.standIn() }
    events?.tell(FallbackEvent.fallingBack(from: error), of: source)
    tell(run, "fallback")
  }

  /// Writes down a request that something else sends.
  public func note(_ request: String, _ words: String) {
    let id = begin(request, of: nextExchange(), number: 1)
    change(id) { $0.noted(words) }
  }

  private func nextExchange() -> Int {
    lastExchange += 1
    return lastExchange
  }

  private func begin(_ request: String, of exchange: Int, number: Int) -> Int {
    lastID += 1
    attempts.append(Attempt(id: lastID, exchange: exchange, time: now(), request: request, number: number))
    if attempts.count > Self.capacity { attempts.removeFirst() }
    return lastID
  }

  private func change(_ id: Int, _ change: (inout Attempt) -> Void) {
    guard let index = attempts.lastIndex(where: { $0.id == id }) else { return }
    change(&attempts[index])
  }

  // MARK: Runs

  private func begin(_ run: Run, _ request: String, isRetried: Bool) {
    lastRun += 1
    (run.request, run.attempt, run.isOver) = (lastRun, 0, false)
    runs.append(RecordedRun(id: lastRun, request: request, isRetried: isRetried))
    if runs.count > Self.capacity { runs.removeFirst() }
    tell(run, "began", [EventField("name", request)])
  }

  private func end<Failure>(_ run: Run, _ completion: Subscribers.Completion<Failure>) {
    run.isOver = true
    switch completion {
    case .finished: tell(run, "finished")
    case .failure(let error):
      changeRun(run) { $0.failure = error }
      tell(run, "failed")
    }
  }

  private func leave(_ run: Run) {
    guard !run.isOver else { return }
    run.isOver = true
    tell(run, "cancelled")
  }

  private func changeRun(_ run: Run, _ change: (inout RecordedRun) -> Void) {
    guard let index = runs.lastIndex(where: { $0.id == run.request }) else { return }
    change(&runs[index])
  }

  private func tell(_ run: Run, _ event: String, _ fields: @autoclosure () -> [EventField] = []) {
    lines?.write(
      "request",
      [EventField("request", run.request), EventField("event", event), EventField("attempt", run.attempt)] + fields()
    )
  }
}

/// Where one request is in its attempts.
private final class Run {
  /// That of the attempts in the list.
  let exchange: Int
  /// Counts all attempts, also those of a person who asked again.
  var number = 0
  /// That of the attempt in the list.
  var id = 0
  /// That of the run, and how many attempts it has had.
  var request = 0
  var attempt = 0
  var isOver = false

  init(exchange: Int) {
    self.exchange = exchange
  }
}
