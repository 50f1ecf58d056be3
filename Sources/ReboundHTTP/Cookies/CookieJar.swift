import Foundation

/// Cookies that servers have set: a value, to be looked at, kept and brought back.
///
///     let saved = try JSONEncoder().encode(cookies.jar)
///
/// What is written down holds credentials. A jar has at most 3,000 cookies, 50 of one domain (RFC 6265 §6.1); of more, those
/// go that were used longest ago.
public struct CookieJar: Hashable, Codable, Sendable {
  private struct Kept: Hashable, Codable, Sendable {
    var cookie: Cookie
    /// Counted up with each use.
    var lastUse: Int64
  }

  private static let limit = 3_000
  private static let limitOfDomain = 50

  private var kept: [Kept] = []
  private var uses: Int64 = 0

  /// Makes an empty one.
  public init() {}

  /// What is in it, the oldest first.
  public var cookies: [Cookie] { kept.map(\.cookie) }
  var isEmpty: Bool { kept.isEmpty }

  /// Takes in what an answer sets, as RFC 6265 §5.3 says; those that are over make way for it.
  ///
  /// Which domains are public, such as "co.uk", is not known here, but for those without a dot: a server below one can set
  /// cookies for all others there. A server that is not trusted with that is asked by a client with another jar.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the answer.
  ///   - url: Who has answered.
  ///   - now: The time.
  /// - Complexity: For each cookie that is set, linear in the number of those that are there.
  public mutating func store(_ headers: HTTPHeaders, from url: URL, now: HTTPDate) {
    let fields = headers.values(of: "Set-Cookie")
    guard !fields.isEmpty else { return }
    kept.removeAll { $0.cookie.isOver(at: now.secondsSinceEpoch) }
    for field in fields {
      guard var cookie = Cookie(field, from: url, now: now.secondsSinceEpoch) else { continue }
      let isFromSecure = url.scheme?.lowercased() == "https"
      // What was set in the clear may stand in for nothing that was not.
      if !isFromSecure, kept.contains(where: { $0.cookie.isSecure && cookie.overlays($0.cookie) }) { continue }
      let use = nextUse()
      let place = kept.firstIndex { cookie.replaces($0.cookie) }
      if let place { cookie.created = kept[place].cookie.created }
      let new = cookie.isOver(at: now.secondsSinceEpoch) ? [] : [Kept(cookie: cookie, lastUse: use)]
      kept.replaceSubrange(place.map { $0..<$0 + 1 } ?? kept.endIndex..<kept.endIndex, with: new)
      makeRoom(cookie.domain)
    }
  }

  /// What the Cookie field of a request says; `nil` if there is none to send.
  ///
  /// Those of longer paths come first, and of equal ones those that are older (RFC 6265 §5.4).
  public mutating func field(for url: URL, now: HTTPDate) -> String? {
    let use = nextUse()
    var found: [Cookie] = []
    for place in kept.indices where kept[place].cookie.belongs(to: url, now: now.secondsSinceEpoch) {
      kept[place].lastUse = use
      found.append(kept[place].cookie)
    }
    guard !found.isEmpty else { return nil }
    // Stable, so that those of one second keep their order.
    let sorted = found.enumerated().sorted { left, right in
      let keys = [left, right].map { (-$0.element.path.utf8.count, $0.element.created, $0.offset) }
      return keys[0] < keys[1]
    }
    return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
  }

  /// Forgets those that end with the session: that have no time of their own.
  public mutating func endSession() {
    kept.removeAll { $0.cookie.expires == nil }
  }

  /// Forgets all of them.
  public mutating func removeAll() {
    kept = []
  }

  private mutating func nextUse() -> Int64 {
    if uses == .max {
      // No jar counts that far; one that is brought back may say that it has.
      let order = kept.indices.sorted { kept[$0].lastUse < kept[$1].lastUse }
      for (number, place) in order.enumerated() { kept[place].lastUse = Int64(number) }
      uses = Int64(kept.count)
    }
    uses += 1
    return uses
  }

  private mutating func makeRoom(_ domain: String) {
    if kept.count(where: { $0.cookie.domain == domain }) > CookieJar.limitOfDomain {
      removeLeastUsed { $0.cookie.domain == domain }
    }
    if kept.count > CookieJar.limit { removeLeastUsed { _ in true } }
  }

  private mutating func removeLeastUsed(where isCandidate: (Kept) -> Bool) {
    let place = kept.indices.filter { isCandidate(kept[$0]) }.min { kept[$0].lastUse < kept[$1].lastUse }
    if let place { kept.remove(at: place) }
  }
}

extension Cookie {
  /// Whether it would go along where another does, under the same name.
  fileprivate func overlays(_ other: Cookie) -> Bool {
    name == other.name
      && (Cookie.domain(domain, matches: other.domain) || Cookie.domain(other.domain, matches: domain))
      && (path == other.path || path.hasPrefix(other.path.hasSuffix("/") ? other.path : other.path + "/"))
  }
}

extension CookieJar: CustomStringConvertible {
  /// How many there are, without their values.
  public var description: String { "\(kept.count) cookies" }
}
