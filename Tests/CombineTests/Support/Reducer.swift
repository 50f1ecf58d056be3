import Combine
import ReboundTesting
import Testing

/// A reducing operator, what it makes of `[3, 1, 2]` and of nothing, and how it shows itself.
///
/// Unchecked: the closure captures nothing.
struct Reducer: CustomTestStringConvertible, @unchecked Sendable {
  let testDescription: String
  let name: String
  let labels: [String]
  let result: String
  let resultOfNothing: String?
  /// After how many of the values the result is known; nil if only at the end.
  let decidesAfter: Int?
  private let attach: (TestPublisher<Int, TestFailure>, Recorder<String, any Error>) -> Void

  init<P: Publisher>(
    _ testDescription: String,
    as name: String,
    labels: [String] = ["downstream", "result", "initial", "status"],
    makes result: String,
    ofNothing resultOfNothing: String?,
    after decidesAfter: Int? = nil,
    _ operation: @escaping (TestPublisher<Int, TestFailure>) -> P
  ) {
    self.testDescription = testDescription
    self.name = name
    self.labels = labels
    self.result = result
    self.resultOfNothing = resultOfNothing
    self.decidesAfter = decidesAfter
    attach = { upstream, recorder in
      operation(upstream).subscribe(
        AnySubscriber(
          receiveSubscription: recorder.receive(subscription:),
          receiveValue: { recorder.receive("\($0)") },
          receiveCompletion: { completion in
            switch completion {
            case .finished: recorder.receive(completion: .finished)
            case .failure(let error): recorder.receive(completion: .failure(error))
            }
          }
        )
      )
    }
  }

  func subscribe(_ recorder: Recorder<String, any Error>, to upstream: TestPublisher<Int, TestFailure>) {
    attach(upstream, recorder)
  }

  static let all: [Reducer] = [
    Reducer("reduce", as: "Reduce", makes: "16", ofNothing: "10") { $0.reduce(10, +) },
    Reducer("tryReduce", as: "TryReduce", makes: "16", ofNothing: "10") { $0.tryReduce(10, +) },
    Reducer("collect", as: "Collect", labels: ["count"], makes: "[3, 1, 2]", ofNothing: "[]") { $0.collect() },
    Reducer("count", as: "Count", makes: "3", ofNothing: "0") { $0.count() },
    Reducer("contains", as: "Contains", makes: "true", ofNothing: "false", after: 2) { $0.contains(1) },
    Reducer("contains(where:)", as: "ContainsWhere", makes: "true", ofNothing: "false", after: 2) {
      $0.contains { $0 < 2 }
    },
    Reducer("tryContains", as: "TryContainsWhere", makes: "true", ofNothing: "false", after: 2) {
      $0.tryContains { $0 < 2 }
    },
    Reducer("allSatisfy", as: "AllSatisfy", makes: "false", ofNothing: "true", after: 2) { $0.allSatisfy { $0 > 1 } },
    Reducer("tryAllSatisfy", as: "TryAllSatisfy", makes: "false", ofNothing: "true", after: 2) {
      $0.tryAllSatisfy { $0 > 1 }
    },
    Reducer("first", as: "First", makes: "3", ofNothing: nil, after: 1) { $0.first() },
    Reducer("first(where:)", as: "TryFirst", makes: "1", ofNothing: nil, after: 2) { $0.first { $0 < 3 } },
    Reducer("tryFirst", as: "TryFirstWhere", makes: "1", ofNothing: nil, after: 2) { $0.tryFirst { $0 < 3 } },
    Reducer("last", as: "Last", makes: "2", ofNothing: nil) { $0.last() },
    Reducer("last(where:)", as: "LastWhere", makes: "3", ofNothing: nil) { $0.last { $0 > 2 } },
    Reducer("tryLast", as: "TryLastWhere", makes: "3", ofNothing: nil) { $0.tryLast { $0 > 2 } },
    Reducer("min", as: "Comparison", makes: "1", ofNothing: nil) { $0.min() },
    Reducer("max", as: "Comparison", makes: "3", ofNothing: nil) { $0.max() },
    Reducer("min(by:)", as: "Comparison", makes: "3", ofNothing: nil) { $0.min(by: >) },
    Reducer("max(by:)", as: "Comparison", makes: "1", ofNothing: nil) { $0.max(by: >) },
    Reducer("tryMin", as: "TryComparison", makes: "1", ofNothing: nil) { $0.tryMin(by: <) },
    Reducer("tryMax", as: "TryComparison", makes: "3", ofNothing: nil) { $0.tryMax(by: <) },
  ]
}
