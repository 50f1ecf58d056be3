import Combine
import Dispatch
import Foundation
import Rebound

/// Calls a service: sends requests over a transport, through middleware, and parses what comes back.
///
///     let client = WebAPIClient(
///       baseURL: service,
///       transport: transport,
///       middleware: [
///         Retrying(.http),
///         Caching(in: HTTPCache()),
///         Authenticating(with: session) { $0["Authorization"] = "Bearer \($1.accessToken)" },
///       ]
///     )
///     client.publisher(for: Forecast(city: "Rome"))
///       .sink { print($0) } receiveValue: { print($0) }
///
/// A client is a plain value; state that calls share (a cache, a session, a breaker) is in what is handed to its
/// middleware. What it publishes arrives on the main queue unless told otherwise; an `async` call waits for no queue, and
/// goes on where it was.
public struct WebAPIClient: RequestExecutor {
  /// The address of the service, for requests that name none.
  public var baseURL: URL? { shared.settings.baseURL }
  /// Sends and receives.
  public var transport: any Transport { shared.settings.transport }
  /// What stands between the client and the transport, from the outside in.
  public var middleware: [any HTTPMiddleware] { shared.settings.middleware }
  /// For one attempt of a request that names no limits.
  public var limits: TransportLimits {
    get { shared.settings.limits }
    set { settings.limits = newValue }
  }
  /// For all attempts of a request that names no deadline; `nil`, the default, means none.
  public var deadline: Duration? {
    get { shared.settings.deadline }
    set { settings.deadline = newValue }
  }
  /// The header field that tells the server how much time is left, in milliseconds as gRPC writes them ("2500m"), for
  /// calls with a deadline; none by default.
  ///
  /// A number of more than eight digits is none to gRPC: more than a day or so is told in seconds ("172800S"), and more than
  /// three years in hours.
  public var deadlineHeader: String? {
    get { shared.settings.deadlineHeader }
    set { settings.deadlineHeader = newValue }
  }
  /// Which redirects are followed; up to ten, by default.
  public var redirects: RedirectPolicy {
    get { shared.settings.redirects }
    set { settings.redirects = newValue }
  }
  /// Header fields for all requests; a request's own win.
  ///
  /// Besides, each call has an X-Request-ID of its own, the same for all attempts, to find it in the server's logs.
  ///
  /// To another origin than that of ``baseURL`` go those that a redirect would take along, unless it is one of
  /// ``trustedOrigins``.
  public var headers: HTTPHeaders {
    get { shared.settings.headers }
    set { settings.headers = newValue }
  }
  /// Services besides that of ``baseURL`` that get what this client adds for its own; none by default.
  ///
  ///     var client = WebAPIClient(baseURL: service, transport: transport)
  ///     client.trustedOrigins = [uploads]  // for requests whose baseURL has the scheme, host and port of this address
  ///
  /// A request whose ``Request/baseURL`` has another origin goes without the user's credential, keys, traces and header
  /// fields, but for those that a redirect would take along. A client without a ``baseURL`` has no service of its own, and
  /// adds all of them to each request.
  public var trustedOrigins: [URL] {
    get { shared.settings.trustedOrigins }
    set { settings.trustedOrigins = newValue }
  }
  /// What must not be seen in logs and failures.
  ///
  /// The names that keys of its ``APIKey`` middleware go by are always among it.
  public var redaction: Redaction {
    get { shared.settings.redaction }
    set { settings.redaction = newValue.hiding(keysOf: middleware) }
  }

  /// Waits and measures; its wall clock dates answers.
  public var time: TimeSource { shared.settings.time }
  var random: RandomSource { shared.settings.random }
  var delivery: (any Scheduler & Sendable)? { shared.settings.delivery }
  /// Who watches a call that begins now; `nil` if nobody does, so that nothing is built for it.
  @usableFromInline var observer: (@Sendable (HTTPEvent) -> Void)? {
    let observer = shared.settings.observer
    guard let lines = shared.settings.lines, lines.isRead else { return observer }
    return { event in
      observer?(event)
      lines.write(event)
    }
  }

  private(set) var shared: ClientSettings.Shared
  /// All middleware that a call goes through, made once for all calls.
  private var chain: RequestHandler

