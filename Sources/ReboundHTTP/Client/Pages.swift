import Combine
import Foundation
import StreamSupport

extension RequestExecutor {
  /// The responses of a request and of all that follow it, one page after the other.
  ///
  ///     client.pages(of: Orders(cursor: nil)) { page in page.next.map { Orders(cursor: $0) } }
  ///
  /// - Parameters:
  ///   - first: The request for the first page.
  ///   - next: The request for the page behind a page; `nil` behind the last one.
  ///
  /// - Demand: A page is fetched when it is requested, and not before.
  /// - Failure: That of the first page that fails; the pages before it have arrived.
  /// - Threads: Where the executor delivers. Any number of pages takes the same stack, also if they are there at once.
  public func pages<R: Request>(
    of first: R,
    next: @escaping @Sendable (R.Response) -> R?
  ) -> Pages<R> {
    Pages(first: first, next: next) { [self] in publisher(for: $0) }
  }
}

/// The responses of a request and of all that follow it.
///
/// Made by ``RequestExecutor/pages(of:next:)``.
public struct Pages<R: Request>: Publisher {
  /// A page.
  public typealias Output = R.Response
  /// Why a page cannot be had.
  public typealias Failure = NetworkFailure

  let first: R
  let next: @Sendable (R.Response) -> R?
  let fetch: @Sendable (R) -> AnyPublisher<R.Response, NetworkFailure>

  /// Begins with the first page, for this subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    subscriber.receive(subscription: PageTurner(self, downstream: subscriber))
  }
}

/// Fetches one page after the other, as they are requested.
///
/// The lock guards all that changes; no foreign code runs under it.
private final class PageTurner<R: Request, Downstream: Subscriber>: Subscription, CustomStringConvertible
where Downstream.Input == R.Response, Downstream.Failure == NetworkFailure {
  private struct State {
    var downstream: Downstream?
    var owed = Subscribers.Demand.none
    /// What to fetch once it is asked for; `nil` while a page is on its way.
    var due: R?
    /// Whether some thread is in the loop that fetches, and will see that another page is due.
    var isLooping = false
    var subscription: AnyCancellable?
  }

  private let recipe: Pages<R>
  private let lock = Lock()
  private var state: State

  init(_ recipe: Pages<R>, downstream: Downstream) {
    self.recipe = recipe
    state = State(downstream: downstream, due: recipe.first)
  }

  var description: String { "Pages" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.withLock { state.owed += demand }
    fetchWhileDue()
  }

  func cancel() {
    let (downstream, subscription) = end()
    subscription?.cancel()
    withExtendedLifetime(downstream) {}
  }

  private func fetchWhileDue() {
    while let request = nextRequest() {
      let subscription = recipe.fetch(request).sink { [self] completion in
        if case .failure(let failure) = completion { end().downstream?.receive(completion: .failure(failure)) }
      } receiveValue: { [self] page in
        receive(page)
      }
      let isOver = lock.withLock {
        state.isLooping = false
        guard state.downstream != nil else { return true }
        // A page that came at once has made the next one due already.
        if state.due == nil { state.subscription = subscription }
        return false
      }
      if isOver { subscription.cancel() }
    }
  }

  private func nextRequest() -> R? {
    lock.withLock {
      guard let due = state.due, state.owed > .none, !state.isLooping, state.downstream != nil else { return nil }
      state.due = nil
      state.isLooping = true
      return due
    }
  }

  private func receive(_ page: R.Response) {
    let downstream: Downstream? = lock.withLock {
      state.owed -= 1
      return state.downstream
    }
    guard let downstream else { return }
    let following = recipe.next(page)
    let more = downstream.receive(page)
    guard let following else { return finish() }
    lock.withLock {
      state.owed += more
      state.due = following
    }
    fetchWhileDue()
  }

  private func finish() {
    end().downstream?.receive(completion: .finished)
  }

  private func end() -> (downstream: Downstream?, subscription: AnyCancellable?) {
    lock.withLock {
      let rest = (state.downstream, state.subscription)
      state.downstream = nil
      state.subscription = nil
      state.due = nil
      return rest
    }
  }
}
