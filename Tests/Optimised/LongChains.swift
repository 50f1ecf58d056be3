import Combine
import Foundation

// Chains as long as those of programs, which `scripts/test-optimised` has the optimiser compile. Swift 6.3.1 stops
// at about eight operators if the subscribing of each is inlined into that of the next in any case.

private enum Failure: Error { case wrong }

final class ViewModel: ObservableObject {
  @Published var query = ""
  @Published private(set) var results: [String] = []
  @Published private(set) var message: String?
  @Published private(set) var isLoading = false
  private var subscriptions = Set<AnyCancellable>()

  init(search: @escaping (String) -> AnyPublisher<[String], any Error>) {
    $query
      .dropFirst()
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .removeDuplicates()
      .filter { !$0.isEmpty }
      .handleEvents(receiveOutput: { [weak self] _ in self?.isLoading = true })
      .map { query in
        search(query)
          .map { Result<[String], any Error>.success($0) }
          .catch { Just(.failure($0)) }
      }
      .switchToLatest()
      .sink { [weak self] result in
        self?.isLoading = false
        switch result {
        case .success(let results): self?.results = results
        case .failure(let error): self?.message = "\(error)"
        }
      }
      .store(in: &subscriptions)
  }
}

// A step a line, so that the types of one do not hang on those of all others.

func joinsOfTheLatest(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.combineLatest(Just(1))
  let step2 = step1.map { $0 &+ $1 }
  let step3 = step2.combineLatest(Just(1))
  let step4 = step3.map { $0 &+ $1 }
  let step5 = step4.combineLatest(Just(1))
  let step6 = step5.map { $0 &+ $1 }
  let step7 = step6.combineLatest(Just(1))
  let step8 = step7.map { $0 &+ $1 }
  return step8.sink { print($0) }
}

func pairs(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.zip(Just(1))
  let step2 = step1.map { $0 &+ $1 }
  let step3 = step2.zip(Just(1))
  let step4 = step3.map { $0 &+ $1 }
  let step5 = step4.zip(Just(1))
  let step6 = step5.map { $0 &+ $1 }
  let step7 = step6.zip(Just(1))
  let step8 = step7.map { $0 &+ $1 }
  return step8.sink { print($0) }
}

func groups(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.collect(2)
  let step2 = step1.map(\.count)
  let step3 = step2.collect(2)
  let step4 = step3.map(\.count)
  let step5 = step4.collect(2)
  let step6 = step5.map(\.count)
  let step7 = step6.collect(2)
  let step8 = step7.map(\.count)
  return step8.sink { print($0) }
}

func latestInner(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.map { Just($0) }
  let step2 = step1.switchToLatest()
  let step3 = step2.map { Just($0) }
  let step4 = step3.switchToLatest()
  let step5 = step4.map { Just($0) }
  let step6 = step5.switchToLatest()
  let step7 = step6.map { Just($0) }
  let step8 = step7.switchToLatest()
  return step8.sink { print($0) }
}

func failures(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.tryMap { $0 }
  let step2 = step1.catch { _ in Just(1) }
  let step3 = step2.tryMap { $0 }
  let step4 = step3.catch { _ in Just(1) }
  let step5 = step4.tryMap { $0 }
  let step6 = step5.catch { _ in Just(1) }
  let step7 = step6.tryMap { $0 }
  let step8 = step7.catch { _ in Just(1) }
  return step8.sink { print($0) }
}

func kindsOfFailures(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.setFailureType(to: Failure.self)
  let step2 = step1.mapError { $0 }
  let step3 = step2.replaceError(with: 1)
  let step4 = step3.setFailureType(to: Failure.self)
  let step5 = step4.mapError { $0 }
  let step6 = step5.replaceError(with: 1)
  let step7 = step6.setFailureType(to: Failure.self)
  let step8 = step7.mapError { $0 }
  let step9 = step8.replaceError(with: 1)
  let step10 = step9.setFailureType(to: Failure.self)
  let step11 = step10.mapError { $0 }
  let step12 = step11.replaceError(with: 1)
  return step12.sink { print($0) }
}

func codings(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.encode(encoder: JSONEncoder())
  let step2 = step1.decode(type: Int.self, decoder: JSONDecoder())
  let step3 = step2.replaceError(with: 1)
  let step4 = step3.encode(encoder: JSONEncoder())
  let step5 = step4.decode(type: Int.self, decoder: JSONDecoder())
  let step6 = step5.replaceError(with: 1)
  let step7 = step6.encode(encoder: JSONEncoder())
  let step8 = step7.decode(type: Int.self, decoder: JSONDecoder())
  let step9 = step8.replaceError(with: 1)
  let step10 = step9.encode(encoder: JSONEncoder())
  let step11 = step10.decode(type: Int.self, decoder: JSONDecoder())
  let step12 = step11.replaceError(with: 1)
  return step12.sink { print($0) }
}

func questions(_ numbers: PassthroughSubject<Int, Never>) -> AnyCancellable {
  let step1 = numbers.allSatisfy { $0 > 1 }
  let step2 = step1.map { _ in 1 }
  let step3 = step2.allSatisfy { $0 > 1 }
  let step4 = step3.map { _ in 1 }
  let step5 = step4.allSatisfy { $0 > 1 }
  let step6 = step5.map { _ in 1 }
  let step7 = step6.allSatisfy { $0 > 1 }
  let step8 = step7.map { _ in 1 }
  return step8.sink { print($0) }
}
