import Combine

/// Middleware that changes a request right before it is sent, and looks at the head of what comes back: nothing else.
///
/// The client asks it itself, for each request that goes over the wire, so it needs neither a publisher nor a subscription.
protocol RequestAdapter: HandlingMiddleware {
  func adapt(_ request: inout HTTPRequest)

  /// Looks at the head of an answer, also of one that is refused or that leads elsewhere.
  ///
  /// - Parameter request: As it was sent.
  func look(at head: ResponseHead, of request: HTTPRequest)
}

extension RequestAdapter {
  func look(at head: ResponseHead, of request: HTTPRequest) {}

  /// Where other middleware stands outside of it that the client can only pass the request to.
  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    var adapted = request
    adapt(&adapted)
    next(adapted)
      .handleEvents(
        receiveOutput: { [adapted] in look(at: $0.head, of: adapted) },
        receiveCompletion: { [adapted] in
          if case .failure(let failure) = $0, let head = failure.head { look(at: head, of: adapted) }
        }
      )
      .subscribe(subscriber)
  }
}

/// Several, from the outside in, as functions: to go through a list of them copies each.
struct RequestAdapters: Sendable {
  private(set) var adapt: @Sendable (inout HTTPRequest) -> Void = { _ in }
  private(set) var look: @Sendable (ResponseHead, HTTPRequest) -> Void = { _, _ in }

  init(_ adapters: [any RequestAdapter]) {
    for adapter in adapters {
      adapt = { [outer = adapt] request in
        outer(&request)
        adapter.adapt(&request)
      }
      look = { [outer = look] head, request in
        outer(head, request)
        adapter.look(at: head, of: request)
      }
    }
  }
}
