import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("TransportVerdicts")
struct TransportVerdictsTests {
  typealias Kind = TransportFailure.Kind

  @Test(
    "reads libcurl's words where Foundation on Linux knows no code",
    arguments: [
      ("SSL certificate problem: self-signed certificate", .tls(.untrusted)),
      ("SSL certificate problem: certificate has expired", .tls(.expired)),
      ("SSL certificate problem: certificate is not yet valid", .tls(.notYetValid)),
      ("SSL: no alternative certificate subject name matches target host name 'localhost'", .tls(.wrongHost)),
      ("OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", .tls(.handshake)),
      ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to 127.0.0.1:443 ", .tls(.handshake)),
      ("OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number, errno 0", .reset),
      ("Recv failure: Connection reset by peer", .reset),
      ("Send failure: Broken pipe", .reset),
      ("transfer closed with 12 bytes remaining to read", .truncated),
      ("transfer closed with outstanding read data remaining", .truncated),
      ("Failed writing received data to disk/application", .protocol),
      ("Failed reading the chunked-encoded stream", .protocol),
      ("Failure when receiving data from the peer", .reset),
      ("Failed sending data to the peer", .reset),
      ("Too large response headers: 308067 > 307200", .protocol),
      ("Illegal or missing hexadecimal sequence in chunked-encoding", .protocol),
      ("Error while processing content unencoding: incorrect header check", .protocol),
      ("Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server", .connect),
      ("Send failure: Broken pipe", .reset),
      ("Connection died, tried 5 times before giving up", .reset),
      ("something new", .other),
    ] as [(String, Kind)]
  )
  func words(text: String, expected: Kind) {
    expectEqual(TransportVerdicts.kind(urlErrorCode: -1, text: text), expected)
  }

  @Test(
    "takes no broken connection behind a handshake for a failed one, whose request could be sent again",
    arguments: [
      "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number, errno 0",
      "OpenSSL SSL_read: Connection reset by peer, errno 104",
      "OpenSSL SSL_write: Broken pipe, errno 32",
      "Recv failure: Connection reset by peer",
      "GnuTLS, TLS recv error",
    ]
  )
  func brokenBehindHandshake(text: String) {
    let kind = TransportVerdicts.kind(urlErrorCode: -1, text: text)
    expectEqual(kind, .reset)
    expectEqual(kind, TransportVerdicts.kind(curlCode: 56, text: text))
    #expect(!TransportFailure(kind).provesNothingWasSent)
  }

  @Test(
    "gives a fault the same kind, whether Apple's codes or libcurl's tell of it",
    arguments: [
      (-1003, 6, "Could not resolve host: nowhere", .dns),
      (-1004, 7, "Couldn't connect to server", .connect),
      (-1005, 56, "Recv failure: Connection reset by peer", .reset),
      (-1200, 35, "OpenSSL/3.0.19: error:0A000410:SSL routines::sslv3 alert handshake failure", .tls(.handshake)),
      (-1202, 60, "SSL certificate problem: self-signed certificate", .tls(.untrusted)),
      (-1201, 60, "SSL certificate problem: certificate has expired", .tls(.expired)),
      (-1204, 60, "SSL certificate problem: certificate is not yet valid", .tls(.notYetValid)),
      (
        -1206, 56, "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required",
        .tls(.clientCertificate)
      ),
      (-1017, 8, "Invalid Content-Length: value", .protocol),
      (-1017, 23, "Failed writing received data to disk/application", .protocol),
      (-1017, 43, "Failed reading the chunked-encoded stream", .protocol),
      (-1016, 61, "Error while processing content unencoding", .protocol),
      (-1007, 47, "Maximum (8) redirects followed", .tooManyRedirects),
      (-999, 42, "Callback aborted", .cancelled),
      (-1021, 65, "necessary data rewind wasn't possible", .body),
      (-1103, 63, "Maximum file size exceeded", .tooLarge),
    ] as [(Int, Int, String, Kind)]
  )
  func pairs(urlError: Int, curl: Int, curlText: String, expected: Kind) {
    expectEqual(TransportVerdicts.kind(urlErrorCode: urlError, text: "as the system says it"), expected)
    expectEqual(TransportVerdicts.kind(curlCode: curl, text: curlText), expected)
  }