  var settings: ClientSettings {
    get { shared.settings }
    set {
      shared = ClientSettings.Shared(newValue)
      chain = WebAPIClient.chain(of: shared)
    }
  }

  /// Makes a client whose publishers deliver on the main queue.
  ///
  /// - Parameters:
  ///   - baseURL: The address of the service, for requests that name none.
  ///   - transport: Sends and receives.
  ///   - middleware: What stands in between; put in the order of its places.
  ///   - time: Waits and measures; its wall clock dates answers.
  ///   - random: Draws request ids, idempotency keys and boundaries.
  public init(
    baseURL: URL? = nil,
    transport: any Transport,
    middleware: [any HTTPMiddleware] = [],
    time: TimeSource = .current,
    random: RandomSource = .system
  ) {
    self.init(baseURL, transport, middleware, time, random, delivery: DispatchQueue.main)
  }

  /// Makes a client whose publishers deliver on a scheduler, or, without one, wherever the transport sends answers.
  ///
  /// - Parameters:
  ///   - baseURL: The address of the service, for requests that name none.
  ///   - transport: Sends and receives.
  ///   - middleware: What stands in between; put in the order of its places.
  ///   - scheduler: Where responses arrive; `nil` means wherever the transport, or the wait of a retry, sends them.
  ///   - time: Waits and measures; its wall clock dates answers.
  ///   - random: Draws request ids, idempotency keys and boundaries.
  public init(
    baseURL: URL? = nil,
    transport: any Transport,
    middleware: [any HTTPMiddleware] = [],
    deliveringOn scheduler: (any Scheduler & Sendable)?,
    time: TimeSource = .current,
    random: RandomSource = .system
  ) {
    self.init(baseURL, transport, middleware, time, random, delivery: scheduler)
  }

  private init(
    _ baseURL: URL?,
    _ transport: any Transport,
    _ middleware: [any HTTPMiddleware],
    _ time: TimeSource,
    _ random: RandomSource,
    delivery: (any Scheduler & Sendable)?
  ) {
    let aroundHops = WebAPIClient.inOrder(middleware.filter { $0.place > .redirects })
    let adapters = aroundHops.prefix { $0 is any RequestAdapter }
    let aroundAttempts = WebAPIClient.inOrder((middleware + [DeadlineLimit()]).filter { $0.place <= .redirects })
    shared = ClientSettings.Shared(
      ClientSettings(
        baseURL: baseURL,
        // What is wrong with it is said by each request that needs it.
        service: baseURL.flatMap { try? ServiceAddress($0) },
        transport: transport,
        middleware: WebAPIClient.inOrder(middleware),
        aroundAttempts: aroundAttempts,
        adapters: RequestAdapters(adapters.compactMap { $0 as? any RequestAdapter }),
        aroundHops: Array(aroundHops.dropFirst(adapters.count)),
        hasStages: middleware.count > adapters.count,
        delivery: delivery,
        time: time,
        random: random,
        ids: CallIDs(random),
        redaction: Redaction.standard.hiding(keysOf: middleware)
      )
    )
    chain = WebAPIClient.chain(of: shared)
  }

