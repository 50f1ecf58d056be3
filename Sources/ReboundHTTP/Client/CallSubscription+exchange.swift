import Combine
import Foundation
import Rebound

/// A hop over the transport.
extension CallSubscription {
  func begin(_ sent: SentRequest) {
    let request = sent.request
    // Whoever has changed it on the way: with a line break in a field, more fields would be sent than these.
    if let failure = request.invalidField { return fail(failure, sent) }
    if request.redirects == 0 { request.tell(.attemptBegan(request.attempt, request.message)) }
    var message = request.message
    if request.call.isWatched { message.wantsTimings = true }
    let exchange = settings.transport.start(message) { [self] event in receive(event, of: sent) }
    // Else it was over already, before the transport returned.
    if change(sent, { $0.begin(exchange) }) ?? false { keepPace(sent) } else { exchange.cancel() }
  }

  private func receive(_ event: TransportEvent, of sent: SentRequest) {
    var isFollowed = false
    // Asked before the lock: it parses addresses.
    if case .head(let head) = event { isFollowed = follows(head, sent) }
    switch change(sent, { $0.receive(event, isFollowed: isFollowed) }) {
    case .tell(let event):
      sent.request.tell(event)
    case .respond(let head):
      sent.request.tell(.responded(head))
      if let destination = sent.request.destination { handOn(head, to: destination, sent) }
    case .follow(let head, let exchange):
      exchange?.cancel()
      leave(for: head, sent)
    case .handOn(let chunk, let destination):
      destination.receive(chunk)
      // It may have failed by this piece, or its reader may have left.
      guard change(sent, { $0.goesOn }) != nil else { return }
      let progress = destination.progress
      sent.request.tell(.downloaded(progress.count, of: progress.total))
      keepPace(sent)
    case .complete(let destination):
      complete(destination, sent)
    case .judge(let head, let body, let exchange):
      exchange?.cancel()
      judge(head, body, sent)
    case .fail(let failure):
      fail(failure, sent)
    case nil:
      break
    }
  }

  // MARK: A body that goes elsewhere

  /// Begins to hand on the body, if it is one that is wanted.
  private func handOn(_ head: ResponseHead, to destination: any BodyDestination, _ sent: SentRequest) {
    let request = sent.request
    let answer = response(head, Data(), to: sent)
    guard destination.use(of: head) == .body, request.call.accepts(answer), !request.isPageInPlace(of: answer) else {
      return
    }
    change(sent) { $0.handOn(to: destination) }
    do {
      // Weak, both: the request keeps the destination, which keeps this.
      try destination.begin(head) { [weak self, weak sent] change in
        guard let self, let sent else { return }
        switch change {
        case .ready: self.change(sent) { $0.paced }?.resume()
        case .failed(let error): fail(keeping: error, sent)
        }
      }
    } catch {
      fail(keeping: error, sent)
    }
  }

  /// Lets the network wait while the destination is behind.
  private func keepPace(_ sent: SentRequest) {
    guard let destination = sent.request.destination, !destination.isReady, let exchange = change(sent, { $0.paced })
    else { return }
    // By the thread that brings more, so that no more comes before it, also where it was told already: a thread that lets the
    // network go on may be late.
    exchange.pause()
    // It may have caught up, and said so, before there was a pause.
    if destination.isReady { exchange.resume() }
  }

  private func complete(_ destination: any BodyDestination, _ sent: SentRequest) {
    destination.finish { [self] result in
      if case .failure(let error) = result { return fail(keeping: error, sent) }
      guard let (_, head) = change(sent, { $0.end() }), let head else { return }
      succeed(response(head, Data(), to: sent), sent)
    }
  }

  private func fail(keeping error: any Error, _ sent: SentRequest) {
    guard let (exchange, head) = change(sent, { $0.end() }) else { return }
    exchange?.cancel()
    let request = sent.request
    let answer = head.map { response($0, Data(), to: sent) }
    fail(request.failure(keeping: answer, error, duration: settings.time.now - sent.start), sent)
  }

  // MARK: The end of a hop

  private func leave(for redirect: ResponseHead, _ sent: SentRequest) {
    // Outside of the middleware that sees each hop, its attempt follows.
    if part == .hop { return answer(with: response(redirect, Data(), to: sent)) }
    look(at: redirect, sent)
    if leaveHop() != nil { follow(redirect, after: sent) }
  }

  private func judge(_ head: ResponseHead?, _ body: Data, _ sent: SentRequest) {
    guard let head else { return fail(TransportFailure(.protocol), sent) }
    let request = sent.request
    let response = response(head, body, to: sent)
    if let failure = request.rejection(of: response) { return fail(failure, sent) }
    if request.destination != nil {
      // A valid status whose body is none that was asked for.
      return fail(request.failure(.unexpectedContentType, response: response), sent)
    }
    succeed(response, sent)
  }

  func response(_ head: ResponseHead, _ body: Data, to sent: SentRequest) -> HTTPResponse {
    var response = HTTPResponse(
      head: head,
      body: body,
      receivedAt: HTTPDate(since1970: settings.time.wallClock),
      duration: settings.time.now - sent.start,
      attempt: sent.request.attempt
    )
    response.head.redirectChain = sent.request.redirection?.redirectChain
    return response
  }

  private func succeed(_ response: HTTPResponse, _ sent: SentRequest) {
    sent.request.tell(.attemptSucceeded(sent.request.attempt, response))
    look(at: response.head, sent)
    answer(with: response)
  }

  private func answer(with response: HTTPResponse) {
    _ = deliver(response)
    finish(.finished)
  }

  private func fail(_ failure: TransportFailure, _ sent: SentRequest) {
    let request = sent.request
    var failure = failure
    failure.redirects = request.redirects
    let duration = settings.time.now - sent.start
    fail(request.failure(.transport(failure.kind), underlying: failure, duration: duration), sent)
  }

  private func fail(_ failure: NetworkFailure, _ sent: SentRequest) {
    guard let destination = sent.request.destination else { return end(with: failure, sent) }
    // Whoever hears of it may go on at once with what has come.
    destination.interrupt { [self] in
      // Nobody wants to hear of it after a cancel.
      if change(sent, { _ in true }) ?? false { end(with: failure, sent) }
    }
  }

  private func end(with failure: NetworkFailure, _ sent: SentRequest) {
    sent.request.tell(.attemptFailed(sent.request.attempt, failure))
    if let head = failure.head { look(at: head, sent) }
    finish(.failure(failure))
  }

  /// Ends it because a hop cannot be sent.
  func end(with failure: NetworkFailure, _ hop: HTTPRequest) {
    hop.tell(.attemptFailed(hop.attempt, failure))
    finish(.failure(failure))
  }

  // MARK: What adapts requests

  /// Shows what has come to whoever has adapted the request.
  func look(at head: ResponseHead, _ sent: SentRequest) {
    guard part != .hop else { return }
    settings.adapters.look(head, sent.request)
  }
}
