import Foundation

/// Sends one request and tells what comes back: the only thing that a client needs from a network.
///
///     let exchange = transport.start(request) { event in print(event) }
///     exchange.cancel()
///
/// What every transport promises:
/// - Events come one at a time, in this order: any number of ``TransportEvent/sent(_:)``, one
///   ``TransportEvent/head(_:)``, any number of ``TransportEvent/chunk(_:)``, and exactly one end, which is
///   ``TransportEvent/finished`` or ``TransportEvent/failed(_:)``. A failure may come at any point. Progress of the upload
///   may still come after the head, when a server answers early.
/// - Whatever the status, an answer is an answer: only a failure of the network is a failure.
/// - Redirects are not followed, answers not cached, cookies and credentials not added, informational answers (1xx) not
///   told; a content coding that the transport asked for by itself is undone. The client does the rest, so that it is
///   done the same way on every transport.
/// - The limits of the request are kept by the transport itself; see ``TransportLimits``.
/// - After a cancel no event begins, save those that another thread has begun already.
/// - Events may come on any thread, also before ``start(_:telling:)`` has returned.
public protocol Transport: Sendable {
  /// Begins to send a request.
  ///
  /// - Parameters:
  ///   - request: What to send.
  ///   - receiver: Told each event; kept until the end or a cancel, and no longer.
  /// - Returns: What stops it.
  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange
}

/// A request under way on a ``Transport``.
public protocol TransportExchange: AnyObject, Sendable {
  /// Stops it, closes the connection if it must, and lets go of the receiver; after the end, nothing happens.
  func cancel()

  /// Reads no more from the network until ``resume()``, as soon as the transport can: what is under way still comes.
  ///
  /// Time in pause counts towards the total limit, not towards the idle limit. Called once more while it holds, nothing
  /// happens.
  func pause()

  /// Goes on after a ``pause()``; without one, nothing happens.
  func resume()
}

/// What a ``Transport`` tells.
public enum TransportEvent: Sendable {
  /// How many bytes of the body have been sent so far.
  case sent(Int64)
  /// The status and header fields of the answer have come.
  case head(ResponseHead)
  /// A part of the answer's body has come; never empty.
  case chunk(Data)
  /// The answer is complete.
  case finished
  /// The answer will not come, or not all of it.
  case failed(TransportFailure)
}

/// The status and header fields of an answer.
public struct ResponseHead: Hashable, Sendable {
  /// The status code, from 200 to 599 where the server keeps to the rules.
  public var status: Int {
    get { parts.status }
    set { parts.status = newValue }
  }
  /// The header fields.
  public var headers: HTTPHeaders {
    get { parts.headers }
    _modify { yield &parts.headers }
  }
  /// The address that answered.
  public var url: URL {
    get { parts.address.url }
    set { parts.address = Address(newValue) }
  }
  /// What the server spoke, as the status line has it: "HTTP/1.1", "HTTP/2"; `nil` if the transport is not told.
  public var httpVersion: String? {
    get { parts.httpVersion }
    set { parts.httpVersion = newValue }
  }
  /// How long the parts took up to here, as the transport measured it; `nil` if it does not, or was not asked to.
  ///
  /// Two heads that differ in nothing else are equal.
  public var timings: TransportTimings? {
    get { parts.timings }
    // What changes nothing takes no copy.
    set { if newValue != nil || parts.timings != nil { parts.timings = newValue } }
  }
  /// What redirects have to do with the answer; `nil` if none led to it.
  ///
  /// Here, since middleware that makes another answer of it goes on from this head.
  var redirectChain: RedirectChain? {
    get { parts.redirectChain }
    // As above: most answers come straight from where they were asked for.
    set { if newValue != nil || parts.redirectChain != nil { parts.redirectChain = newValue } }
  }

  private struct Parts: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var address: Address
    var httpVersion: String?
    var timings: TransportTimings?
    var redirectChain: RedirectChain?
  }

  // One word in place of some twenty: each stage hands the answer on.
  private var boxed: Boxed<Parts>
  private var parts: Parts {
    get { boxed.value }
    _modify { yield &boxed.value }
  }

  /// Makes the head of an answer.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - url: The address that answered.
  ///   - httpVersion: What the server spoke.
  public init(status: Int, headers: HTTPHeaders = [:], url: URL, httpVersion: String? = nil) {
    self.init(status: status, headers: headers, address: Address(url), httpVersion: httpVersion)
  }

  init(status: Int, headers: HTTPHeaders, address: Address, httpVersion: String?) {
    boxed = Boxed(Parts(status: status, headers: headers, address: address, httpVersion: httpVersion))
  }

  /// Whether both say the same, whatever redirects led to them, and however long that took.
  public static func == (one: Self, other: Self) -> Bool {
    (one.status, one.headers, one.url, one.httpVersion) == (other.status, other.headers, other.url, other.httpVersion)
  }

  /// Hashes what the head says.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(headers)
    hasher.combine(url)
    hasher.combine(httpVersion)
  }
}
