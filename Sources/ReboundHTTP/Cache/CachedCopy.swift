import Foundation
import Rebound

/// An answer that was kept, and what is known about how long it is good.
struct CachedCopy: Sendable {
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

  /// Makes a copy of an answer; `nil` if it may not be kept.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - message: What was asked.
  ///   - now: The client's time.
  init?(_ response: HTTPResponse, to message: TransportRequest, now: Duration) {
    // Most that is answered says nothing about its keeping, and is looked at no further.
    guard CachedCopy.grounds.contains(where: { response.head.headers.contains(name: $0) }) else { return nil }
    let control = CacheControl(response.head.headers)
    let vary = response.head.headers.members(of: "Vary")
    guard
      [200, 203, 204].contains(response.status), !control.has("no-store"),
      // What is no name of a field depends on something that nobody knows, as a star does.
      vary.allSatisfy({ HTTPHeaders.Field($0, "").isValid && $0 != "*" })
    else { return nil }
    head = response.head
    body = response.body
    variant = vary.map { HTTPHeaders.Field($0, message.headers[$0] ?? "") }
    self.control = control
    lifetime = CachedCopy.lifetime(response, control)
    initialAge = CachedCopy.initialAge(response)
    arrival = now
    receivedAt = response.receivedAt
    // A copy that can neither be used nor be asked about is of no use.
    let isOfUse = lifetime > .zero || hasValidator || control.has("stale-if-error")
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
  init(
    head: ResponseHead,
    body: Data,
    variant: [HTTPHeaders.Field],
    age: Duration,
    now: Duration,
    receivedAt: HTTPDate
  ) {
    (self.head, self.body, self.variant) = (head, body, variant)
    control = CacheControl(head.headers)
    lifetime = CachedCopy.lifetime(HTTPResponse(head: head, receivedAt: receivedAt), control)
    (initialAge, arrival, self.receivedAt) = (age, now, receivedAt)
  }

  /// Whether it is an answer to this request, too.
  func answers(_ message: TransportRequest) -> Bool {
    variant.allSatisfy { ($0.value) == (message.headers[$0.name] ?? "") }
  }

  func age(now: Duration) -> Duration { initialAge + max(now - arrival, .zero) }

  /// Whether it may be used without asking.
  func isFresh(now: Duration) -> Bool { !control.has("no-cache") && age(now: now) < lifetime }

  /// Whether it may be used while it is being renewed (RFC 5861 §3).
  func mayBeRenewedLater(now: Duration) -> Bool {
    guard let window = control.seconds("stale-while-revalidate"), mayBeStale else { return false }
    return age(now: now) < lifetime + window
  }

  /// Whether it may be used because the service fails (RFC 5861 §4).
  ///
  /// - Parameter fallback: For servers that say nothing about it.
  func mayStandIn(now: Duration, unlessSaid fallback: Duration) -> Bool {
    guard mayBeStale else { return false }
    return age(now: now) < lifetime + (control.seconds("stale-if-error") ?? fallback)
  }

  private var mayBeStale: Bool { !control.has("must-revalidate") && !control.has("no-cache") }

  private var hasValidator: Bool { head.headers.contains(name: "ETag") || head.headers.contains(name: "Last-Modified") }

  /// The request that asks whether it is still good; `nil` if that cannot be asked.
  func question(_ request: HTTPRequest) -> HTTPRequest? {
    guard hasValidator else { return nil }
    var request = request
    request.message.headers["If-None-Match"] = head.headers["ETag"]
    request.message.headers["If-Modified-Since"] = head.headers["Last-Modified"]
    request.takesNotModified = true
    return request
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

  /// How long an answer is good from when the server made it (RFC 9111 §4.2.1).
  private static func lifetime(_ response: HTTPResponse, _ control: CacheControl) -> Duration {
    if let seconds = control.seconds("max-age") { return seconds }
    let date = { (name: String) in response.head.headers[name].flatMap { HTTPDate($0, now: response.receivedAt) } }
    // Both dates are the server's, so that the device's clock has no part in it.
    let sent = { date("Date") ?? response.receivedAt }
    if response.head.headers.contains(name: "Expires") {
      return date("Expires").map { max($0.since(sent()), .zero) } ?? .zero
    }
    guard let changed = date("Last-Modified") else { return .zero }
    return min(max(sent().since(changed), .zero) / 10, longestGuess)
  }

  /// How old an answer was when it came (RFC 9111 §4.2.3).
  ///
  /// Its date is not compared with the device's clock, which may be wrong by hours.
  private static func initialAge(_ response: HTTPResponse) -> Duration {
    // Of several the first counts, and one that is no number does not (RFC 9111 §5.1).
    let age = response.head.headers.members(of: "Age").first.flatMap { CacheControl.deltaSeconds($0) }
    return (age ?? .zero) + response.duration
  }
}
