import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("ForeignVerdicts")
struct ForeignVerdictsTests {
  typealias Kind = TransportFailure.Kind

  private struct Unknown: Error {}

  @Test(
    "reads what AsyncHTTPClient and SwiftNIO say",
    arguments: [
      ("AsyncHTTPClient.HTTPClientError", "HTTPClientError.connectTimeout", .timeout(.connect)),
      ("AsyncHTTPClient.HTTPClientError", "HTTPClientError.tlsHandshakeTimeout", .timeout(.connect)),
      ("AsyncHTTPClient.HTTPClientError", "HTTPClientError.requestStreamCancelled", .cancelled),
      ("AsyncHTTPClient.HTTPClientError", "HTTPClientError.proxyAuthenticationRequired", .proxy(.credentials)),
      ("AsyncHTTPClient.HTTPClientError", "HTTPClientError.invalidURL", nil),
      ("AsyncHTTPClient.HTTPClient.NWDNSError", "no such record", .dns),
      ("NIOCore.ChannelError", "connectTimeout(NIOCore.TimeAmount(nanoseconds: 10))", .timeout(.connect)),
      ("NIOCore.ChannelError", "ioOnClosedChannel", .reset), ("NIOCore.ChannelError", "operationUnsupported", nil),
      ("NIOCore.ChannelError", "Connect timeout (TimeAmount(nanoseconds: 10000000000))", .timeout(.connect)),
      ("NIOCore.ChannelError", "End of file", .reset), ("NIOCore.ChannelError", "I/O on closed channel", .reset),
      ("NIOCore.ChannelError", "Already closed", .reset), ("NIOCore.ChannelError", "Input closed", .reset),
      ("NIOCore.ChannelError", "Output closed", .reset), ("NIOCore.ChannelError", "Operation unsupported", nil),
      ("NIOCore.IOError", "read(descriptor:pointer:size:): Connection reset by peer (errno: \(ECONNRESET))", .reset),
      ("NIOCore.IOError", "without a number", nil), ("NIOCore.IOError", "of no system (errno: )", nil),
      ("NIOHTTP1.HTTPParserError", "invalidVersion", .protocol),
      ("NIOHTTP1.HTTPParserError", "invalidEOFState", .reset),
      ("NIOHTTP1.HTTPParserError", "stream ended at an unexpected time", .reset),
      ("NIOHTTP1.HTTPParserError", "invalid HTTP version", .protocol),
      ("NIOHTTPCompression.NIOHTTPDecompression.DecompressionError", "limit", .tooLarge),
      ("NIOHTTPCompression.NIOHTTPDecompression.ExtraDecompressionError", "truncatedData", .protocol),
      ("NIOHTTP2.NIOHTTP2Errors.StreamClosed", "StreamClosed(streamID: 1)", .reset),
      ("NIOSSL.NIOSSLExtraError", "NIOSSLExtraError.failedToValidateHostname: Couldn't find b", .tls(.wrongHost)),
      (
        "NIOSSL.NIOSSLError",
        "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435581 error:1000007d:SSL "
          + "routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED]))", .tls(.untrusted)
      ),
      (
        "NIOSSL.NIOSSLError",
        "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435703 error:100000f7:SSL "
          + "routines:OPENSSL_internal:WRONG_VERSION_NUMBER]))", .tls(.handshake)
      ),
      ("NIOSSL.NIOSSLError", "uncleanShutdown", .reset),
    ] as [(String, String, Kind?)]
  )
  func words(type: String, text: String, expected: Kind?) {
    expectEqual(ForeignVerdicts.verdict(onType: type, text: text)?.kind, expected)
  }

  private enum Wordy: Error, CustomStringConvertible {
    case connectTimeout(Int)
    case operationUnsupported

    var description: String { "in other words" }
  }

  @Test("reads the name of a case with a payload where the error describes itself in other words")
  func caseNames() {
    let type = "NIOCore.ChannelError"
    let timeout = ForeignVerdicts.verdict(on: Wordy.connectTimeout(10), ofType: type)
    expectEqual(timeout?.kind, .timeout(.connect))
    #expect(ForeignVerdicts.verdict(on: Wordy.operationUnsupported, ofType: type) == nil)
  }

  private struct Numbered: Error {
    let errorCode: POSIXErrorCode
  }