  /// The same client, watched by one more observer.
  ///
  /// The events of one attempt come in order. Attempts side by side, of ``Hedging``, tell from threads of their own, and one that
  /// has lost may still tell something behind the end of its call.
  ///
  /// - Parameter observer: Told what happens in each call, on whichever thread it happens, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (HTTPEvent) -> Void) -> WebAPIClient {
    changed(self) { $0.settings.observer = both($0.settings.observer, observer) }
  }

  /// The same client, which keeps apart what different users have asked for.
  ///
  /// - Parameter identity: Who asks now, for each call: a user's id, not a credential. Copies and requests under way of
  ///   one are not given to another.
  public func identifying(_ identity: @escaping @Sendable () -> String?) -> WebAPIClient {
    changed(self) { $0.settings.identity = identity }
  }

  // MARK: Calls

  /// The response of a request, or the failure to get one.
  ///
  /// The request is sent anew for each subscription, and also by `retry` and `repeat` downstream; `share()` sends it once for
  /// all who subscribe meanwhile.
  ///
  /// - Demand: Nothing is sent before a value is requested.
  /// - Failure: Everything that can go wrong, also with the making of the request. A cancel is no failure.
  /// - Threads: The main queue, or what the client was told.
  @inlinable
  public func publisher<R: Request>(for request: R) -> AnyPublisher<R.Response, NetworkFailure> {
    delivered(calls(for: request))
  }

  /// The response of a request, for an asynchronous function, which goes on where it was: it waits for no queue.
  public nonisolated(nonsending) func value<R: Request>(of request: R) async throws(NetworkFailure) -> R.Response {
    try await firstValue(from: calls(for: request), of: request.operation)
  }

  @inlinable
  func calls<R: Request>(for request: R) -> CallPublisher<R.Response> {
    CallPublisher { () throws(NetworkFailure) in
      let parser = request.parser
      return Call(try begin(RequestParts(request, parser), observer), parse: parser.parseAnswer)
    }
  }

  @inlinable
  func delivered<Output>(_ calls: CallPublisher<Output>) -> AnyPublisher<Output, NetworkFailure> {
    isDeliveringDirectly ? calls.eraseToAnyPublisher() : scheduled(calls)
  }

  @usableFromInline var isDeliveringDirectly: Bool { delivery == nil }

  /// Not for the caller's module: nothing of a hop from thread to thread is worth a copy for each type of response.
  @usableFromInline
  func scheduled<Calls: Publisher>(_ calls: Calls) -> AnyPublisher<Calls.Output, Calls.Failure> {
    guard let delivery else { return calls.eraseToAnyPublisher() }
    return received(calls, on: delivery)
  }

  private func received<Calls: Publisher>(
    _ calls: Calls,
    on scheduler: some Scheduler
  ) -> AnyPublisher<Calls.Output, Calls.Failure> {
    calls.receive(on: scheduler).eraseToAnyPublisher()
  }

  /// Prepares a call, or says why that cannot be done.
  @usableFromInline
  func begin(
    _ request: RequestParts,
    _ observer: (@Sendable (HTTPEvent) -> Void)?
  ) throws(NetworkFailure) -> CallSubscription {
    try begin(request, observer, into: nil)
  }

  /// Prepares a call whose answer's body goes elsewhere than into memory.
  func begin(
    _ request: RequestParts,
    _ observer: (@Sendable (HTTPEvent) -> Void)?,
    into destination: (any BodyDestination)?
  ) throws(NetworkFailure) -> CallSubscription {
    let context = context(for: request, observer)
    var http: HTTPRequest
    do {
      http = try prepare(request, limits: shared.settings.limits, context)
    } catch {
      let failure = unprepared(request, context, error)
      context.tell(.failed(failure))
      throw failure
    }
    if let destination {
      http.change {
        $0.destination = destination
        $0.cacheMode = .bypass
        if request.limits == nil { $0.message.limits.responseBytes = nil }
      }
    }
    context.tell(.began(http.message))
    return CallSubscription(http, of: shared, .call, through: middleware(for: http))
  }

  func observer(
    adding progress: (@Sendable (TransferProgress) -> Void)?
  ) -> (@Sendable (HTTPEvent) -> Void)? {
    guard let progress else { return observer }
    return { [observer] event in
      observer?(event)
      switch event.kind {
      case .uploaded(let count, let total): progress(.sent(count, of: total))
      case .downloaded(let count, let total): progress(.received(count, of: total))
      default: break
      }
    }
  }

  func context(for request: RequestParts, _ observer: (@Sendable (HTTPEvent) -> Void)?) -> CallContext {
    CallContext(request, of: shared, identity: shared.settings.identity?(), observe: observer)
  }

  /// The failure of a request that cannot be prepared.
  func unprepared(_ request: RequestParts, _ context: CallContext, _ error: InvalidRequest) -> NetworkFailure {
    let call = NetworkFailure.Call(operation: context.operation, method: request.method, requestID: context.id)
    return NetworkFailure(.invalidRequest, call: call, underlying: error)
  }

  func prepare(
    _ request: RequestParts,
    limits: TransportLimits,
    _ context: CallContext
  ) throws(InvalidRequest) -> HTTPRequest {
    var message = try request.message(
      base: shared.settings.baseURL,
      service: shared.settings.service,
      limits: limits,
      random: shared.settings.random
    )
    if !shared.settings.headers.isEmpty {
      var fields = shared.settings.headers
      if context.leavesOrigin { fields = HTTPHeaders(fields.filter { context.carries($0.name) }) }
      fields.set(message.headers)
      message.headers = fields
      if let field = fields.first(where: { !$0.isValid }) {
        throw InvalidRequest(operation: context.operation, reason: .header(field.name))
      }
    }
    if request.idempotency == .generatedKey {
      message.headers["Idempotency-Key"] = shared.settings.random.hexadecimal(digits: 32)
    }
    let id = "X-Request-ID"
    if !context.leavesOrigin || context.carries(id), !message.headers.contains(name: id) {
      message.headers.add(id, context.id)
    }
    // Here, where nobody else has it: to add it later takes a copy.
    message.wantsTimings = context.isWatched
    return HTTPRequest(message, cacheMode: request.cacheMode, call: context)
  }

  /// Those of one place keep the order that they were given in.
  private static func inOrder(_ middleware: [any HTTPMiddleware]) -> [any HTTPMiddleware] {
    MiddlewarePlace.allCases.flatMap { place in middleware.filter { $0.place == place } }
  }

  /// All middleware that a call goes through; `nil` where there is none that it could concern.
  private func middleware(for request: HTTPRequest) -> RequestHandler? {
    shared.settings.hasStages || request.timeLimit != nil || Deadline.current != nil ? chain : nil
  }

  private static func chain(of client: ClientSettings.Shared) -> RequestHandler {
    let around = client.settings.aroundHops
    let hops = around.isEmpty ? nil : RequestHandler(around, next: subscribing(.hop, of: client))
    return RequestHandler(client.settings.aroundAttempts, next: subscribing(.attempt, of: client, through: hops))
  }

  private static func subscribing(
    _ part: CallSubscription.Part,
    of client: ClientSettings.Shared,
    through next: RequestHandler? = nil
  ) -> RequestHandler {
    RequestHandler { CallSubscription($0, of: client, part, through: next).start($1) }
  }
}

