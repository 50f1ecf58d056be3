import Combine
import Foundation

// Code as it stands in apps for Apple's platforms, compiled here unchanged: as Swift 5 by one target, as Swift 6 by
// another. A screen that searches while one types.

struct Article: Codable, Equatable, Identifiable, Sendable {
  let id: Int
  let title: String
}

enum SearchError: Error, Equatable {
  case offline
  case server(Int)
}

protocol ArticleService {
  func articles(matching query: String) -> AnyPublisher<[Article], SearchError>
}

struct BundledArticleService: ArticleService {
  let articles: [Article]

  func articles(matching query: String) -> AnyPublisher<[Article], SearchError> {
    guard query != "offline" else { return Fail(error: SearchError.offline).eraseToAnyPublisher() }
    return Just(articles.filter { $0.title.lowercased().contains(query.lowercased()) })
      .setFailureType(to: SearchError.self)
      .eraseToAnyPublisher()
  }
}

@MainActor
final class SearchViewModel: ObservableObject {
  @Published var query = ""
  @Published private(set) var articles: [Article] = []
  @Published private(set) var message: String?
  @Published private(set) var isLoading = false

  let didSelect = PassthroughSubject<Article, Never>()

  private let service: ArticleService
  private var cancellables = Set<AnyCancellable>()

  init(service: ArticleService) {
    self.service = service

    $query
      .dropFirst()
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .removeDuplicates()
      .filter { !$0.isEmpty }
      .handleEvents(receiveOutput: { [weak self] _ in self?.isLoading = true })
      .map { query in
        service.articles(matching: query)
          .map { Result<[Article], SearchError>.success($0) }
          .catch { Just(Result<[Article], SearchError>.failure($0)) }
      }
      .switchToLatest()
      .sink { [weak self] result in
        guard let self = self else { return }
        self.isLoading = false
        switch result {
        case .success(let articles):
          self.articles = articles
          self.message = nil
        case .failure(let error):
          self.message = "\(error)"
        }
      }
      .store(in: &cancellables)

    $articles
      .combineLatest($message)
      .map { articles, message in message == nil && articles.isEmpty ? "Nothing found" : nil }
      .sink { [weak self] in self?.hint = $0 }
      .store(in: &cancellables)
  }

  private(set) var hint: String?

  var canClear: AnyPublisher<Bool, Never> {
    Publishers.CombineLatest($query, $isLoading)
      .map { !$0.isEmpty && !$1 }
      .removeDuplicates()
      .eraseToAnyPublisher()
  }

  func select(_ article: Article) {
    didSelect.send(article)
  }
}

// Its deinit touches what the main actor would guard, wherever that is the default.
nonisolated final class Settings: ObservableObject {
  @Published var isDark = false
  @Published var fontSize: Double = 12
  var onChange: (() -> Void)?

  private var bag: Set<AnyCancellable> = []

  init() {
    objectWillChange
      .sink { [unowned self] in self.onChange?() }
      .store(in: &bag)
  }

  deinit {
    bag.forEach { $0.cancel() }
  }
}

final class Form: ObservableObject {
  let objectWillChange = PassthroughSubject<Void, Never>()

  var name = "" { willSet { objectWillChange.send() } }
  @Published var isValid = false
  @Published var password = ""
  @Published var repeated = ""

  init() {
    Publishers.CombineLatest($password, $repeated)
      .map { $0.count >= 8 && $0 == $1 }
      .assign(to: &$isValid)
  }
}

class Label {
  var text = ""
  var isHidden = false
}

final class Controller {
  let label = Label()
  private var subscription: AnyCancellable?
  private var subscriptions = [AnyCancellable]()

  func bind(to form: Form) {
    subscription = form.$isValid
      .map { $0 ? "valid" : "invalid" }
      .assign(to: \.text, on: label)
    form.$isValid.map { !$0 }.assign(to: \.isHidden, on: label).store(in: &subscriptions)
  }

  func unbind() {
    subscription?.cancel()
    subscription = nil
    subscriptions.removeAll()
  }
}
