import Foundation
import Rebound

/// One hop after the other, as long as servers want the request elsewhere.
extension CallSubscription {
  /// Sends the first request of a way, which asks for what its destination is still without.
  ///
  /// - Parameter start: When the attempt began.
  func sendPrepared(_ request: HTTPRequest, startedAt start: Duration) {
    guard let destination = request.destination else { return send(request, startedAt: start) }
    destination.prepare(request.message) { [self] result in
      guard isRunning else { return }
      switch result {
      case .success(let message):
        var prepared = request
        prepared.message = message
        send(prepared, startedAt: start)
      case .failure(let error):
        end(with: request.failure(keeping: nil, error), request)
      }
    }
  }

  private func send(_ request: HTTPRequest, startedAt start: Duration) {
    // Copied once, if anything is changed at all.
    var adapted = request
    if let deadline = self.request.deadline { limit(&adapted.message, deadline) }
    if next != nil {
      adapted.change { hop in
        hop.attemptStart = start
        // Middleware sees the answer before this does, and its body need not come.
        hop.isFollowed = { [redirects = settings.redirects] in redirects.follow($0, after: request) }
      }
    }
    settings.adapters.adapt(&adapted)
    pass(SentRequest(adapted, of: request, startedAt: start))
  }

  /// Whether an answer with this head is followed by another request, so that its body need not come.
  func follows(_ head: ResponseHead, _ sent: SentRequest) -> Bool {
    part == .hop ? sent.request.isFollowed?(head) ?? false : settings.redirects.follow(head, after: sent.plain)
  }

  /// Leaves a message no more time than there is, as transport and server get to know it.
  private func limit(_ message: inout TransportRequest, _ deadline: Deadline) {
    let left = deadline.remaining
    // Whoever enforces a deadline from outside ends the exchange, and has an error of their own for it: the transport must not
    // be the first. Limits that the request itself has do not grow, however often it is sent.
    if !deadline.isEnforced { message.limits.total = request.message.limits.total.map { min($0, left) } ?? left }
    if let field = settings.deadlineHeader { message.headers[field] = left.grpcTimeout }
  }

  /// Sends the request where the answer to the last hop wants it.
  func follow(_ head: ResponseHead, after sent: SentRequest) {
    let hop = sent.plain
    if let destination = hop.destination, destination.use(of: head) == .startAnew {
      destination.startAnew()
      return sendPrepared(request, startedAt: sent.start)
    }
    let count = hop.redirects
    switch settings.redirects.step(after: hop.message, head, followed: count) {
    case .deliver:
      finish(.finished)
    case .tooMany:
      let failure = hop.failure(
        .transport(.tooManyRedirects),
        underlying: TransportFailure(.tooManyRedirects, redirects: count),
        duration: settings.time.now - sent.start
      )
      end(with: failure, hop)
    case .refuse(let refusal):
      let answer = response(head, Data(), to: sent)
      end(with: hop.failure(.redirectRefused, response: answer, underlying: refusal), hop)
    case .follow(let message):
      let answer = response(head, Data(), to: sent)
      let chain = RedirectChain(answer, to: hop.message, next: message, after: hop.redirection?.redirectChain)
      hop.call.note(chain)
      var following = hop
      following.change {
        $0.message = message
        $0.redirection = Redirection(
          count: count + 1,
          first: request.message,
          hasLeftOrigin: hop.hasLeftOrigin || Origin(message.url) != Origin(hop.message.url),
          redirectChain: chain
        )
        $0.askAboutCopy()
      }
      hop.tell(.redirected(status: head.status, to: message.url))
      send(following, startedAt: sent.start)
    }
  }
}

extension Duration {
  /// The time that is left as gRPC writes it (PROTOCOL-HTTP2): "2500m", of eight digits at most, so a longer one in seconds or
  /// hours.
  fileprivate var grpcTimeout: String {
    let most: Int64 = 99_999_999
    if inMilliseconds <= most { return "\(inMilliseconds)m" }
    let seconds = components.seconds
    return seconds <= most ? "\(seconds)S" : "\(Swift.min(seconds / 3_600, most))H"
  }
}

extension RedirectPolicy {
  /// Whether another request follows an answer: where a redirect leads, or anew for a body that has changed.
  fileprivate func follow(_ head: ResponseHead, after hop: HTTPRequest) -> Bool {
    if let destination = hop.destination, destination.use(of: head) == .startAnew { return true }
    guard concerns(status: head.status) else { return false }
    if case .deliver = step(after: hop.message, head, followed: hop.redirects) { return false }
    return true
  }
}

/// What has led a request to where it goes now.
final class Redirection: Sendable {
  /// How many redirects were followed.
  let count: Int
  /// What was asked for before any of them.
  let first: TransportRequest
  let hasLeftOrigin: Bool
  /// What it means for copies of the answer.
  let redirectChain: RedirectChain

  init(
    count: Int,
    first: TransportRequest,
    hasLeftOrigin: Bool,
    redirectChain: RedirectChain
  ) {
    self.count = count
    self.first = first
    self.hasLeftOrigin = hasLeftOrigin
    self.redirectChain = redirectChain
  }
}
