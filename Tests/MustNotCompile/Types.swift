import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundStore

// Mistakes that the compiler finds, so that no test has to. `scripts/check-refused-code` has it look whether it complains exactly
// where it is said to.

private struct Failure: Error {}

// MARK: Requests know what comes back

private struct Place: Decodable, Sendable {}
private struct Animal: Decodable, Sendable {}

private struct Forecast: Request {
  var path: RequestPath { "forecast" }
  typealias Response = Place
}

private func answerOfAnotherType(_ client: WebAPIClient) async throws {
  let _: Place = try await client.value(of: Forecast())
  // expected-error@+1 {{(aka 'Place') to specified type 'Animal'}}
  let _: Animal = try await client.value(of: Forecast())
  let _: AnyPublisher<Place, NetworkFailure> = client.publisher(for: Forecast())
  // expected-error@+2 {{(aka 'AnyPublisher<Place, NetworkFailure>') to type 'AnyPublisher<Animal, NetworkFailure>'}}
  // expected-note@+1 {{(aka 'Place') and 'Animal') are expected to be equal}}
  let _: AnyPublisher<Animal, NetworkFailure> = client.publisher(for: Forecast())
}

private func errorOfAnotherType(_ client: WebAPIClient) async {
  do {
    _ = try await client.value(of: Forecast())
  } catch {
    let _: NetworkFailure = error
    // expected-error@+1 {{cannot convert value of type 'NetworkFailure' to specified type 'Failure'}}
    let _: Failure = error
  }
}

// expected-error@+1 {{type 'WithoutAnswer' does not conform to protocol 'Request'}}
private struct WithoutAnswer: Request {
  var path: RequestPath { "forecast" }
}

// MARK: No failure is left out

private enum Action {
  case loaded(Int)
  case failed(Failure)
}

private func effectsWithoutFailures(_ numbers: AnyPublisher<Int, Failure>) {
  let _: Effect<Action> = .run(numbers) { result in
    switch result {
    case .success(let number): .loaded(number)
    case .failure(let failure): .failed(failure)
    }
  }
  let _: Effect<Action> = .publisher(numbers.map(Action.loaded).catch { Just(.failed($0)) })
  let _: Effect<Action> = .run(numbers) { result in
    // expected-error@+2 {{switch must be exhaustive}}
    // expected-note@+1 {{add missing case: '.failure(_)'}}
    switch result {
    case .success(let number): .loaded(number)
    }
  }
  // expected-error@+1 {{'Failure') and 'Never' be equivalent}}
  let _: Effect<Action> = .publisher(numbers.map(Action.loaded))
}

private final class Model: ObservableObject {
  @Published var number = 0

  func assign(_ numbers: AnyPublisher<Int, Failure>) {
    numbers.asResult().compactMap { try? $0.get() }.assign(to: &$number)
    // expected-error@+1 {{requires the types 'Failure' and 'Never' be equivalent}}
    numbers.assign(to: &$number)
    // expected-error@+1 {{requires the types 'Failure' and 'Never' be equivalent}}
    _ = numbers.sink { _ in }
  }
}

// MARK: Policies go with what they protect

private func pipelineOfAnotherType(_ pipeline: Pipeline<Int>, _ texts: AnyPublisher<String, Failure>) {
  // expected-error@+1 {{no exact matches in call to instance method 'protected'}}
  _ = texts.protected(by: pipeline)
}

private func retriesOfWhatCannotFail(_ numbers: AnyPublisher<Int, Never>, _ policy: RetryPolicy<Failure>) {
  // expected-error@+2 {{cannot convert value of type 'RetryPolicy<Failure>' to expected argument type 'RetryPolicy<Never>'}}
  // expected-note@+1 {{arguments to generic parameter 'Failure' ('Failure' and 'Never') are expected to be equal}}
  _ = numbers.retry(policy)
}
