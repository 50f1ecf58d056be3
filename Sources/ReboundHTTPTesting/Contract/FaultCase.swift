import Foundation
import ReboundHTTP

/// A fault, and what every transport is to make of it.
public struct FaultCase: Sendable {
  /// How an exchange ends.
  public enum Verdict: Hashable, Sendable {
    /// With an answer of that status.
    case answer(Int)
    /// With a failure.
    case failure(TransportFailure.Kind)
  }

  /// What is sent to meet the fault.
  public enum Sending: String, CaseIterable, Sendable {
    /// A GET request.
    case get = "GET"
    /// A HEAD request, whose answer has no body.
    case head = "HEAD"
    /// Some hundred kilobytes of data.
    case post = "POST"
    /// A stream of unknown length.
    case put = "PUT"

    /// The body of the request.
    public var body: TransportBody {
      switch self {
      case .get, .head: .none
      case .post: .data(Data(repeating: 46, count: 200_000))
      case .put: .stream(BodyStream { PiecewiseReader(count: 3000, piece: 1000) })
      }
    }
  }

  /// What the server does.
  public let fault: Fault
  /// How it ends.
  public let verdict: Verdict
  /// How it ends for a HEAD request, which never sees a body.
  public let verdictOfHead: Verdict
  /// What would be as good, or better.
  public let tolerated: [Verdict]
  /// Who is asked, if not every transport.
  public let feature: TransportContract.Feature?
  /// What of the answer may come at most.
  public let responseBytes: Int64?
  /// The server goes on once the client has seen the beginning of the body.
  let goesOnAfterChunk: Bool

  init(
    _ fault: Fault,
    _ verdict: Verdict,
    head verdictOfHead: Verdict? = nil,
    tolerating tolerated: [Verdict] = [],
    for feature: TransportContract.Feature? = nil,
    goesOnAfterChunk: Bool = false,
    responseBytes: Int64? = nil
  ) {
    self.fault = fault
    self.verdict = verdict
    self.verdictOfHead = verdictOfHead ?? verdict
    self.tolerated = tolerated
    self.feature = fault.phase == .handshake ? .tls : feature
    self.goesOnAfterChunk = goesOnAfterChunk
    self.responseBytes = responseBytes
  }

  /// What may be sent to meet it: faults of the request's body need one.
  public var sendings: [Sending] { fault.phase == .request ? [.post, .put] : Sending.allCases }

  /// How it ends for a kind of request.
  public func verdict(for sending: Sending) -> Verdict { sending == .head ? verdictOfHead : verdict }
}

extension FaultCase {
  /// All faults, in the order in which an exchange meets them.
  public static let all: [FaultCase] = ofConnection + ofHandshake + ofRequest + ofHead + ofBody

  private static let stalled = Verdict.failure(.timeout(.idle))
  private static let ok = Verdict.answer(200)

  private static let ofConnection: [FaultCase] = [
    FaultCase(.resetOnAccept, .failure(.reset)),
    FaultCase(.closeOnAccept, .failure(.reset)),
    FaultCase(.stallOnAccept, stalled),
    FaultCase(.otherProtocol, .failure(.protocol)),
  ]

  private static let ofHandshake: [FaultCase] = [
    FaultCase(.plainAnswerToTLS, .failure(.tls(.handshake))),
    FaultCase(.alertInHandshake, .failure(.tls(.handshake))),
    FaultCase(.closeInHandshake, .failure(.tls(.handshake))),
    FaultCase(.resetInHandshake, .failure(.reset)),
    FaultCase(.stallInHandshake, stalled),
    FaultCase(.selfSignedCertificate, .failure(.tls(.untrusted))),
  ]

  private static let ofRequest: [FaultCase] = [
    FaultCase(.unreadUpload, stalled),
    FaultCase(.resetInUpload, .failure(.reset)),
    FaultCase(.refusedUpload, .answer(413)),
    FaultCase(.slowlyReadUpload, ok),
  ]

  private static let ofHead: [FaultCase] =
    [
      FaultCase(.emptyReply, .failure(.reset)),
      FaultCase(.resetBeforeHead, .failure(.reset)),
      FaultCase(.stallBeforeHead, stalled),
      FaultCase(.closeInStatusLine, .failure(.reset)),
      FaultCase(.resetInStatusLine, .failure(.reset)),
      FaultCase(.stallInStatusLine, stalled),
      FaultCase(.closeInFields, .failure(.reset)),
      FaultCase(.resetInFields, .failure(.reset)),
      FaultCase(.stallInFields, stalled),
      FaultCase(.notHTTP, .failure(.protocol)),
      FaultCase(.binaryGarbage, .failure(.protocol)),
      FaultCase(.wordForStatus, .failure(.protocol)),
      FaultCase(.unknownVersion, .failure(.protocol)),
      FaultCase(.negativeLength, .failure(.protocol)),
      FaultCase(.hexadecimalLength, .failure(.protocol)),
      FaultCase(.overflowingLength, .failure(.protocol)),
      FaultCase(.challenge, .answer(401)),
      FaultCase(.fieldWithoutColon, .failure(.protocol)),
      FaultCase(.nulInField, .failure(.protocol)),
      FaultCase(.lineFeedsAlone, ok, tolerating: [.failure(.protocol)]),
      FaultCase(.unaskedUpgrade, .failure(.protocol)),
      FaultCase(.hugeField, .failure(.protocol)),
      FaultCase(.endlessFields, .failure(.protocol)),
      FaultCase(.manyFields, ok, tolerating: [.failure(.protocol)]),
      FaultCase(.closeAfterInterim, .failure(.reset)),
      FaultCase(.interimResponses, ok),
      FaultCase(.drippingHead, ok),
      FaultCase(.redirectLoop(at: "/fault"), .answer(302)),
      FaultCase(.redirect(to: "http://localhost/elsewhere", name: "redirect to other host"), .answer(302)),
      FaultCase(.redirect(to: "file:///etc/hostname", status: 301, name: "redirect to a file"), .answer(301)),
      FaultCase(.redirectToNowhere, .answer(302)),
      FaultCase(.redirectWithBody(of: 4_000_000), .answer(302)),
    ]
    + statuses.map { FaultCase(.status($0), .answer($0)) }

