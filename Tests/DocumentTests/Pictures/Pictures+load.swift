import Combine
import Rebound
import ReboundTesting

/// Runs in which it matters how much a service is asked.
extension Picture {
  static let adaptiveLimit = Picture(name: "adaptive-limit") {
    let stage = StreamStage()
    let bulkhead = Bulkhead(
      "weather",
      policy: try BulkheadPolicy(maxConcurrent: 2, maxQueue: 10),
      adapting: try .aimd(in: 1...10, decrease: 0.5),
      overloadedWhen: { _ in true }
    )
    let call = try stage.source("call", "-#", "--a|", "--b|", "--c|", "--d|").mapError { $0 as any Error }
      .limited(by: bulkhead, time: stage.scheduler.time)
    for (number, second) in [0, 2, 2, 5, 5].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: call)
    }
    return try stage.picture(
      "After an overload one call runs at a time; each good answer makes room for one more",
      "call.limited(by: Bulkhead(…, adapting: .aimd(in: 1...10, decrease: 0.5)))"
    )
  }

  static let metastability = Picture(name: "metastability") {
    let alone = try attempts(refusingRetries: false)
    let guarded = try attempts(refusingRetries: true)
    return LoadPicture(
      title: "Attempts in each second: the service is down from 5 s to 8 s, and bears 20",
      rows: [
        LoadPicture.Row(label: "requests", style: .other, counts: alone.map { _ in 10 }),
        LoadPicture.Row(label: "attempts", style: .failed, counts: alone),
        LoadPicture.Row(label: "attempts, with a detector", style: .done, counts: guarded),
      ]
    )
    .svg
  }

  /// How many attempts reach a service in each of 30 seconds, while each second brings ten requests.
  private static func attempts(refusingRetries: Bool) throws -> [Int] {
    let scheduler = TestScheduler()
    let time = scheduler.time
    let service = OverloadedService(since: time.now)
    let detector = MetastabilityDetector("weather", policy: try MetastabilityPolicy(refusesRetries: refusingRetries))
    let weather = try Pipeline<String>("weather", time: time) {
      detector.requests
      Retry(.init(clamping: 10, backoff: .constant(.milliseconds(250))))
      detector
    }
    var subscriptions: Set<AnyCancellable> = []
    for _ in 0..<300 {
      Deferred { service.answer(at: time.now).publisher }
        .protected(by: weather)
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        .store(in: &subscriptions)
      scheduler.advance(by: .milliseconds(100))
    }
    return (0..<30).map { second in service.attempts.count { Int($0.components.seconds) == second } }
  }
}

/// A service that is down for three seconds, and spends its time on refusals when more than 20 attempts come in a second.
private final class OverloadedService {
  private struct Overload: Error {}

  private let start: Duration
  /// When they came, counted from the start.
  private(set) var attempts: [Duration] = []

  init(since start: Duration) {
    self.start = start
  }

  func answer(at now: Duration) -> Result<String, any Error> {
    let moment = now - start
    attempts.append(moment)
    let isDown = (.seconds(5) ..< .seconds(8)).contains(moment)
    let isOverloaded = attempts.suffix(21).count { $0 > moment - .seconds(1) } > 20
    // Of those that are too many, one in ten is answered all the same.
    return isDown || (isOverloaded && attempts.count % 10 != 0) ? .failure(Overload()) : .success("sunny")
  }
}
