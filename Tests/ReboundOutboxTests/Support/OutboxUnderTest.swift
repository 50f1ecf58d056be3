import Combine
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting
import StreamSupport

/// The other side of an outbox: notes what arrives, and answers as it is told.
///
/// Unchecked, because the lock guards all that changes.
final class Receiver: @unchecked Sendable {
  enum Answer {
    case now(OutboxVerdict)
    case after(Duration, OutboxVerdict)
    case never
  }

  struct Arrival {
    let entry: OutboxEntry<String>
    let time: Duration
    var isCancelled = false
  }

  private let scheduler: TestScheduler
  private let lock = Lock()
  private var log: [Arrival] = []
  private var answers: [String: [Answer]] = [:]
  private var otherwise: @Sendable (OutboxEntry<String>) -> Answer = { _ in .now(.delivered) }

  init(on scheduler: TestScheduler) {
    self.scheduler = scheduler
  }

  var arrivals: [Arrival] { lock.withLock { log } }
  var payloads: [String] { arrivals.map(\.entry.payload) }
  /// "a at 1.0" for each arrival.
  var timed: [String] { arrivals.map { "\($0.entry.payload) at \(Double($0.time.components.seconds))" } }

  /// Says what happens to the first, second … arrival of a payload; all others are delivered.
  func program(_ payload: String, _ answers: Answer...) {
    lock.withLock { self.answers[payload] = answers }
  }

  /// Says what happens to all arrivals that are not programmed.
  func programAll(_ answer: @escaping @Sendable (OutboxEntry<String>) -> Answer) {
    lock.withLock { otherwise = answer }
  }

  func receive(_ entry: OutboxEntry<String>) -> AnyPublisher<OutboxVerdict, Never> {
    let (number, programmed, otherwise) = lock.withLock {
      log.append(Arrival(entry: entry, time: scheduler.elapsed))
      var rest = answers[entry.payload] ?? []
      let first = rest.isEmpty ? nil : rest.removeFirst()
      answers[entry.payload] = rest
      return (log.count - 1, first, self.otherwise)
    }
    let publisher: AnyPublisher<OutboxVerdict, Never>
    switch programmed ?? otherwise(entry) {
    case .now(let verdict):
      publisher = Just(verdict).eraseToAnyPublisher()
    case .after(let delay, let verdict):
      publisher = Just(verdict).delay(for: .init(delay), scheduler: scheduler).eraseToAnyPublisher()
    case .never:
      publisher = Empty(completeImmediately: false).eraseToAnyPublisher()
    }
    return publisher.handleEvents(receiveCancel: { [self] in lock.withLock { log[number].isCancelled = true } })
      .eraseToAnyPublisher()
  }
}

/// An outbox of texts, in virtual time.
struct OutboxUnderTest {
  /// What the scheduler's clock says at the beginning.
  static let start = Date(timeIntervalSince1970: 0)

  let scheduler: TestScheduler
  let receiver: Receiver
  let log = EventLog<OutboxEvent<String>>()
  let outbox: Outbox<String>

  init(
    _ policy: OutboxPolicy = .steady(),
    storage: any OutboxStorage = InMemoryOutboxStorage(),
    online: AnyPublisher<Bool, Never>? = nil,
    scheduler: TestScheduler = TestScheduler(),
    receiver: Receiver? = nil,
    seed: UInt64 = 1,
    mayRepeat: @escaping @Sendable (OutboxEntry<String>) -> Bool = { _ in true }
  ) {
    let receiver = receiver ?? Receiver(on: scheduler)
    self.scheduler = scheduler
    self.receiver = receiver
    outbox = Outbox(
      "test",
      policy: policy,
      storage: storage,
      online: online,
      scheduler: scheduler,
      random: .seeded(seed),
      deliveringWith: receiver.receive
    )
    .repeating(where: mayRepeat)
    .onEvent(log.write)
  }

  /// Stores an entry, and lets the outbox work.
  @discardableResult
  func enqueue(_ payload: String, key: String = "k", _ options: OutboxOptions = .standard)
    -> Result<OutboxEntry<String>, OutboxFailure>?
  {
    ask(outbox.enqueueing(payload, key: key, options: options))
  }

  /// Asks, lets the outbox work, and says what it has answered by then.
  func ask<Value>(_ question: AnyPublisher<Value, OutboxFailure>) -> Result<Value, OutboxFailure>? {
    let recorder = Recorder<Value, OutboxFailure>(on: scheduler)
    question.subscribe(recorder)
    scheduler.advance()
    if let value = recorder.values.first { return .success(value) }
    if case .failure(let failure) = recorder.completion { return .failure(failure) }
    return nil
  }
}

extension OutboxPolicy {
  /// With a pause of the same length after each failure: 10 s.
  static func steady(
    capacity: Int = 100,
    maxBytes: Int = 1 << 20,
    maxConcurrent: Int = 4,
    maxAttempts: Int? = nil,
    timeToLive: Duration? = nil
  ) -> OutboxPolicy {
    do {
      return try OutboxPolicy(
        capacity: capacity,
        maxBytes: maxBytes,
        maxConcurrent: maxConcurrent,
        maxAttempts: maxAttempts,
        timeToLive: timeToLive,
        backoff: .constant(.seconds(10))
      )
    } catch {
      // The numbers stand in the tests.
      preconditionFailure("\(error)")
    }
  }
}

extension Result where Failure == OutboxFailure {
  /// The failure in words; `nil` if there is none.
  var failureText: String? {
    if case .failure(let failure) = self { "\(failure)" } else { nil }
  }
}
