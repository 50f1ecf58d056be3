import Foundation
import Rebound

/// One hop after the other, as long as servers want the request elsewhere.
extension CallSubscription {
  /// Sends the first request of a way, which asks for what its destination is still without.
  ///
  /// - Parameter start: When the attempt began.
  func sendPrepared(_ request: HTTPRequest, startedAt start: Duration) {
    var prepared = request
    do {
      if let destination = request.destination { try destination.prepare(&prepared.message) }
    } catch {
      return end(with: request.failure(keeping: nil, error), request)
    }
    send(prepared, startedAt: start)
  }

  private func send(_ request: HTTPRequest, startedAt start: Duration) {
    var request = request
    request.change { hop in
      hop.start = start
      if let deadline = self.request.deadline { limit(&hop.message, deadline) }
      let redirects = settings.redirects
      guard redirects.limit > 0 || hop.destination != nil else { return }
      let count = hop.redirection?.count ?? 0
      hop.isFollowed = { [message = hop.message, destination = hop.destination] head in
        if destination?.use(of: head) == .startAnew { return true }
        if case .deliver = redirects.step(after: message, head, followed: count) { return false }
        return true
      }
    }
    pass(SentRequest(request))
  }

  /// Leaves a message no more time than there is, as transport and server get to know it.
  private func limit(_ message: inout TransportRequest, _ deadline: Deadline) {
    let left = deadline.remaining
    // Limits that the request itself has do not grow, however often it is sent.
    message.limits.total = request.message.limits.total.map { min($0, left) } ?? left
    if let field = settings.deadlineHeader { message.headers[field] = "\(Int64(left.inSeconds * 1_000))m" }
  }

  /// Sends the request where the answer to the last hop wants it.
  func follow(_ head: ResponseHead, after hop: HTTPRequest) {
    if let destination = hop.destination, destination.use(of: head) == .startAnew {
      destination.startAnew()
      return sendPrepared(request, startedAt: hop.start)
    }
    let count = hop.redirects
    switch settings.redirects.step(after: hop.message, head, followed: count) {
    case .deliver:
      finish(.finished)
    case .tooMany:
      let failure = hop.failure(
        .transport(.tooManyRedirects),
        underlying: TransportFailure(.tooManyRedirects, redirects: count),
        duration: settings.time.now - hop.start
      )
      end(with: failure, hop)
    case .refuse(let refusal):
      let answer = response(head, Data(), to: hop)
      end(with: hop.failure(.redirectRefused, response: answer, underlying: refusal), hop)
    case .follow(let message):
      var following = hop
      following.change {
        $0.message = message
        $0.redirection = Redirection(
          count: count + 1,
          first: request.message,
          hasLeftOrigin: hop.hasLeftOrigin || Origin(message.url) != Origin(hop.message.url),
          carriedHeaders: settings.redirects.carriedHeaders
        )
      }
      hop.tell(.redirected(status: head.status, to: message.url))
      send(following, startedAt: hop.start)
    }
  }
}

/// What has led a request to where it goes now.
final class Redirection: Sendable {
  /// How many redirects were followed.
  let count: Int
  /// What was asked for before any of them.
  let first: TransportRequest
  let hasLeftOrigin: Bool
  /// The fields that go along to another origin.
  let carriedHeaders: Set<String>

  init(count: Int, first: TransportRequest, hasLeftOrigin: Bool, carriedHeaders: Set<String>) {
    self.count = count
    self.first = first
    self.hasLeftOrigin = hasLeftOrigin
    self.carriedHeaders = carriedHeaders
  }
}
