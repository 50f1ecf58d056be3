import Combine
import Foundation
import Rebound
import ReboundTesting
import Testing

@testable import Attempts

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("reporting(to:as:time:)")
struct PublisherReportingTests {
  private typealias Answers = TestPublisher<(data: Data, response: URLResponse), URLError>

  private let scheduler = TestScheduler()
  private let metrics = MetricsTable()
  private let answers = Answers()

  private var reported: AnyPublisher<Answers.Output, URLError> {
    answers.reporting(to: metrics, as: "Ask", time: scheduler.time)
  }

  private func attempts(resend: Bool) -> Int? {
    metrics.snapshot.counters[
      Metric("http_client_attempts", .init("operation", "Ask"), .init("resend", "\(resend)"))
    ]
  }

  /// How long attempts with an outcome took together, in seconds.
  private func duration(_ outcome: String) -> Double? {
    metrics.snapshot.histograms[
      Metric("http_client_attempt_duration_seconds", .init("operation", "Ask"), .init("outcome", outcome))
    ]?.sum
  }

  private func response(_ status: Int) throws -> Answers.Output {
    let url = try #require(URL(string: "http://localhost/somebody"))
    let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
    return (data: Data(), response: try #require(response))
  }

  @Test("an answer is counted with its status and its time")
  func answer() throws {
    let subscription = reported.sink { _ in
    } receiveValue: { _ in
    }
    #expect(attempts(resend: false) == 1)
    scheduler.advance(by: .milliseconds(250))
    answers.send(try response(503))
    answers.send(completion: .finished)
    #expect(duration("503") == 0.25)
    #expect(metrics.snapshot.histograms.count == 1)
    subscription.cancel()
  }

  @Test("a second attempt counts as sent again, with a time of its own")
  func resend() throws {
    let subscription = reported.retry(1).sink { _ in
    } receiveValue: { _ in
    }
    scheduler.advance(by: .seconds(1))
    answers.send(completion: .failure(URLError(.timedOut)))
    scheduler.advance(by: .seconds(2))
    answers.send(try response(200))
    answers.send(completion: .finished)
    #expect(attempts(resend: false) == 1)
    #expect(attempts(resend: true) == 1)
    #expect(duration("timeout") == 1)
    #expect(duration("200") == 2)
    subscription.cancel()
  }

  @Test(
    "a failure is one word, whatever its text says",
    arguments: [
      (URLError.Code.timedOut, "timeout"), (.notConnectedToInternet, "offline"), (.cannotFindHost, "dns"),
      (.cannotConnectToHost, "connect"), (.networkConnectionLost, "reset"), (.cancelled, "cancelled"),
      (.badServerResponse, "other"), (.unknown, "other"),
    ]
  )
  func failure(code: URLError.Code, word: String) {
    let subscription = reported.sink { _ in
    } receiveValue: { _ in
    }
    answers.send(completion: .failure(URLError(code, userInfo: [NSLocalizedDescriptionKey: "somebody"])))
    #expect(duration(word) == 0)
    subscription.cancel()
  }

  @Test(
    "what Foundation on Linux has but words for is told apart by them",
    arguments: [
      (URLError.Code.badServerResponse, "Empty reply from server", "reset"),
      (.unknown, "transfer closed with 12 bytes remaining to read", "truncated"),
    ]
  )
  func words(code: URLError.Code, text: String, word: String) {
    let subscription = reported.sink { _ in
    } receiveValue: { _ in
    }
    answers.send(completion: .failure(URLError(code, userInfo: [NSLocalizedDescriptionKey: text])))
    #expect(duration(word) == 0)
    subscription.cancel()
  }

  @Test("an attempt that is cancelled was sent, and has no duration")
  func cancelled() {
    reported.sink { _ in
    } receiveValue: { _ in
    }.cancel()
    #expect(attempts(resend: false) == 1)
    #expect(metrics.snapshot.histograms.isEmpty)
  }

  @Test("without a sink everything passes as it is")
  func noSink() throws {
    var statuses: [Int?] = []
    let subscription = answers.reporting(to: nil, as: "Ask").sink { _ in
    } receiveValue: {
      statuses.append(($0.response as? HTTPURLResponse)?.statusCode)
    }
    answers.send(try response(204))
    #expect(statuses == [204])
    subscription.cancel()
  }
}
