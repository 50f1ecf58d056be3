import Combine
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting

/// Runs of what is told apart by keys, and of what is kept until it is delivered.
extension Picture {
  static let keyed = Picture(name: "keyed") {
    let stage = StreamStage()
    let time = stage.scheduler.time
    let policy = try CircuitBreakerPolicy.consecutive(1, openFor: .seconds(30))
    let breakers = Keyed<String, CircuitBreaker> { host in CircuitBreaker(host, policy: policy) }
    let hosts = ["a": try stage.source("host a", "--#"), "b": try stage.source("host b", "--x|")]
    for (second, host) in [(0, "a"), (3, "a"), (4, "b")] {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      let request = (hosts[host] ?? Empty().eraseToAnyPublisher()).mapError { $0 as any Error }
      stage.listen("caller of \(host)", to: request.protected(by: breakers[host], time: time))
    }
    return try stage.picture(
      "Host a fails and its breaker opens; host b has a breaker of its own",
      "request(host).protected(by: breakers[host])"
    )
  }

  static let outbox = Picture(name: "outbox", catalogue: "ReboundOutbox") {
    let stage = StreamStage()
    // One thread draws a picture.
    nonisolated(unsafe) let delivery = try stage.source("delivery", "-#", "-a|")
    let outbox = Outbox<String>(
      "orders",
      policy: try OutboxPolicy(backoff: .constant(.seconds(3))),
      storage: InMemoryOutboxStorage(),
      scheduler: stage.scheduler,
      random: .seeded(1),
      deliveringWith: { _ in
        delivery.map { _ in OutboxVerdict.delivered }.catch { Just(OutboxVerdict.tryLater($0)) }.eraseToAnyPublisher()
      }
    )
    stage.listen("entry", to: outbox.enqueueing("soup", key: "kitchen")) { "\($0.id)".first ?? "•" }
    stage.listen("pending", to: outbox.states.map(\.pending).removeDuplicates().dropFirst())
    let svg = try stage.picture(
      "The entry is stored, its delivery fails, and three seconds later it succeeds",
      #"outbox.enqueueing("soup", key: "kitchen")"#
    )
    withExtendedLifetime(outbox) {}
    return svg
  }

  static let idempotencyKeys = Picture(name: "idempotency-keys") {
    let rows = RunRows()
    try Simulation(seed: 0).run {
      let orders = try IdempotencyKeys<String>(keptFor: .seconds(60))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, second) in [0, 2, 6].enumerated() {
          group.addTask {
            // The clock is the simulation's: nothing waits.
            try await ContinuousClock().sleep(for: .seconds(second))
            let caller = "caller \(number + 1)"
            rows.begin(caller)
            let receipt = try await orders.run("order 7") {
              rows.begin("order")
              try await ContinuousClock().sleep(for: .seconds(4))
              rows.end("order", with: "r")
              return "r"
            }
            rows.end(caller, with: receipt)
          }
        }
        try await group.waitForAll()
      }
    }
    return StreamPicture(
      title: "Three callers with the same key: one order, and one receipt for all",
      code: #"orders.run("order 7") { try await shop.place(order) }"#,
      inputs: rows.named("order"),
      outputs: ["caller 1", "caller 2", "caller 3"].flatMap(rows.named)
    )
    .svg
  }
}

/// What tasks of a simulation write down, each in a row of its own.
///
/// Unchecked, because the rows are only touched under the lock.
private final class RunRows: @unchecked Sendable {
  private let lock = NSLock()
  private var rows: [StreamPicture.Row] = []

  func begin(_ label: String) {
    let now = TimeSource.current.now
    lock.withLock { rows.append(StreamPicture.Row(label: label, start: now)) }
  }

  func end(_ label: String, with value: String) {
    let now = TimeSource.current.now
    lock.withLock {
      guard let index = rows.lastIndex(where: { $0.label == label }) else { return }
      rows[index].marks += [(now, .value(value.first ?? "•")), (now, .finish)]
    }
  }

  func named(_ label: String) -> [StreamPicture.Row] {
    lock.withLock { rows.filter { $0.label == label } }
  }
}