  private static let statuses =
    [200, 201, 202, 203, 204, 205, 206, 207, 226, 299, 300, 301, 302, 303, 304, 305, 307, 308]
    + [
      400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424,
    ]
    + [425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511, 599]

  private static let ofBody: [FaultCase] = [
    FaultCase(.closeAfterHead, .failure(.truncated), head: ok),
    FaultCase(.stallAfterHead, stalled, head: ok),
    FaultCase(.closeInBody, .failure(.truncated), head: ok),
    FaultCase(.resetInBody, .failure(.truncated), head: ok, goesOnAfterChunk: true),
    FaultCase(.stallInBody, stalled, head: ok),
    FaultCase(.closeInChunk, .failure(.truncated), head: ok),
    FaultCase(.closeBetweenChunks, .failure(.truncated), head: ok),
    FaultCase(.resetInChunk, .failure(.truncated), head: ok, goesOnAfterChunk: true),
    FaultCase(.stallInChunk, stalled, head: ok),
    FaultCase(.wordForChunkSize, .failure(.protocol), head: ok),
    FaultCase(.hugeChunkSize, .failure(.protocol), head: ok),
    FaultCase(.overlongChunk, .failure(.protocol), head: ok),
    FaultCase(.trailers, ok),
    FaultCase(.brokenTrailer, .failure(.protocol), head: ok),
    FaultCase(.twoLengths, .failure(.protocol)),
    FaultCase(.unknownCoding, .failure(.protocol), head: ok, for: .contentCodings),
    FaultCase(.plainForGzip, .failure(.protocol), head: ok, for: .contentCodings),
    FaultCase(
      .gzipBomb(of: 4_000_000),
      .failure(.tooLarge),
      head: ok,
      for: .contentCodings,
      responseBytes: 100_000
    ),
    FaultCase(.endlessBody(of: 4_000_000), .failure(.tooLarge), head: ok, responseBytes: 100_000),
    FaultCase(.bytesAfterBody, ok),
    FaultCase(.drippingBody, ok),
    FaultCase(.bodyUntilClose, ok),
    FaultCase(.closeAfterAnswer, ok),
    FaultCase(.gzippedAnswer, ok),
    // Who does not know the coding must say so.
    FaultCase(.brotliAnswer, ok, tolerating: [.failure(.protocol)], for: .contentCodings),
    FaultCase(.gzipMembers, .failure(.protocol), head: ok, tolerating: [ok], for: .contentCodings),
    FaultCase(.bytesAfterGzip, .failure(.protocol), head: ok, tolerating: [ok], for: .contentCodings),
    // Who looks closely finds the end missing.
    FaultCase(.halfGzip, ok, tolerating: [.failure(.truncated), .failure(.protocol)]),
    FaultCase(.bodyAfter204, .answer(204)),
    FaultCase(.bodyAfter304, .answer(304)),
  ]
}

extension FaultCase.Verdict: CustomStringConvertible {
  /// As the table of verdicts has it: "answer 200", ".reset".
  public var description: String {
    switch self {
    case .answer(let status): "answer \(status)"
    case .failure(let kind): kind.caseName
    }
  }
}

extension TransportFailure.Kind {
  /// The case as one writes it in Swift.
  var caseName: String {
    switch self {
    case .offline: ".offline"
    case .dns: ".dns"
    case .connect: ".connect"
    case .tls(let reason): ".tls(.\(reason.caseName))"
    case .proxy(.unreachable): ".proxy(.unreachable)"
    case .proxy(.credentials): ".proxy(.credentials)"
    case .proxy(.refused(let status)): ".proxy(.refused(\(status)))"
    case .proxy(.broken): ".proxy(.broken)"
    case .timeout(.connect): ".timeout(.connect)"
    case .timeout(.idle): ".timeout(.idle)"
    case .timeout(.total): ".timeout(.total)"
    case .reset: ".reset"
    case .truncated: ".truncated"
    case .protocol: ".protocol"
    case .cancelled: ".cancelled"
    case .tooManyRedirects: ".tooManyRedirects"
    case .tooLarge: ".tooLarge"
    case .body: ".body"
    case .other: ".other"
    }
  }
}

extension TransportFailure.TLSReason {
  /// The case as one writes it in Swift, without its dot.
  var caseName: String {
    switch self {
    case .untrusted: "untrusted"
    case .expired: "expired"
    case .notYetValid: "notYetValid"
    case .wrongHost: "wrongHost"
    case .revoked: "revoked"
    case .notPinned: "notPinned"
    case .clientCertificate: "clientCertificate"
    case .handshake: "handshake"
    case .other: "other"
    }
  }
}