  @Test(
    "goes by the system's number in an error of Apple's Network framework",
    arguments: [
      (.ECONNREFUSED, .init(kind: .connect)), (.ENETUNREACH, .init(kind: .connect, isUnsent: false)),
      (.ETIMEDOUT, .init(kind: .timeout(.idle))), (.ECONNRESET, .init(kind: .reset)), (.EMFILE, nil),
    ] as [(POSIXErrorCode, ForeignVerdicts.Verdict?)]
  )
  func numbers(code: POSIXErrorCode, expected: ForeignVerdicts.Verdict?) {
    let error = Numbered(errorCode: code)
    expectEqual(ForeignVerdicts.verdict(on: error, ofType: "AsyncHTTPClient.HTTPClient.NWPOSIXError"), expected)
    #expect(ForeignVerdicts.verdict(on: error, ofType: "Files.NWPOSIXError") == nil)
  }

  @Test("takes no error of a module of other people's for one that it knows by name")
  func otherModules() {
    let text = "(errno: \(ECONNREFUSED))"
    #expect(ForeignVerdicts.verdict(onType: "Files.IOError", text: text) == nil)
    expectEqual(ForeignVerdicts.verdict(onType: "NIOCore.IOError", text: text)?.kind, .connect)
  }

  @Test("takes a host none of whose addresses was tried for one without a name")
  func names() {
    let type = "NIOPosix.NIOConnectionError"
    expectEqual(ForeignVerdicts.verdict(onType: type, text: "", connectionErrors: [])?.kind, .dns)
    expectEqual(ForeignVerdicts.verdict(onType: type, text: "", connectionErrors: [Unknown()])?.kind, .connect)
    expectEqual(ForeignVerdicts.verdict(onType: type, text: "")?.kind, .connect)
  }

  @Test("proves that nothing was sent only by what cannot come behind the handshake")
  func proofs() {
    let alert = "sslError([Error: error:SSL routines:OPENSSL_internal:TLSV13_ALERT_CERTIFICATE_REQUIRED])"
    let within = ForeignVerdicts.verdict(onType: "NIOSSL.NIOSSLError", text: "handshakeFailed(\(alert))")
    let behind = ForeignVerdicts.verdict(onType: "NIOSSL.BoringSSLError", text: alert)
    expectEqual(within, .init(kind: .tls(.clientCertificate)))
    expectEqual(behind, .init(kind: .tls(.clientCertificate), isUnsent: false))
    let framework = ForeignVerdicts.verdict(onType: "AsyncHTTPClient.HTTPClient.NWTLSError", text: "-9829")
    expectEqual(framework, .init(kind: .tls(.handshake), isUnsent: false))
    let unreachable = ForeignVerdicts.verdict(onType: "NIOCore.IOError", text: "(errno: \(EHOSTUNREACH))")
    expectEqual(unreachable, .init(kind: .connect, isUnsent: false))
  }

  @Test("has no row that an earlier one hides")
  func reachableRows() {
    for (index, row) in ForeignVerdicts.rows.enumerated() {
      let hiding = ForeignVerdicts.rows[..<index].first {
        $0.type == row.type && ($0.words.map { (row.words ?? "").contains($0) } ?? true)
      }
      #expect(hiding == nil, "\(row) is hidden by \(String(describing: hiding))")
    }
  }

  @Test("says of an error of URLSession what the transport over it says, and keeps the address with its secrets out")
  func urlErrors() throws {
    let url = try #require(URL(string: "https://a.example/?key=hush"))
    let error = URLError(.cannotConnectToHost, userInfo: [NSURLErrorFailingURLErrorKey: url])
    let failure = try #require(TransportFailure(classifying: error))
    expectEqual(failure.kind, .connect)
    #expect(failure.provesNothingWasSent)
    #expect(failure.underlying is URLError)
    #expect(!"\(failure)".contains("hush"))
  }

  @Test("leaves a verdict that there is, and has none on what it does not know")
  func others() {
    expectEqual(TransportFailure(classifying: TransportFailure(.tooLarge, bytesReceived: 7))?.bytesReceived, 7)
    #expect(TransportFailure(classifying: Unknown()) == nil)
    #expect(TransportFailure(classifying: CancellationError()) == nil)
  }
}
