import Foundation
import Rebound

/// What is asked about a copy: whether what answered then has another answer by now.
struct CopyQuestion: Hashable, Sendable {
  /// Where the copy came from.
  let url: URL
  /// What tells it from others of the same address.
  let etag: String?
  let lastModified: String?
}

/// Shows nothing: the address may be signed.
extension CopyQuestion: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}

/// An answer that was kept, and what is known about how long it is good.
struct CachedCopy: Sendable {
  /// What redirects have to do with it.
  struct Reach: Sendable {
    /// Where they led, one after the other, as whoever writes there knows it: middleware may send more than that.
    let way: [URL]
    /// How old the copy may be before they are to be followed anew.
    let age: Duration
  }

  /// Heuristic lifetimes are a tenth of the time since the last change (RFC 9111 §4.2.2), and a day at most.
  private static let longestGuess = Duration.seconds(86_400)
  /// Without any of these an answer has no lifetime, and cannot be asked about.
  private static let grounds = ["Cache-Control", "ETag", "Last-Modified", "Expires"]
  /// What belongs to a message on its way and not to the copy (RFC 9111 §3.2).
  private static let unchangedBy304 = ["Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection"]

  private(set) var head: ResponseHead
  let body: Data
  /// The header fields of the request that the answer depends on, as they were.
  let variant: [HTTPHeaders.Field]
  private var control: CacheControl
  private var lifetime: Duration
  /// How old it was when it came.
  private var initialAge: Duration
  /// When it came, in the client's time.
  private var arrival: Duration
  private(set) var receivedAt: HTTPDate
  /// `nil` if no redirect led to it.
  private(set) var reach: Reach?
  /// Whether the server still lets it be kept.
  private(set) var mayBeKept = true

  /// Makes a copy of an answer; `nil` if it may not be kept.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - message: What was asked; looked at where it matters.
  ///   - now: The client's time.
  ///   - fallback: How long it may stand in when the service fails, where the server says nothing about that.
  init?(
    _ response: HTTPResponse,
    to message: @autoclosure () -> TransportRequest,
    now: Duration,
    unlessSaid fallback: Duration = .zero
  ) {
    // Most that is answered says nothing about its keeping, and is looked at no further.
    guard CachedCopy.grounds.contains(where: { response.head.headers.contains(name: $0) }) else { return nil }
    let control = CacheControl(response.head.headers)
    let vary = response.head.headers.members(of: "Vary") + (response.head.redirectChain?.vary ?? [])
    guard
      [200, 203, 204].contains(response.status), CachedCopy.mayBeKept(response, control),
      // What is no name of a field depends on something that nobody knows, as a star does.
      vary.allSatisfy({ HTTPHeaders.Field($0, "").isValid && $0 != "*" })
    else { return nil }
    head = response.head
    // It says how this answer came; of the copy ``reach`` says it.
    head.redirectChain = nil
    // Nothing of it took that long for whoever gets the copy.
    head.timings = nil
    body = response.body
    let asked = vary.isEmpty ? [:] : message().headers
    variant = vary.map { HTTPHeaders.Field($0, asked[$0] ?? "") }
    self.control = control
    lifetime = CachedCopy.lifetime(response, control)
    initialAge = CachedCopy.initialAge(response)
    arrival = now
    receivedAt = response.receivedAt
    reach = Reach(response)
    // A copy that can neither be used nor be asked about is of no use.
    let isOfUse =
      lifetime > .zero || hasValidator || control.has("stale-if-error") || control.has("stale-while-revalidate")
      || (fallback > .zero && mayBeStale)
    if !isOfUse { return nil }
  }