  @Test(
    "gives a fault the same kind where both transports have libcurl's words for it",
    arguments: [
      // Of libcurl before 7.87.
      (35, "OpenSSL SSL_connect: Connection reset by peer in connection to localhost:443 ", .reset),
      (35, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to localhost:443 ", .tls(.handshake)),
      (92, "Stream error in the HTTP/2 framing layer", .reset),
      (16, "Error in the HTTP2 framing layer", .reset),
    ] as [(Int, String, Kind)]
  )
  func sameWords(curl: Int, text: String, expected: Kind) {
    expectEqual(TransportVerdicts.kind(curlCode: curl, text: text), expected)
    expectEqual(TransportVerdicts.kind(urlErrorCode: -1, text: text), expected)
  }

  // libcurl keeps the words of the first thing that went wrong, and returns the code of the last.
  @Test(
    "believes the words of a lost connection more than what was read behind it",
    arguments: [
      "Send failure: Broken pipe", "Recv failure: Connection reset by peer",
    ]
  )
  func lostBefore(text: String) {
    expectEqual(TransportVerdicts.kind(urlErrorCode: -1002, text: text), .reset)
    for code in [23, 27, 43] { expectEqual(TransportVerdicts.kind(curlCode: code, text: text), .reset) }
  }

  @Test("knows all codes of a device without a network", arguments: [-1009, -1018, -1019, -1020])
  func offline(code: Int) {
    expectEqual(TransportVerdicts.kind(urlErrorCode: code, text: ""), .offline)
  }

  @Test("takes what could not be had for a lost connection: worth a retry, and no proof that nothing was sent")
  func unavailable() {
    let failure = TransportFailure(TransportVerdicts.kind(urlErrorCode: -1008, text: "resource unavailable"))
    #expect(failure.kind == .reset && failure.isTransient)
    #expect(!failure.provesNothingWasSent && !failure.provesNothingWasDone)
  }

  @Test("has no row that an earlier one hides")
  func reachableRows() {
    for rows in [TransportVerdicts.urlErrors, TransportVerdicts.curlCodes] {
      for (index, row) in rows.enumerated() {
        let hiding = rows[..<index].first {
          $0.code == row.code && ($0.words.map { (row.words ?? "").contains($0) } ?? true)
        }
        #expect(hiding == nil, "\(row) is hidden by \(String(describing: hiding))")
      }
    }
  }

  @Test("sees that a device is offline, save for the loopback interface")
  func refinement() throws {
    let offline = ManualReachability(.offline)
    let online = ManualReachability(.online)
    let url = try #require(URL(string: "http://example.org/"))
    let loopback = try ["http://localhost/", "http://127.0.0.1/", "http://[::1]/"].map { try #require(URL(string: $0)) }
    expectEqual(Kind.dns.refined(for: url, offline), .offline)
    expectEqual(Kind.connect.refined(for: url, offline), .offline)
    expectEqual(Kind.connect.refined(for: url, online), .connect)
    expectEqual(Kind.reset.refined(for: url, offline), .reset)
    expectEqual(Kind.tls(.handshake).refined(for: url, online), .reset)
    for url in loopback { expectEqual(Kind.connect.refined(for: url, offline), .connect) }
  }

  @Test(
    "blames the proxy for what happens before there is a way through it",
    arguments: [
      (5, 0, .proxy(.unreachable)), (7, 0, .proxy(.unreachable)), (6, 0, .proxy(.unreachable)),
      (52, 0, .proxy(.broken)),
      (56, 0, .proxy(.broken)), (1, 0, .proxy(.broken)), (56, 407, .proxy(.credentials)),
      (56, 502, .proxy(.refused(502))), (35, 200, .tls(.handshake)), (56, 200, .reset), (90, 200, .tls(.notPinned)),
      (42, 0, .cancelled),
    ] as [(Int, Int, Kind)]
  )
  func proxies(code: Int, tunnelStatus: Int, expected: Kind) {
    expectEqual(TransportVerdicts.kind(curlCode: code, text: "", tunnelStatus: tunnelStatus), expected)
  }
}
