import Rebound
import ReboundHTTP
import ReboundTesting

/// What every transport promises, as cases that any test library can run.
///
///     let contract = TransportContract { MyTransport(time: $0, reachability: $1) }
///     try await contract.verify()
///
/// Each case makes a ``MisbehavingServer`` and a transport of its own, and says in words what is wrong. Time is virtual
/// where a limit is to pass, so all of them take some seconds.
///
/// All of it is HTTP/1.1 in the clear, but for handshakes of TLS that fail. Nothing is proven of what comes behind a handshake
/// that succeeds, of HTTP/2, and of proxies.
///
/// Some promises are for those who can keep them: a ``Feature``. A transport that lacks one says so, and is not asked:
///
///     try await TransportContract(lacking: [.tls]) { MyTransport(time: $0, reachability: $1) }.verify()
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
    /// Speaks TLS. Without it, it is for addresses with `http` alone.
    case tls
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
    /// What is sent to meet the fault.
    public let sending: FaultCase.Sending?

    private let make: Maker
    private let patience: Duration
    private let body: @Sendable (ContractRun) async throws -> Void

    /// The promise.
    public var description: String { promise }

    init(_ promise: ContractPromise, _ make: @escaping Maker, _ patience: Duration) {
      self.promise = promise.name
      feature = promise.feature
      faultCase = promise.faultCase
      sending = promise.sending
      body = promise.body
      self.make = make
      self.patience = patience
    }

    /// Puts the transport to the proof.
    ///
    /// - Throws: A ``Violation``, or a ``SocketError`` if the system has no socket left for the server.
    public func run() async throws {
      let run = try ContractRun(make)
      do {
        try await run.play(within: patience, body)
      } catch let problem as ContractRun.Problem {
        throw Violation(promise: promise, problem: "\(problem.text); told: '\(run.log.order)'")
      }
    }
  }

  /// All cases that the transport is asked for: its promises, and then every fault with every kind of request.
  public let cases: [Case]

  /// Makes the contract for a transport.
  ///
  /// - Parameters:
  ///   - lacking: What the transport cannot do.
  ///   - patience: How long nothing may happen in a case, in real time, before it counts as hanging. A busy machine makes
  ///     cases slow, so the whole of it has no limit.
  ///   - make: Makes a new transport.
  public init(lacking: Set<Feature> = [], patience: Duration = .seconds(30), _ make: @escaping Maker) {
    cases = ContractPromise.all
      .filter { promise in promise.feature.map { !lacking.contains($0) } ?? true }
      .map { Case($0, make, patience) }
  }

  /// Runs all cases, one after the other.
  ///
  /// - Parameter isIncluded: Leaves out what is known not to hold.
  /// - Throws: ``Violations``, if there is at least one; a ``SocketError`` if the system has no socket left.
  public func verify(where isIncluded: (Case) -> Bool = { _ in true }) async throws {
    var violations: [Violation] = []
    for promise in cases where isIncluded(promise) {
      do { try await promise.run() } catch let violation as Violation { violations.append(violation) }
    }
    if !violations.isEmpty { throw Violations(all: violations) }
  }
}

/// A case before there is a transport.
struct ContractPromise: Sendable {
  let name: String
  var feature: TransportContract.Feature?
  var faultCase: FaultCase?
  var sending: FaultCase.Sending?
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

  static let all = ofRequests + ofBodies + ofLimits + ofLives + ofFaults
}
