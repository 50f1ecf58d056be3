import Combine
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting
import Testing

// What the examples in the doc comments of ReboundTesting take for granted. No target: scripts/check-examples compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct Busy: Error, Equatable {
  static let busy = Busy()
}

struct API: Sendable {
  func forecast(for _: String) -> AnyPublisher<Int, Busy> { given() }
}

actor Account {
  var balance = 0
  func deposit(_: Int) {}
}

enum RegisterCall {
  case write(Int), read
}

actor Register {
  func write(_: Int) -> Int? { nil }
  func read() -> Int? { nil }
}

let register = Register()

struct RegisterModel: SequentialModel {
  let initial: Int? = nil
  func next(_: Int?, _: RegisterCall, _: Int??) -> Int?? { nil }
}

struct Point {
  let x: Int
  let y: Int
}

@Sendable func deliver(_: OutboxEntry<Int>) async -> OutboxVerdict { given() }

let api = API()
let city = ""
let file = URL(fileURLWithPath: "")
var scheduler: TestScheduler { given() }
var request: AnyPublisher<Int, any Error> { given() }
var publisher: AnyPublisher<Int, Busy> { given() }
var recorder: Recorder<Int, Busy> { given() }
var policy: RetryPolicy<Busy> { given() }
var breaker: CircuitBreaker { given() }
var weather: Pipeline<Int> { given() }
var events: PolicyEvents { given() }

// MARK: What only the examples of one file take for granted

enum PolicyEventLogExamples {
  static var recorder: Recorder<Int, any Error> { given() }
}

enum BreakerLogExamples {
  static func service() async throws -> String { given() }
}

enum RunDiagramExamples {
  static var log: RetryLog { given() }
}

enum SimulationExamples {
  struct Weather: Sendable {
    func load() async {}
  }
  static let weather = Weather()
}

enum TestClockExamples {
  @Sendable static func poll(every: Duration, clock: TestClock) async throws {}
}

enum UnimplementedSchedulerExamples {
  struct SearchModel {
    init(scheduler: UnimplementedScheduler) {}
    func clear() {}
  }
}

enum StepVerifierExamples {
  final class Search: ObservableObject {
    @Published var text = ""
    @Published var results: [String] = []
  }
  static var search: Search { given() }
}

enum MisbehavingPublisherExamples {
  static var recorder: Recorder<Int, Never> { given() }
}

enum Publisher_awaitedValuesExamples {
  struct Store: Sendable {
    var states: AnyPublisher<Int, Never> { given() }
  }
  static let store = Store()
}

enum PublisherProbeExamples {
  static var cache: AnyPublisher<Int, Busy> { given() }
  static var network: AnyPublisher<Int, Busy> { given() }
}

enum RecorderExamples {
  static var publisher: AnyPublisher<Int, Never> { given() }
}

enum TestPublisherExamples {
  typealias Failure = Busy
}

enum TestSchedulerExamples {
  static var typed: PassthroughSubject<String, Never> { given() }
  static var request: AnyPublisher<Int, Busy> { given() }
}
