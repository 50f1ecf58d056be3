import Combine
import Foundation
import Rebound

/// Writes down each request that an app sends, and what came of it: the list of attempts on the page.
///
/// All of it happens on one scheduler, which stands for the main queue.
public final class AttemptLog<Context: Scheduler>: ObservableObject {
  /// The requests sent, oldest first, and what came of them.
  @Published public private(set) var attempts: [Attempt] = []

  private let scheduler: Context
  private let source: String
  private let events: PolicyEvents?
  private let now: () -> Date
  private var lastID = 0

  /// How many attempts are kept.
  private static var capacity: Int { 50 }

  /// Makes an empty log.
  ///
  /// - Parameters:
  ///   - scheduler: Where everything happens; serial, like the main queue.
  ///   - source: What the app is called where decisions are told.
  ///   - events: Is told what is decided after a failure; counted from there.
  ///   - now: The time of day.
  public init(
    scheduler: Context,
    source: String = "app",
    events: PolicyEvents? = nil,
    now: @escaping () -> Date = { Date() }
  ) {
    self.scheduler = scheduler
    self.source = source
    self.events = events
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
    let run = Run()
    let attempt = Deferred { [weak self, scheduler] () -> AnyPublisher<Output, Failure> in
      guard let self else { return Empty().eraseToAnyPublisher() }
      run.number += 1
      let id = self.begin(request, number: run.number)
      run.id = id
      return
        publisher
        .receive(on: scheduler)
        .handleEvents(
          receiveOutput: { [weak self] output in self?.change(id) { $0.succeeded(success(output)) } },
          receiveCompletion: { [weak self] in
            if case .failure(let error) = $0 { self?.change(id) { $0.failed(failure(error)) } }
          },
          receiveCancel: { [weak self] in self?.change(id) { $0.superseded() } }
        )
        .eraseToAnyPublisher()
    }
    return retrying(attempt, policy, run)
      .handleEvents(receiveCompletion: { [weak self] in
        if case .failure(let error) = $0, hasCopy() { self?.standIn(for: error, run) }
      })
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
      events?.tell(event, of: source)
    }
    return attempt.retry(policy.onEvent { observer.value($0) }, time: TimeSource(scheduler)).eraseToAnyPublisher()
  }

  private func standIn(for error: any Error, _ run: Run) {
    change(run.id) { $0.standIn() }
    events?.tell(FallbackEvent.fallingBack(from: error), of: source)
  }

  /// Writes down a request that something else sends.
  public func note(_ request: String, _ words: String) {
    let id = begin(request, number: 1)
    change(id) { $0.noted(words) }
  }

  private func begin(_ request: String, number: Int) -> Int {
    lastID += 1
    attempts.append(Attempt(id: lastID, time: now(), request: request, number: number))
    if attempts.count > Self.capacity { attempts.removeFirst() }
    return lastID
  }

  private func change(_ id: Int, _ change: (inout Attempt) -> Void) {
    guard let index = attempts.lastIndex(where: { $0.id == id }) else { return }
    change(&attempts[index])
  }
}

/// Where one request is in its attempts.
private final class Run {
  var number = 0
  var id = 0
}
