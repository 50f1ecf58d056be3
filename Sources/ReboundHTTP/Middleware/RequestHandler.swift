import Combine

/// Answers requests: all that is inside of a middleware, down to the network.
///
/// What the client's own middleware has for `next`. A request comes with its subscriber, so whoever passes it on makes no
/// publisher that waits to be subscribed to, nor hides the type of one.
@usableFromInline
struct RequestHandler: Sendable {
  /// Begins to answer a request.
  ///
  /// The subscriber gets a subscription, and what comes is for its demand.
  @usableFromInline let handle: @Sendable (HTTPRequest, AnswerSubscriber) -> Void

  init(_ handle: @escaping @Sendable (HTTPRequest, AnswerSubscriber) -> Void) {
    self.handle = handle
  }

  /// The answer to a request, for operators to stand around.
  @usableFromInline
  func callAsFunction(_ request: HTTPRequest) -> Answer { Answer(request: request, handler: self) }

  @usableFromInline
  struct Answer: Publisher {
    @usableFromInline typealias Output = HTTPResponse
    @usableFromInline typealias Failure = NetworkFailure

    @usableFromInline let request: HTTPRequest
    @usableFromInline let handler: RequestHandler

    @inlinable
    init(request: HTTPRequest, handler: RequestHandler) {
      (self.request, self.handler) = (request, handler)
    }

    @inlinable
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      handler.handle(request, AnswerSubscriber(hiding: subscriber))
    }
  }
}

/// Middleware that takes a request with its subscriber, as all of this module does.
protocol HandlingMiddleware: HTTPMiddleware {
  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler)
}

extension HandlingMiddleware {
  /// The answer as a publisher, for whoever has the middleware by itself.
  public func answer(
    _ request: HTTPRequest,
    next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
  ) -> HTTPAnswer {
    RequestHandler(self, next: RequestHandler { next($0).subscribe($1) })(request).eraseToAnyPublisher()
  }
}

extension RequestHandler {
  /// A middleware, with what is inside of it.
  init(_ middleware: any HTTPMiddleware, next: RequestHandler) {
    if let middleware = middleware as? any HandlingMiddleware {
      self.init { middleware.handle($0, for: $1, next: next) }
    } else {
      let answer = { @Sendable request in next(request).eraseToAnyPublisher() }
      self.init { middleware.answer($0, next: answer).subscribe($1) }
    }
  }

  /// Several, from the outside in.
  init(_ middleware: some Sequence<any HTTPMiddleware>, next: RequestHandler) {
    self = middleware.reversed().reduce(next) { RequestHandler($1, next: $0) }
  }
}