  /// Makes a copy of one that was kept elsewhere.
  ///
  /// - Parameters:
  ///   - head: The answer's, as far as the cache goes by it.
  ///   - body: The answer's.
  ///   - variant: The header fields of the request that it depends on.
  ///   - age: How old it is.
  ///   - now: The client's time.
  ///   - receivedAt: When it came from the network.
  ///   - reach: What redirects have to do with it.
  init(
    head: ResponseHead,
    body: Data,
    variant: [HTTPHeaders.Field],
    age: Duration,
    now: Duration,
    receivedAt: HTTPDate,
    reach: Reach?
  ) {
    (self.head, self.body, self.variant, self.reach) = (head, body, variant, reach)
    control = CacheControl(head.headers)
    lifetime = CachedCopy.lifetime(HTTPResponse(head: head, receivedAt: receivedAt), control)
    (initialAge, arrival, self.receivedAt) = (age, now, receivedAt)
  }

  /// Whether it is an answer to this request, too.
  func answers(_ message: TransportRequest) -> Bool {
    variant.allSatisfy { ($0.value) == (message.headers[$0.name] ?? "") }
  }

  /// Whether what was asked for is such an address, or one to which redirects have led from there: who writes to any of them
  /// makes the copy void.
  func isOf(_ key: HTTPCache.Key, _ isMeant: (String) -> Bool) -> Bool {
    isMeant(key.url) || way.contains { isMeant($0.canonical) }
  }

  /// Where redirects have led.
  var way: [URL] { reach?.way ?? [] }

  func age(now: Duration) -> Duration { initialAge + max(now - arrival, .zero) }

  /// Whether it may be used without asking.
  func isFresh(now: Duration) -> Bool { !control.has("no-cache") && age(now: now) < withinReach(lifetime) }

  /// An age, or that by which redirects may lead elsewhere, if that comes before.
  private func withinReach(_ age: Duration) -> Duration { reach.map { min(age, $0.age) } ?? age }

  /// Whether it may be used while it is being renewed (RFC 5861 §3).
  func mayBeRenewedLater(now: Duration) -> Bool {
    guard let window = control.seconds("stale-while-revalidate"), mayBeStale else { return false }
    return age(now: now) < withinReach(lifetime + window)
  }

  /// Whether it may be used because the service fails (RFC 5861 §4).
  ///
  /// - Parameter fallback: For servers that say nothing about it.
  func mayStandIn(now: Duration, unlessSaid fallback: Duration) -> Bool {
    guard mayBeStale else { return false }
    return age(now: now) < withinReach(lifetime) + (control.seconds("stale-if-error") ?? fallback)
  }

  private var mayBeStale: Bool { !control.has("must-revalidate") && !control.has("no-cache") }

  private var hasValidator: Bool { validator("ETag") != nil || validator("Last-Modified") != nil }

  /// What tells it from others; `nil` if it says nothing of it that could be sent back.
  private func validator(_ name: String) -> String? {
    head.headers[name].flatMap { HTTPHeaders.Field(name, $0).isValid ? $0 : nil }
  }

  /// The request that asks whether it is still good; `nil` if that cannot be asked.
  func question(_ request: HTTPRequest) -> HTTPRequest? {
    guard hasValidator else { return nil }
    let question = CopyQuestion(
      url: way.last ?? request.message.url,
      etag: validator("ETag"),
      lastModified: validator("Last-Modified")
    )
    var request = request
    request.change { parts in
      parts.question = question
      parts.askAboutCopy()
    }
    return request
  }

