import Combine
import Observation
import Rebound
import ReboundTesting
import Testing

/// The code of Sources/Rebound/Rebound.docc, as it stands there.
@Suite("The code of Rebound's landing page")
struct ReboundPageTests {
  @Test("the third attempt comes after the second pause")
  func landingPage() {
    var subscriptions: Set<AnyCancellable> = []

    struct Busy: Error {}

    let scheduler = TestScheduler()  // the system's time in the program, where none is said
    var attempts = 0
    let request = Deferred {
      attempts += 1
      return attempts < 3 ? Result<String, Busy>.failure(Busy()).publisher : Result.success("done").publisher
    }
    var answers: [String] = []
    request
      .retry(.steps(.seconds(1), .seconds(5)), times: 2, time: scheduler.time)
      .replaceError(with: "gave up")
      .sink { answers.append($0) }
      .store(in: &subscriptions)
    #expect(attempts == 1)
    scheduler.advance(by: .seconds(1))
    #expect(attempts == 2)
    scheduler.advance(by: .seconds(5))
    #expect(answers == ["done"])
  }

  @Test("a sequence that fails is iterated again")
  func sequences() async throws {
    let sensor = Sensor()
    var log: [Int] = []

    // A time that stands still: no limit is reached, however busy the machine is.
    try await TimeSource.$current.withValue(TestScheduler().time) {
      let readings = sensor.readings
        .timeout(.betweenValues(.seconds(10)))
        .retry(RetryPolicy(clamping: 3, backoff: .steps(.zero, .seconds(1))))
      for try await reading in readings {
        log.append(reading)
      }
    }

    #expect(log == [1, 1, 2])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("Observation follows a publisher")
  func observableValue() {
    let temperatures = PassthroughSubject<Int, Never>()
    let latest = temperatures.observableValue(initially: 20)
    temperatures.send(21)
    #expect(latest.value == 21)
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @MainActor @Test("a publisher follows Observation")
  func observed() async {
    let model = Model()

    var names: [String] = []
    for await name in Publishers.Observed({ model.name }).values {
      names.append(name)
      if name == "Ada Lovelace" { break }
      model.name = "Ada"
      model.name += " Lovelace"
    }
    #expect(names == ["", "Ada Lovelace"])
  }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable private final class Model {
  var name = ""
}

/// A sensor that loses its connection after one reading, the first time.
private struct Sensor {
  struct Disconnected: Error {}

  let readings = Readings()

  struct Readings: AsyncSequence, Sendable {
    let line = Line()

    func makeAsyncIterator() -> AsyncThrowingStream<Int, any Error>.Iterator {
      AsyncThrowingStream { [line] in try await line.next() }.makeAsyncIterator()
    }
  }

  actor Line {
    private var rest: [Result<Int?, Disconnected>] = [
      .success(1), .failure(Disconnected()), .success(1), .success(2), .success(nil),
    ]

    func next() throws(Disconnected) -> Int? { try rest.removeFirst().get() }
  }
}
