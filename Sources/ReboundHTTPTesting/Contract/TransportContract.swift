import Rebound
import ReboundHTTP
import ReboundTesting

/// What every transport promises, as cases that any test library can run.
///
///     let contract = TransportContract(lacking: [.tls]) { MyTransport(time: $0, reachability: $1) }
///     let coverage = try await contract.verify()
///     print(coverage)  // what was proven, and what was not asked for, and why
///
/// Each case makes a ``MisbehavingServer`` and a transport of its own, and says in words what is wrong. Time is virtual
/// where a limit is to pass, so all of them take some seconds.
///
/// By itself it speaks HTTP/1.1 in the clear, and of TLS has the handshakes that fail. For what lies behind a handshake that
/// succeeds, and HTTP/2, it has to be given what speaks TLS, a ``TLSTerminator``: what is not asked for without one stands in
/// what ``verify(where:)`` returns. Nothing is proven of proxies.
///
/// Some promises are for those who can keep them: a ``Feature``. A transport that lacks one says so, and is not asked.
public struct TransportContract: Sendable {
  /// Makes the transport that is to be proven.
  ///
  /// It measures limits by that time, and asks that reachability whether there is a network when a name is not known.
  public typealias Maker = @Sendable (_ time: TimeSource, _ reachability: any Reachability) -> any Transport

  /// What a transport may lack and be a transport all the same.
  public enum Feature: String, Hashable, Sendable, CaseIterable {
    /// Keeps a connection for the next request. Without it each request costs a connection.
    case connectionReuse
    /// Undoes codings of content that it asked for (gzip), and counts the bytes behind that. Without it, it must not ask
    /// for any.
    case contentCodings
    /// Speaks TLS. Without it, it is for addresses with `http` alone, and has no HTTP/2.
    case tls
    /// Speaks HTTP/2 over TLS with a server that offers it (ALPN). Without it, it speaks HTTP/1.1 with that.
    case http2
    /// Knows when a connection stands, and so keeps the connect limit. Without it the idle limit has to do.
    case connectLimit
    /// Reads no more from the network during a pause, so that the server has to wait. Without it, what comes meanwhile is
    /// kept in memory.
    case backpressure
    /// Sends of a file that grows meanwhile as much as it has said, and no more. Without it, a server takes what was added
    /// for the next request, so a file that somebody may add to is not to be sent.
    case growingFiles
  }

  /// The transport broke a promise.
  public struct Violation: Error, Sendable, CustomStringConvertible {
    /// Which promise.
    public let promise: String
    /// What happened in its place.
    public let problem: String

    /// The promise, and what happened in its place.
    public var description: String { "'\(promise)': \(problem)" }
  }

  /// The transport broke promises.
  public struct Violations: Error, Sendable, CustomStringConvertible {
    /// All that were broken.
    public let all: [Violation]

    /// One line for each.
    public var description: String { all.map { "\($0)" }.joined(separator: "\n") }
  }

  /// One promise, or one fault and how it has to end.
  public struct Case: Sendable, CustomStringConvertible {
    /// What is promised: "sends a file with its length".
    public let promise: String
    /// What the promise is for, if not for every transport.
    public let feature: Feature?
    /// The fault that the case is about, if there is one.
    public let faultCase: FaultCase?
    /// What is sent to meet the fault; `nil` also where it lies behind TLS, and is met with GET.
    public let sending: FaultCase.Sending?
    /// The break behind a handshake that the case is about, if there is one.
    public let secureFaultCase: SecureFaultCase?
    /// The fault of HTTP/2 that the case is about, if there is one.
    public let http2FaultCase: HTTP2FaultCase?
    /// Whether it needs a ``TLSTerminator``.
    public let isBehindTLS: Bool

    private let make: Maker
    private let terminator: (any TLSTerminator)?
    private let patience: Duration
    private let body: @Sendable (ContractRun) async throws -> Void

    /// The promise.
    public var description: String { promise }

    init(
      _ promise: ContractPromise,
      _ make: @escaping Maker,
      _ terminator: (any TLSTerminator)?,
      _ patience: Duration
    ) {
      self.promise = promise.name
      feature = promise.feature
      faultCase = promise.faultCase
      sending = promise.sending
      secureFaultCase = promise.secureFaultCase
      http2FaultCase = promise.http2FaultCase
      isBehindTLS = promise.isBehindTLS
      body = promise.body
      self.make = make
      self.terminator = terminator
      self.patience = patience
    }

    /// Puts the transport to the proof.
    ///
    /// - Throws: A ``Violation``, a ``SocketError`` if the system has no socket left for the server, or what the
    ///   ``TLSTerminator`` throws.
    public func run() async throws {
      let run = try ContractRun(make, terminator)
      do {
        try await run.play(within: patience, body)
      } catch let problem as ContractRun.Problem {
        throw Violation(promise: promise, problem: "\(problem.text); told: '\(run.log.order)'")
      }
    }
  }

