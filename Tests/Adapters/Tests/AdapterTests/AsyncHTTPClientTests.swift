import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Rebound
import ReboundAsyncHTTPClient
import ReboundHTTP
import ReboundHTTPTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientTests {
  /// The stand-in has a connection for each request, and neither TLS nor codings.
  @Test func everyPromiseOfATransportIsKept() async throws {
    let contract = TransportContract(lacking: [.connectionReuse, .contentCodings, .tls, .connectLimit]) {
      AsyncHTTPClientTransport(time: $0, reachability: $1)
    }
    let coverage = try await contract.verify()
    #expect(coverage.gaps.allSatisfy { $0.reason.hasPrefix("it lacks ") }, "\(coverage)")
  }

  @Test func redirectsAreNotFollowedAndConnectionsNotTriedAgainWhateverTheConfigurationSays() async throws {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
    configuration.connectionPool.retryConnectionEstablishment = true
    let transport = AsyncHTTPClientTransport(configuration: configuration)
    let server = try MisbehavingServer()
    server.program("/", .redirect(to: "/elsewhere"))
    let log = TransportLog()
    let exchange = transport.start(TransportRequest(server.url("/")), telling: log.add)
    await log.end()
    #expect(log.heads.map(\.status) == [302])
    #expect(log.heads.first?.httpVersion == "HTTP/1.1")
    exchange.cancel()
    server.stop()
  }

  @Test func theClientTracesNothingByItselfWhateverTheConfigurationSays() async throws {
    let tracer = RecordingTracer()
    var configuration = HTTPClient.Configuration()
    configuration.tracing.tracer = tracer
    let transport = AsyncHTTPClientTransport(configuration: configuration)
    let server = try MisbehavingServer()
    server.program("/", .closeAfterAnswer)
    let log = TransportLog()
    let exchange = transport.start(TransportRequest(server.url("/")), telling: log.add)
    await log.end()
    #expect(log.heads.map(\.status) == [200])
    #expect(tracer.spans.isEmpty)
    #expect(server.requests.map { $0[field: "trace"] } == [nil])
    exchange.cancel()
    server.stop()
  }

  typealias Verdict = (error: any Error, kind: TransportFailure.Kind, isUnsent: Bool)

  @Test(
    arguments: [
      (HTTPClientError.connectTimeout, .timeout(.connect), true), (HTTPClientError.readTimeout, .timeout(.idle), false),
      (HTTPClientError.deadlineExceeded, .timeout(.total), false),
      (HTTPClientError.remoteConnectionClosed, .reset, false), (HTTPClientError.cancelled, .cancelled, false),
      (SocketAddressError.unknown(host: "a.example", port: 443), .dns, true),
      (IOError(errnoCode: ECONNRESET, reason: "read(descriptor:pointer:size:)"), .reset, false),
      (IOError(errnoCode: EPIPE, reason: "write(descriptor:pointer:size:)"), .reset, false),
      (IOError(errnoCode: EHOSTUNREACH, reason: "read(descriptor:pointer:size:)"), .connect, false),
      (HTTPParserError.invalidEOFState, .reset, false), (HTTPParserError.invalidChunkSize, .protocol, false),
    ] as [Verdict]
  )
  func eachErrorHasOneVerdictAndNothingWasSentWhereNoConnectionWasMade(verdict: Verdict) throws {
    let failure = try #require(TransportFailure(classifying: verdict.error))
    #expect(failure.kind == verdict.kind)
    #expect(failure.provesNothingWasSent == verdict.isUnsent)
    #expect(failure.underlying.map { type(of: $0) == type(of: verdict.error) } == true)
  }

  @Test func whatSaysNothingAboutTheNetworkHasNoVerdict() {
    #expect(TransportFailure(classifying: HTTPClientError.invalidURL) == nil)
    #expect(TransportFailure(classifying: IOError(errnoCode: EMFILE, reason: "socket")) == nil)
  }
}
