import Combine
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// What apps do between the network, the disk and the screen.

final class SessionStore {
  enum State: Equatable {
    case signedOut
    case signedIn(user: String)
  }

  private let state = CurrentValueSubject<State, Never>(.signedOut)
  private let errors = PassthroughSubject<Error, Never>()
  private var cancellables = Set<AnyCancellable>()

  var current: State { state.value }
  var publisher: AnyPublisher<State, Never> { state.eraseToAnyPublisher() }
  var errorPublisher: AnyPublisher<Error, Never> { errors.eraseToAnyPublisher() }

  func signIn(with request: AnyPublisher<String, Error>) {
    request
      .map(State.signedIn)
      .sink(
        receiveCompletion: { [errors] completion in
          if case .failure(let error) = completion { errors.send(error) }
        },
        receiveValue: { [weak self] in self?.state.send($0) }
      )
      .store(in: &cancellables)
  }

  func signOut() {
    state.value = .signedOut
  }
}

struct API {
  let session: URLSession
  let decoder = JSONDecoder()

  func article(at url: URL) -> AnyPublisher<Article, Error> {
    session.dataTaskPublisher(for: url)
      .tryMap { data, response -> Data in
        guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
          throw URLError(.badServerResponse)
        }
        return data
      }
      .decode(type: Article.self, decoder: decoder)
      .retry(1)
      .receive(on: DispatchQueue.main)
      .eraseToAnyPublisher()
  }

  func data(for request: URLRequest) -> AnyPublisher<Data, URLError> {
    session.dataTaskPublisher(for: request).map(\.data).eraseToAnyPublisher()
  }
}

extension Notification.Name {
  static let didSignIn = Notification.Name("didSignIn")
}

final class Watcher {
  private(set) var names: [String] = []
  private(set) var ticks = 0
  private var bag = Set<AnyCancellable>()

  func watch(_ center: NotificationCenter) {
    center.publisher(for: .didSignIn)
      .compactMap { $0.userInfo?["name"] as? String }
      .sink { [weak self] in self?.names.append($0) }
      .store(in: &bag)
  }

  func tick() -> AnyCancellable {
    Timer.publish(every: 60, on: .main, in: .common)
      .autoconnect()
      .scan(0) { count, _ in count + 1 }
      .sink { [weak self] in self?.ticks = $0 }
  }

  func poll(_ load: @escaping () -> AnyPublisher<Int, Never>, every interval: TimeInterval) -> AnyPublisher<Int, Never>
  {
    Timer.publish(every: interval, tolerance: 0.1, on: RunLoop.main, in: .default)
      .autoconnect()
      .prepend(Date())
      .flatMap(maxPublishers: .max(1)) { _ in load() }
      .multicast { PassthroughSubject<Int, Never>() }
      .autoconnect()
      .eraseToAnyPublisher()
  }
}

/// Closures that capture what is not safe to share: allowed, since operators make no promise about threads.
final class Ledgerbook {
  private var lines: [String] = []
  private var total = 0

  func record(_ amounts: AnyPublisher<Int, Never>) -> AnyCancellable {
    amounts
      .map { amount -> (Int, Int) in
        self.total += amount
        return (amount, self.total)
      }
      .handleEvents(receiveCompletion: { _ in self.lines.append("end") })
      .sink { amount, total in self.lines.append("\(amount) makes \(total)") }
  }

  var text: String { lines.joined(separator: ", ") }
}

@globalActor
actor Disk {
  static let shared = Disk()
}

@Disk
final class Cache {
  private var values: [String: Int] = [:]
  private let changes = PassthroughSubject<String, Never>()
  private var subscriptions: Set<AnyCancellable> = []

  func store(_ value: Int, for key: String) {
    values[key] = value
    changes.send(key)
  }

  func countChanges() -> () -> Int {
    var count = 0
    changes.sink { _ in count += 1 }.store(in: &subscriptions)
    return { count }
  }
}

actor Inbox {
  private var messages: [String] = []
  private var subscriptions = Set<AnyCancellable>()

  var all: [String] { messages }

  func append(_ message: String) { messages.append(message) }

  func read(from publisher: AnyPublisher<String, Never>) async {
    for await message in publisher.values { append(message) }
  }
}

#if swift(>=6)
  /// Keeps a promise on another thread.
  func loadInBackground(_ value: Int) -> Future<Int, Never> {
    Future { promise in
      // Unsafe, because promises may be kept on any thread; Swift 6 has to be told.
      nonisolated(unsafe) let promise = promise
      DispatchQueue.global().async { promise(.success(value)) }
    }
  }
#else
  func loadInBackground(_ value: Int) -> Future<Int, Never> {
    Future { promise in
      DispatchQueue.global().async { promise(.success(value)) }
    }
  }
#endif

func loadAtOnce(_ value: Int?) -> AnyPublisher<Int, SearchError> {
  Deferred {
    Future<Int, SearchError> { promise in
      if let value = value { promise(.success(value)) } else { promise(.failure(.offline)) }
    }
  }
  .eraseToAnyPublisher()
}