  /// Whether an answer that says that a copy is still good means this one: not if it names another (RFC 9111 §4.3.4).
  func isMeant(by answer: HTTPResponse) -> Bool {
    guard let own = head.headers["ETag"], let said = answer.head.headers["ETag"] else { return true }
    // A weak comparison, as If-None-Match asks for (RFC 9110 §8.8.3.2, §13.1.2).
    let tags = [own, said].map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 }
    return tags[0] == tags[1]
  }

  /// The copy after the server has said that it is still good.
  func refreshed(by answer: HTTPResponse, now: Duration) -> CachedCopy {
    var copy = self
    let news = answer.head.headers.filter { field in
      !CachedCopy.unchangedBy304.contains { HTTPHeaders.equal($0, field.name) }
    }
    copy.head.headers.set(HTTPHeaders(news))
    let whole = HTTPResponse(head: copy.head, receivedAt: answer.receivedAt, duration: answer.duration)
    copy.control = CacheControl(copy.head.headers)
    copy.lifetime = CachedCopy.lifetime(whole, copy.control)
    copy.initialAge = CachedCopy.initialAge(answer)
    copy.arrival = now
    copy.receivedAt = answer.receivedAt
    copy.reach = Reach(answer)
    copy.mayBeKept = CachedCopy.mayBeKept(answer, copy.control)
    return copy
  }

  /// The copy as an answer.
  func response(_ use: CacheUse, now: Duration) -> HTTPResponse {
    HTTPResponse(head: head, body: body, source: .cache(age: age(now: now), use), receivedAt: receivedAt)
  }

  /// How many bytes it takes, roughly.
  var cost: Int {
    head.headers.reduce(body.count + 512) { $0 + $1.name.utf8.count + $1.value.utf8.count }
  }

  /// Whether neither an answer nor a redirect that led to it forbids to keep it.
  private static func mayBeKept(_ response: HTTPResponse, _ control: CacheControl) -> Bool {
    !control.has("no-store") && response.head.redirectChain.map { $0.lifetime != nil } ?? true
  }

  /// How long an answer is good from when the server made it (RFC 9111 §4.2.1).
  private static func lifetime(_ response: HTTPResponse, _ control: CacheControl) -> Duration {
    if let stated = statedLifetime(response, control) { return stated }
    guard let changed = date("Last-Modified", in: response) else { return .zero }
    return min(max(sendingDate(of: response).since(changed), .zero) / 10, longestGuess)
  }

  /// How long an answer says that it is good; `nil` if it says nothing about it.
  static func statedLifetime(_ response: HTTPResponse, _ control: CacheControl) -> Duration? {
    if let seconds = control.seconds("max-age") { return seconds }
    guard response.head.headers.contains(name: "Expires") else { return nil }
    let sent = { sendingDate(of: response) }
    return date("Expires", in: response).map { max($0.since(sent()), .zero) } ?? .zero
  }

  /// The server's date wherever there is one, so that the device's clock has no part in a difference.
  private static func sendingDate(of response: HTTPResponse) -> HTTPDate {
    date("Date", in: response) ?? response.receivedAt
  }

  private static func date(_ name: String, in response: HTTPResponse) -> HTTPDate? {
    response.head.headers[name].flatMap { HTTPDate($0, now: response.receivedAt) }
  }

  /// How old an answer was when it came (RFC 9111 §4.2.3).
  ///
  /// Its date is not compared with the device's clock, which may be wrong by hours.
  private static func initialAge(_ response: HTTPResponse) -> Duration { statedAge(response) + response.duration }

  /// How old an answer says that it is.
  static func statedAge(_ response: HTTPResponse) -> Duration {
    // Of several the first counts, and one that is no number does not (RFC 9111 §5.1).
    response.head.headers.members(of: "Age").first.flatMap { CacheControl.deltaSeconds($0) } ?? .zero
  }
}

extension CachedCopy.Reach {
  /// `nil` if no redirect led to the answer.
  fileprivate init?(_ response: HTTPResponse) {
    guard let redirectChain = response.head.redirectChain else { return nil }
    // What the answer's own age adds to the copy's has nothing to do with the redirects.
    self.init(way: redirectChain.way, age: (redirectChain.lifetime ?? .zero) + CachedCopy.statedAge(response))
  }
}

extension HTTPRequest.Parts {
  /// Asks about a copy where it came from, and nowhere else: what tells versions of one resource apart says nothing of
  /// another (RFC 9110 §8.8.3, §13.1.3).
  mutating func askAboutCopy() {
    guard let question else { return }
    let isThere = question.url == message.url
    message.headers["If-None-Match"] = isThere ? question.etag : nil
    message.headers["If-Modified-Since"] = isThere ? question.lastModified : nil
    takesNotModified = isThere
  }
}
