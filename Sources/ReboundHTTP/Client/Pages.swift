import Combine
import Foundation
import Rebound
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
  /// - Failure: That of the first page that fails; the pages before it have arrived. All end with the `Deadline.current`
  ///   that the first is asked for under; the limit of a request is for its own page.
  /// - Threads: Where the executor delivers, for which `values` wait, too; ``pageSequence(of:next:)`` does not. Any number of
  ///   pages takes the same stack, also if they are there at once.
  public func pages<R: Request>(
    of first: R,
    next: @escaping @Sendable (R.Response) -> R?
  ) -> Pages<R> {
    Pages(first: first, next: next) { [self] in publisher(for: $0) }
  }

  /// The responses of a request and of all that follow it, one page after the other, for an asynchronous function.
  ///
  ///     let pages = client.pageSequence(of: Orders(cursor: nil)) { page in page.next.map { Orders(cursor: $0) } }
  ///     for try await page in pages { print(page) }
  ///
  /// - Parameters:
  ///   - first: The request for the first page.
  ///   - next: The request for the page behind a page; `nil` behind the last one.
  ///
  /// - Demand: A page is fetched when it is awaited, and not before.
  /// - Failure: That of the first page that fails; the pages before it have arrived. Each is asked for by ``value(of:)``, under
  ///   the `Deadline.current` of the loop; the limit of a request is for its own page.
  /// - Threads: As ``value(of:)``: a client waits for no queue.
  public func pageSequence<R: Request>(
    of first: R,
    next: @escaping @Sendable (R.Response) -> R?
  ) -> ResponseSequence<R.Response> {
    ResponseSequence { [self] in
      var due: R? = first
      return { () async throws(NetworkFailure) -> R.Response? in
        guard let request = due.take() else { return nil }
        let page = try await value(of: request)
        due = next(page)
        return page
      }
    }
  }
}

/// The responses of a request and of all that follow it.
///
/// Made by ``RequestExecutor/pages(of:next:)``.
public struct Pages<R: Request>: Publisher, Sendable {
  /// A page.
  public typealias Output = R.Response
  /// Why a page cannot be had.
  public typealias Failure = NetworkFailure

  let first: R
  let next: @Sendable (R.Response) -> R?
  let fetch: @Sendable (R) -> AnyPublisher<R.Response, NetworkFailure>

  /// Begins with the first page, for this subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let turner = PageTurner(self)
    Emitter(named: "Pages", to: subscriber)
      .begin(whenRequested: { emitter, _ in turner.turn(for: emitter) }, whenCancelled: turner.cancel)
  }
}

/// Fetches one page after the other, as they are requested.
private final class PageTurner<R: Request>: Sendable {
  private struct State {
    /// What to fetch once it is asked for; `nil` while a page is on its way, and behind the last.
    var due: R?
    /// Who fetches, and will see that another page is due.
    var loop = DrainLoop()
    var fetch: AnyCancellable?
  }

  private let recipe: Pages<R>
  /// What all pages run under: the next one may be fetched where the one before has come, on the thread of a transport.
  private let deadline: Deadline?
  private let state: Locked<State>

  init(_ recipe: Pages<R>) {
    (self.recipe, deadline) = (recipe, Deadline.current)
    state = Locked(State(due: recipe.first))
  }

  func cancel() {
    state.exchange(State()).fetch?.cancel()
  }

  func turn(for emitter: Emitter<R.Response, NetworkFailure>) {
    guard state.withLock({ $0.loop.enter() }) else { return }
    while let request = nextRequest(for: emitter) {
      var fetch: AnyCancellable? = Deadline.replaced(by: deadline?.nearer(Deadline.current) ?? Deadline.current) {
        recipe.fetch(request).sink { completion in
          if case .failure = completion { emitter.send(completion: completion) }
        } receiveValue: { [self] page in
          let following = recipe.next(page)
          emitter.send(page)
          guard let following else { return emitter.send(completion: .finished) }
          state.withLock { $0.due = following }
          turn(for: emitter)
        }
      }
      state.withLock { state in
        // A page that came at once has made the next one due already.
        if emitter.isActive, state.due == nil { swap(&fetch, &state.fetch) }
      }
      // The one before, which may not have ended behind its page, or this one if nobody waits for it: with the lock open, since
      // whoever hears of it may ask for more.
      fetch?.cancel()
    }
  }

  private func nextRequest(for emitter: Emitter<R.Response, NetworkFailure>) -> R? {
    state.withLock { state in
      // Looked at with the lock held, since who requests meanwhile leaves it to this thread.
      let isWanted = emitter.isActive && emitter.requested > .none
      return state.loop.next(isWanted ? state.due.take() : nil)
    }
  }
}
