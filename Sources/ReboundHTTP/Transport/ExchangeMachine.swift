import Foundation

/// The rules that every transport keeps for one exchange, as a value: what happened goes in, what to tell comes out.
///
/// It knows the order of events, adds up progress, and says when a limit has passed. After the end nothing comes out.
struct ExchangeMachine {
  /// What follows from looking at the clock.
  enum TimeCheck: Hashable {
    /// Look again at that time, or never.
    case again(at: Duration?)
    /// A limit has passed.
    case expired(TransportFailure.TimeoutPhase)
  }

  private enum Phase {
    case connecting
    case waitingForHead
    case readingBody
    case over
  }

  private let limits: TransportLimits
  private let knowsConnection: Bool
  private let start: Duration
  private var phase = Phase.connecting
  private var lastSign: Duration
  private var isPaused = false
  private var bytesSent: Int64 = 0
  private var bytesReceived: Int64 = 0

  /// - Parameter knowsConnection: Whether it is told when a connection stands.
  init(limits: TransportLimits, knowsConnection: Bool = true, start: Duration) {
    self.limits = limits
    self.knowsConnection = knowsConnection
    self.start = start
    lastSign = start
  }

  var isOver: Bool { phase == .over }

  /// The connection stands.
  mutating func connected(at now: Duration) {
    lastSign = now
    if phase == .connecting { phase = .waitingForHead }
  }

  /// Something moved that is not worth telling.
  mutating func stirred(at now: Duration) {
    lastSign = now
  }

  /// So many bytes of the body have been sent so far.
  mutating func sent(_ total: Int64, at now: Duration) -> TransportEvent? {
    guard phase != .over, total > bytesSent else { return nil }
    connected(at: now)
    bytesSent = total
    return .sent(total)
  }

  /// The request is on its way; at least its head counts as sent, whatever the transport counts.
  mutating func receive(_ head: ResponseHead, at now: Duration) -> TransportEvent? {
    guard phase == .connecting || phase == .waitingForHead else { return nil }
    lastSign = now
    guard head.hasSoundLength else {
      return fail(TransportFailure(.protocol, detail: "Content-Length is no number, or more than one"))
    }
    phase = .readingBody
    return .head(head)
  }

  /// A part of the body has come.
  mutating func receive(_ chunk: Data, at now: Duration) -> TransportEvent? {
    guard phase == .readingBody, !chunk.isEmpty else { return nil }
    lastSign = now
    bytesReceived += Int64(chunk.count)
    if let limit = limits.responseBytes, bytesReceived > limit {
      return fail(TransportFailure(.tooLarge, responseLimit: limit))
    }
    return .chunk(chunk)
  }

  /// The transport says that this was all.
  mutating func finish() -> TransportEvent? {
    // Some say so when the connection ended within the head.
    guard phase == .readingBody else { return fail(TransportFailure(.reset)) }
    phase = .over
    return .finished
  }

  /// The transport gives up.
  mutating func fail(_ failure: TransportFailure) -> TransportEvent? {
    guard phase != .over else { return nil }
    var failure = failure
    failure.bytesSent = bytesSent
    failure.bytesReceived = bytesReceived
    if failure.isUnsent == nil, knowsConnection { failure.isUnsent = phase == .connecting }
    // Who answers has looked at it.
    if phase == .readingBody { failure.isUnprocessed = false }
    // Whether a connection was closed or broken off is not told on every platform; how far the answer had come, is.
    if failure.kind == .reset || failure.kind == .truncated {
      failure.kind = phase == .readingBody ? .truncated : .reset
    }
    phase = .over
    return .failed(failure)
  }

  /// The receiver wants no more.
  mutating func cancel() {
    phase = .over
  }

  mutating func pause() {
    isPaused = true
  }

  mutating func resume(at now: Duration) {
    // The pause was the receiver's own doing, so the wait begins anew.
    if isPaused { lastSign = now }
    isPaused = false
  }

  /// Whether a limit has passed, and if not, when the next one may.
  func check(at now: Duration) -> TimeCheck {
    guard phase != .over else { return .again(at: nil) }
    var nearest: (phase: TransportFailure.TimeoutPhase, due: Duration)?
    func add(_ phase: TransportFailure.TimeoutPhase, _ limit: Duration?, since start: Duration) {
      guard let limit else { return }
      let due = start + limit
      if let nearest, nearest.due <= due { return }
      nearest = (phase, due)
    }
    add(.total, limits.total, since: start)
    if knowsConnection, phase == .connecting { add(.connect, limits.connect, since: start) }
    if !isPaused { add(.idle, limits.idle, since: lastSign) }
    guard let nearest else { return .again(at: nil) }
    return nearest.due <= now ? .expired(nearest.phase) : .again(at: nearest.due)
  }
}

extension ResponseHead {
  /// Whether its Content-Length, if it has one, is one number that can be counted to (RFC 9112 §6.3): where two readers of
  /// an answer can take it to end in two places, one of them takes the next answer for a part of this one.
  ///
  /// The same number may be there more than once.
  fileprivate var hasSoundLength: Bool {
    var length: Substring.UTF8View?
    var place = headers.firstIndex(of: "Content-Length")
    // Nearly always it is there once, and one plain number.
    if let first = place, headers[first].value.isShortNumber {
      place = headers.firstIndex(of: "Content-Length", from: first + 1)
      guard place != nil else { return true }
      length = Substring(headers[first].value).utf8
    }
    while let found = place {
      for part in headers[found].value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let number = part.trimmingSpaces
        guard number.isNumber, length.map({ $0.elementsEqual(number) }) ?? true else { return false }
        length = number
      }
      place = headers.firstIndex(of: "Content-Length", from: found + 1)
    }
    return true
  }
}

extension String {
  /// Whether it is a few digits alone, no more than can be counted to.
  fileprivate var isShortNumber: Bool {
    (1...18).contains(utf8.count)
      && utf8.withContiguousStorageIfAvailable { $0.allSatisfy { (0x30...0x39).contains($0) } } ?? false
  }
}

extension Substring.UTF8View {
  /// Without the spaces and tabs around it (RFC 9110 §5.6.3).
  fileprivate var trimmingSpaces: Self {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    var rest = self.drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    return rest
  }

  /// Whether it is digits alone, and a number that can be counted to.
  fileprivate var isNumber: Bool {
    allSatisfy { (0x30...0x39).contains($0) } && Int64(Substring(self)) != nil
  }
}
