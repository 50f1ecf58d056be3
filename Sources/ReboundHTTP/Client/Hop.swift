import Foundation

/// What a hop sends.
///
/// A reference, by which what comes of one hop is told from what comes late of another.
final class SentRequest: Sendable {
  /// As it goes over the wire, or to the middleware inside.
  let request: HTTPRequest
  /// As it was before anything was added for this hop alone: of this a redirect makes the next one.
  let plain: HTTPRequest
  /// When the attempt began.
  let start: Duration
  /// How many bytes the body has, for whoever watches: a file is asked once, since it may grow while it is sent.
  let bodyLength: Int64?

  init(_ request: HTTPRequest, of plain: HTTPRequest? = nil, startedAt start: Duration) {
    (self.request, self.plain, self.start) = (request, plain ?? request, start)
    bodyLength = request.call.isWatched ? request.message.body.length : nil
  }
}

/// One hop under way, gathered to a whole answer, as a value: what happens goes in, what is to be done comes out.
///
/// After the end nothing comes out. It releases nothing before it is released itself, so it can stand under a lock.
struct Hop {
  /// What is to be done.
  enum Step {
    case tell(HTTPEvent.Kind)
    /// The head of an answer is there.
    case respond(ResponseHead)
    /// The request is wanted elsewhere. Nobody wants the body of a redirect, which may be endless.
    case follow(ResponseHead, stopping: (any TransportExchange)?)
    case handOn(Data, to: any BodyDestination)
    /// The network is through; now the destination has its time.
    case complete(any BodyDestination)
    /// As much of the answer is there as is wanted.
    case judge(ResponseHead?, Data, stopping: (any TransportExchange)?)
    case fail(TransportFailure)
  }

  let sent: SentRequest
  /// The head of an answer that wants the request elsewhere.
  private(set) var redirect: ResponseHead?
  private var isOver = false
  /// `nil` until the transport has returned it.
  private var exchange: (any TransportExchange)?
  private var head: ResponseHead?
  private var body = Data()
  /// Where the body goes, once it is known to be one that is wanted there.
  private var destination: (any BodyDestination)?

  init(_ sent: SentRequest) {
    self.sent = sent
  }

  /// Takes what the transport has returned; says whether it is to go on.
  mutating func begin(_ exchange: any TransportExchange) -> Bool {
    guard !isOver else { return false }
    self.exchange = exchange
    return true
  }

  /// - Parameter isFollowed: Whether it is a head that wants the request elsewhere.
  mutating func receive(_ event: TransportEvent, isFollowed: Bool) -> Step? {
    guard !isOver else { return nil }
    switch event {
    case .sent(let count):
      return .tell(.uploaded(count, of: sent.bodyLength))
    case .head(let head):
      guard isFollowed else {
        self.head = head
        return .respond(head)
      }
      isOver = true
      redirect = head
      return .follow(head, stopping: exchange)
    case .chunk(let chunk):
      return receive(chunk)
    case .finished:
      return destination.map { .complete($0) } ?? judge(stopping: nil)
    case .failed(let failure):
      isOver = true
      return .fail(failure)
    }
  }

  private mutating func receive(_ chunk: Data) -> Step? {
    if let destination { return .handOn(chunk, to: destination) }
    guard sent.request.destination == nil else {
      body += chunk.prefix(NetworkFailure.bodyLimit - body.count)
      // All of a refusal that is kept; the limits that a body may go beyond would let it go on.
      return body.count == NetworkFailure.bodyLimit ? judge(stopping: exchange) : nil
    }
    // Most answers come in one piece, which need not be copied.
    if body.isEmpty { body = chunk } else { body += chunk }
    guard sent.request.call.isWatched else { return nil }
    return .tell(.downloaded(Int64(body.count), of: head?.bodyLength))
  }

  private mutating func judge(stopping exchange: (any TransportExchange)?) -> Step {
    isOver = true
    let whole = body
    body = Data()
    return .judge(head, whole, stopping: exchange)
  }

  /// Takes the head of an answer that has come through middleware, and wants the request elsewhere.
  mutating func follow(_ head: ResponseHead) {
    redirect = head
  }

  /// Ends it, and hands out what is to be stopped and the head that has come; `nil` if it is over already.
  mutating func end() -> (exchange: (any TransportExchange)?, head: ResponseHead?)? {
    guard !isOver else { return nil }
    isOver = true
    return (exchange, head)
  }

  // MARK: A body that goes elsewhere

  mutating func handOn(to destination: any BodyDestination) {
    self.destination = destination
  }

  /// Whether more is to come; `nil` once it is over.
  var goesOn: Bool? { isOver ? nil : true }

  /// What is to be told to wait or to go on: nothing but a body that goes elsewhere waits for anybody.
  var paced: (any TransportExchange)? { isOver || destination == nil ? nil : exchange }

  /// Changes it in its place, also where there may be none.
  mutating func change<Result>(_ body: (inout Hop) -> Result?) -> Result? {
    body(&self)
  }
}
