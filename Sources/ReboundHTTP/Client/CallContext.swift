import Foundation
import Rebound
import StreamSupport

/// What all parts of one call share: what its request says about it, who watches, and what has failed so far.
final class CallContext: Sendable {
  /// `nil` for a request that no client has made.
  private let client: ClientSettings.Shared?
  /// Of a request that no client has made.
  private let ownTime: TimeSource?
  let id: String
  let identity: String?
  /// Whether the request names a service of its own that what the client adds for its own is not for.
  let leavesOrigin: Bool
  private let request: RequestParts
  private let start: Duration
  private let observe: (@Sendable (HTTPEvent) -> Void)?
  /// What events say of the call; `nil` while nobody watches.
  let watched: WatchedCall?
  private let failures = FailureHistory()
  /// The hedges of the call, which are attempts besides those that retries count.
  let hedges = Counter()
  let networkWaits = NetworkWaits()
  private let sideEffects = Locked(SideEffects())

  /// What servers have done before they led on, in whatever attempt.
  private struct SideEffects {
    var written: Set<URL> = []
    var last: RedirectChain?
  }

  /// - Parameter observe: Who watches.
  init(
    _ request: RequestParts,
    of client: ClientSettings.Shared,
    identity: String?,
    observe: (@Sendable (HTTPEvent) -> Void)?
  ) {
    self.client = client
    ownTime = nil
    id = client.settings.ids.next()
    self.observe = observe
    self.request = request
    self.identity = identity
    // Not by the name of the function alone: that would take a copy of all settings.
    leavesOrigin = request.baseURL.map { client.settings.isElsewhere($0) } ?? false
    start = observe == nil ? .zero : client.settings.time.now
    watched = observe == nil ? nil : WatchedCall(id, request.operation(), client.settings.redaction)
  }

  /// For a request that no client has made, and which nobody watches.
  init(_ request: RequestParts, id: String, identity: String?, time: TimeSource) {
    client = nil
    ownTime = time
    self.id = id
    self.identity = identity
    self.request = request
    leavesOrigin = false
    observe = nil
    watched = nil
    start = .zero
  }

  /// Another call of the same request for the same user, with an id and events of its own; this one, if no client has made it.
  var another: CallContext {
    client.map { CallContext(request, of: $0, identity: identity, observe: observe) } ?? self
  }

  /// What a failure says once the call is over: whoever makes it again draws another generated key.
  func ended(with failure: NetworkFailure) -> NetworkFailure {
    guard hasGeneratedKey, !request.method.isIdempotent, failure.call.isIdempotent else { return failure }
    var failure = failure
    failure.call.isIdempotent = false
    return failure
  }

  var operation: String { watched?.operation ?? request.operation() }
  var timeLimit: Duration? { request.deadline ?? client?.settings.deadline }
  var isIdempotent: Bool { request.isIdempotent }
  var hasGeneratedKey: Bool { request.idempotency == .generatedKey }
  var isAuthenticated: Bool { request.isAuthenticated && !leavesOrigin }
  var validStatuses: ClosedRange<Int> { request.validStatuses }
  var takesWebPages: Bool { request.takesWebPages }
  var errorParser: ErrorParser { request.errorParser }
  var validator: ResponseValidator? { request.validator }
  var time: TimeSource { client?.settings.time ?? ownTime ?? .current }
  var redaction: Redaction { client?.settings.redaction ?? .standard }

  /// Whether a header field goes along to another origin than it was made for.
  func carries(_ name: String) -> Bool {
    client?.settings.redirects.carriedHeaders.contains(name.lowercased()) ?? false
  }

  /// Whether an answer has a status that means success.
  func accepts(_ response: HTTPResponse) -> Bool { validStatuses.contains(response.status) }

  /// Whether anybody watches, for what is only made to be told.
  var isWatched: Bool { observe != nil }

  func tell(_ kind: @autoclosure () -> HTTPEvent.Kind) {
    guard let observe, let watched else { return }
    observe(HTTPEvent(elapsed: time.now - start, kind: kind(), call: watched))
  }

  /// Keeps the failure of an attempt, and tells what comes of it.
  func learn(_ event: RetryEvent) {
    if let failure = event.error as? NetworkFailure { keep(failure) }
    tell(.retry(event))
  }

  /// Keeps the failure of an attempt, for the failure of the call to tell of.
  func keep(_ failure: NetworkFailure) {
    var failure = failure
    // What was kept further inside is here already.
    if !failure.earlier.isEmpty { failure.earlier = [] }
    failures.append(failure)
  }

  /// A failure that was not kept, with those before it.
  func withEarlier(_ failure: NetworkFailure) -> NetworkFailure {
    let earlier = earlier
    guard !earlier.isEmpty else { return failure }
    var failure = failure
    failure.earlier = earlier
    return failure
  }

  /// The failure of the last attempt, which was kept, with those before it.
  func last(_ failure: NetworkFailure) -> NetworkFailure {
    var failure = failure
    failure.earlier = Array(earlier.dropLast())
    return failure
  }

  /// The failures that were kept, and the one after which it waits for a network now: a deadline may end that wait.
  var earlier: [NetworkFailure] { failures.all + (networkWaits.current.map { [$0] } ?? []) }

  /// Notes what servers have done before they led on: what ends the call may come from where nothing is known of it.
  func note(_ chain: RedirectChain) {
    guard chain.hasServerActed || !chain.written.isEmpty else { return }
    let before = sideEffects.withLock { effects in
      let before = effects.last
      effects.written.formUnion(chain.written)
      if chain.hasServerActed { effects.last = chain }
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// Where it has gone behind redirects with what is not safe, and what the answers to that name as changed.
  var written: Set<URL> { sideEffects.withLock { $0.written } }

  /// The last redirects behind which a server had done what the call asks for; `nil` if none has.
  var lastEffect: RedirectChain? { sideEffects.withLock { $0.last } }
}