extension WebAPIClient: CustomStringConvertible {
  /// What a request passes on its way, from the outside in; also what the client does itself.
  public var description: String {
    let names = MiddlewarePlace.allCases.flatMap { place in
      let given = middleware.filter { $0.place == place }.map(\.name)
      switch place {
      case .deadline: return given + [DeadlineLimit().name]
      case .redirects: return given + (redirects.limit > 0 ? ["Redirects(\(redirects.limit))"] : [])
      case .deadlineHeader: return (deadlineHeader.map { ["DeadlineHeader(\($0))"] } ?? []) + given
      default: return given
      }
    }
    return (names + ["\(type(of: transport))"]).joined(separator: " → ")
  }
}

/// A response with what is known about it.
@dynamicMemberLookup
public struct ParsedResponse<Value: Sendable>: Sendable {
  /// The response.
  public let value: Value
  /// What it was made of.
  public let answer: HTTPResponse

  /// Where it comes from: the server, or the cache, and then how old it is and why.
  public var source: ResponseSource { answer.source }

  /// The status, the header fields and so on.
  public subscript<Property>(dynamicMember keyPath: KeyPath<HTTPResponse, Property>) -> Property {
    answer[keyPath: keyPath]
  }
}

/// How far a transfer has come.
public enum TransferProgress: Hashable, Sendable {
  /// So many bytes of the body have been sent, of so many if that is known.
  case sent(Int64, of: Int64?)
  /// So many bytes of the answer have come, of so many if the server says so, and has not packed them.
  case received(Int64, of: Int64?)
}

extension RandomSource {
  /// Random digits for ids and keys.
  func hexadecimal(digits: Int) -> String {
    // A draw has 53 random bits. 13 digits are made of each, because the system's generator is a system call.
    var text: [UInt8] = []
    text.reserveCapacity(digits)
    while text.count < digits {
      var bits = UInt64(next() * 0x1p52)
      for _ in 0..<min(13, digits - text.count) {
        let digit = UInt8(truncatingIfNeeded: bits & 15)
        text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        bits >>= 4
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
