import Combine
import Foundation

// Every operator as it is called in apps: with trailing closures, with inference, and without a type said twice.

enum Operators {
  static func mapping(_ numbers: AnyPublisher<Int, SearchError>) -> AnyPublisher<String, Error> {
    numbers
      .map { $0 + 1 }
      .map(\.description)
      .tryMap { text -> Int in
        guard let number = Int(text) else { throw SearchError.server(500) }
        return number
      }
      .scan(0, +)
      .map { $0 == 3 ? nil : $0 }
      .replaceNil(with: 0)
      .encode(encoder: JSONEncoder())
      .decode(type: Int.self, decoder: JSONDecoder())
      .map { "\($0)" }
      .eraseToAnyPublisher()
  }

  static func scanning(_ numbers: AnyPublisher<Int, SearchError>) -> AnyPublisher<Int, SearchError> {
    numbers
      .tryScan(0) { $0 + $1 }
      .mapError { $0 as? SearchError ?? .offline }
      .compactMap { $0 > 0 ? $0 : nil }
      .eraseToAnyPublisher()
  }

  static func filtering(_ numbers: AnyPublisher<Int, Never>) -> AnyPublisher<Int, Error> {
    numbers
      .filter { $0 >= 0 }
      .removeDuplicates()
      .removeDuplicates(by: { $0 == $1 })
      .dropFirst()
      .drop { $0 < 2 }
      .drop(while: { $0 < 2 })
      .prefix(10)
      .prefix { $0 < 50 }
      .prefix(while: { $0 < 50 })
      .output(in: 0..<9)
      .tryFilter { $0 != 13 }
      .tryCompactMap { $0 }
      .tryRemoveDuplicates { $0 == $1 }
      .tryDrop { _ in false }
      .tryPrefix { _ in true }
      .replaceEmpty(with: -1)
      .eraseToAnyPublisher()
  }

  static func reducing(_ numbers: AnyPublisher<Int, Never>) -> AnyPublisher<[String], Never> {
    Publishers.MergeMany([
      numbers.count().map { "count \($0)" }.eraseToAnyPublisher(),
      numbers.min().map { "min \($0)" }.eraseToAnyPublisher(),
      numbers.max(by: { $0 < $1 }).map { "max \($0)" }.eraseToAnyPublisher(),
      numbers.contains(3).map { "contains \($0)" }.eraseToAnyPublisher(),
      numbers.contains { $0 > 3 }.map { "contains more \($0)" }.eraseToAnyPublisher(),
      numbers.allSatisfy { $0 < 9 }.map { "all \($0)" }.eraseToAnyPublisher(),
      numbers.reduce(0, +).map { "sum \($0)" }.eraseToAnyPublisher(),
      numbers.first().map { "first \($0)" }.eraseToAnyPublisher(),
      numbers.first { $0 > 1 }.map { "first where \($0)" }.eraseToAnyPublisher(),
      numbers.last(where: { $0 < 3 }).map { "last where \($0)" }.eraseToAnyPublisher(),
      numbers.collect(2).map { "two \($0)" }.eraseToAnyPublisher(),
      numbers.ignoreOutput().collect().map { "outputs \($0.count)" }.eraseToAnyPublisher(),
    ])
    .collect()
    .map { $0.sorted() }
    .eraseToAnyPublisher()
  }

  static func joining(_ left: AnyPublisher<Int, Never>, _ right: AnyPublisher<String, Never>) -> AnyPublisher<
    String, Never
  > {
    left.zip(right) { "\($0)\($1)" }
      .merge(with: right)
      .append("end")
      .prepend("begin", "go")
      .eraseToAnyPublisher()
  }

  static func recovering(_ upstream: AnyPublisher<Int, SearchError>) -> AnyPublisher<Int, Never> {
    upstream
      .retry(2)
      .tryCatch { error -> AnyPublisher<Int, SearchError> in
        if error == .offline { return Just(0).setFailureType(to: SearchError.self).eraseToAnyPublisher() }
        throw error
      }
      .catch { _ in Empty<Int, Error>(completeImmediately: true) }
      .replaceError(with: -1)
      .assertNoFailure()
      .eraseToAnyPublisher()
  }

  static func timing(_ upstream: AnyPublisher<Int, Never>, on queue: DispatchQueue) -> AnyPublisher<Int, Never> {
    upstream
      .subscribe(on: queue)
      .receive(on: queue, options: DispatchQueue.SchedulerOptions(qos: .userInitiated))
      .debounce(for: .milliseconds(1), scheduler: queue)
      .throttle(for: 0.001, scheduler: queue, latest: true)
      .delay(for: .seconds(0), scheduler: queue)
      .timeout(.seconds(60), scheduler: queue, customError: nil)
      .collect(.byTimeOrCount(queue, .milliseconds(1), 10))
      .flatMap { $0.publisher }
      .buffer(size: 4, prefetch: .byRequest, whenFull: .dropOldest)
      .breakpoint(receiveOutput: { _ in false })
      .eraseToAnyPublisher()
  }

  static func nested(_ ids: [Int], load: @escaping (Int) -> AnyPublisher<Article, SearchError>) -> AnyPublisher<
    [Article], SearchError
  > {
    ids.publisher
      .setFailureType(to: SearchError.self)
      .flatMap(maxPublishers: .max(2)) { id in load(id) }
      .collect()
      .map { $0.sorted { $0.id < $1.id } }
      .share()
      .eraseToAnyPublisher()
  }
}