  /// What a run has proven, and what not.
  public struct Coverage: Sendable, Hashable, CustomStringConvertible {
    /// Promises that nobody has asked for.
    public struct Gap: Sendable, Hashable, CustomStringConvertible {
      /// Why: "it lacks http2".
      public let reason: String
      /// What was promised in each.
      public let promises: [String]

      /// The reason, and how many it keeps from being asked for.
      public var description: String { "\(promises.count) not asked for, since \(reason)" }
    }

    /// What was kept.
    public let proven: [String]
    /// What was not asked for, a gap for each reason.
    public let gaps: [Gap]

    /// One line for what was kept, and one for each gap.
    public var description: String {
      (["\(proven.count) promises are kept"] + gaps.map { "\($0)" }).joined(separator: "\n")
    }
  }

  /// All cases that the transport is asked for: its promises, then every fault with every kind of request, and what lies behind
  /// TLS.
  public let cases: [Case]
  /// What it is not asked for.
  private let gaps: [Coverage.Gap]

  /// Makes the contract for a transport.
  ///
  /// - Parameters:
  ///   - lacking: What the transport cannot do.
  ///   - terminator: What speaks TLS for the servers, with a certificate that the transport trusts; without it, nothing behind
  ///     a handshake is asked for.
  ///   - patience: How long nothing may happen in a case, in real time, before it counts as hanging. A busy machine makes
  ///     cases slow, so the whole of it has no limit; but one in which requests come without an end is given up.
  ///   - make: Makes a new transport.
  public init(
    lacking: Set<Feature> = [],
    tls terminator: (any TLSTerminator)? = nil,
    patience: Duration = .seconds(30),
    _ make: @escaping Maker
  ) {
    var cases: [Case] = []
    var lacks: [Feature: [String]] = [:]
    var unterminated: [String] = []
    for promise in ContractPromise.all {
      if let feature = promise.missing(from: lacking) {
        lacks[feature, default: []].append(promise.name)
      } else if promise.isBehindTLS, terminator == nil {
        unterminated.append(promise.name)
      } else {
        cases.append(Case(promise, make, terminator, patience))
      }
    }
    self.cases = cases
    gaps = Feature.allCases.compactMap { feature in
      lacks[feature].map { Coverage.Gap(reason: "it lacks \(feature.rawValue)", promises: $0) }
    }
    .appending(unterminated, "there is no TLSTerminator")
  }

  /// Runs all cases, one after the other.
  ///
  /// - Parameter isIncluded: Leaves out what is known not to hold.
  /// - Returns: What is proven by that, and what is not, for which reason: for a test to look at, or to print.
  /// - Throws: ``Violations``, if there is at least one; a ``SocketError`` if the system has no socket left; what the
  ///   ``TLSTerminator`` throws.
  public func verify(where isIncluded: (Case) -> Bool = { _ in true }) async throws -> Coverage {
    var violations: [Violation] = []
    var (proven, leftOut): ([String], [String]) = ([], [])
    for promise in cases {
      guard isIncluded(promise) else {
        leftOut.append(promise.promise)
        continue
      }
      do {
        try await promise.run()
        proven.append(promise.promise)
      } catch let violation as Violation { violations.append(violation) }
    }
    if !violations.isEmpty { throw Violations(all: violations) }
    return Coverage(proven: proven, gaps: gaps.appending(leftOut, "the caller has left them out"))
  }
}

extension [TransportContract.Coverage.Gap] {
  /// With one more, if there is anything in it.
  fileprivate func appending(_ promises: [String], _ reason: String) -> [Element] {
    promises.isEmpty ? self : self + [Element(reason: reason, promises: promises)]
  }
}

/// A case before there is a transport.
struct ContractPromise: Sendable {
  let name: String
  var feature: TransportContract.Feature?
  var faultCase: FaultCase?
  var sending: FaultCase.Sending?
  var secureFaultCase: SecureFaultCase?
  var http2FaultCase: HTTP2FaultCase?
  var isBehindTLS = false
  let body: @Sendable (ContractRun) async throws -> Void

  init(
    _ name: String,
    _ feature: TransportContract.Feature? = nil,
    _ body: @escaping @Sendable (ContractRun) async throws -> Void
  ) {
    self.name = name
    self.feature = feature
    self.body = body
  }

  static let all = ofRequests + ofBodies + ofLimits + ofLives + ofFaults + behindTLS

  /// What keeps a transport that lacks these from being asked; over TLS alone there is HTTP/2.
  func missing(from lacking: Set<TransportContract.Feature>) -> TransportContract.Feature? {
    guard let feature else { return nil }
    if lacking.contains(feature) { return feature }
    return feature == .http2 && lacking.contains(.tls) ? .tls : nil
  }
}
