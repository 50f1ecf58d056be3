import Expectations

#if Curl
  import Foundation
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  @testable import ReboundHTTP

  @Suite("Proxies over libcurl", .timeLimit(.minutes(10)))
  struct CurlProxyTests {
    typealias Proxy = CurlTransport.Proxy

    static func transport(
      _ proxy: Proxy,
      reachability: any Reachability = ManualReachability()
    ) throws -> CurlTransport {
      var configuration = try CurlTransport.Configuration.trustingTests()
      configuration.proxy = proxy
      return CurlTransport(configuration, reachability: reachability)
    }

    static func verdict(_ log: TransportLog) -> FaultCase.Verdict? {
      log.failure.map { .failure($0.kind) } ?? log.heads.first.map { .answer($0.status) }
    }

    @Test(
      "credentials of a proxy are not shown, whatever marks follow them",
      arguments: ["http://me:s3cret@\u{301}proxy.example:1", "me:s3cret@\u{FE0F}", "http://\u{301}me:s3cret@a"]
    )
    func credentialsWithMarks(text: String) throws {
      let proxy = Proxy.environment(["https_proxy": text])
      #expect(!"\(proxy)".contains("s3cret"))
      let url = try #require(URL(string: "https://api.example"))
      #expect(!proxy.route(to: Address(url)).redacted("no proxy: \(text)").contains("s3cret"))
    }

    @Test("what a proxy does has the verdict of the table", arguments: ProxyCase.all, ["http", "https"])
    func verdicts(proxyCase: ProxyCase, scheme: String) async throws {
      let plain = try MisbehavingServer()
      plain.program("/", .answer())
      let secure = try await NginxServer.start()
      let refusing = try RefusingPort()
      let proxy = try proxyCase.behaviour.map { try ForwardProxy($0) }
      let port = proxy?.port ?? refusing.port
      let transport = try Self.transport(.server("127.0.0.1", port: port))
      let log = await transport.outcome(of: scheme == "http" ? plain.url() : try secure.url())
      expectEqual(Self.verdict(log)?.description, (scheme == "http" ? proxyCase.http : proxyCase.https).description)
      if case .failure(let failure) = Self.verdict(log), case .proxy = failure {
        expectEqual(log.failure?.provesNothingWasSent, true)
        #expect(log.failure?.detail?.hasPrefix("proxy http://127.0.0.1:\(port)") == true)
      }
      let isServed = scheme == "http" ? proxyCase.http == .answer(200) : proxyCase.https == .answer(200)
      expectEqual(plain.requests.count, scheme == "http" && isServed ? 1 : 0)
    }

    @Test("an http address is asked of the proxy in full, and an https address by a tunnel to its host")
    func forms() async throws {
      let (plain, secure, proxy) = (try MisbehavingServer(), try await NginxServer.start(), try ForwardProxy())
      plain.program("/", .answer())
      let transport = try Self.transport(.server("127.0.0.1", port: proxy.port))
      let request = TransportRequest(plain.url("/?q=1"), method: .post, body: .data(Data("order".utf8)))
      await expectEqual(transport.outcome(of: request).heads.first?.status, 200)
      await expectEqual(transport.outcome(of: try secure.url()).heads.first?.httpVersion, "HTTP/2")
      let targets = proxy.requests.map { "\($0.method) \($0.target)" }
      expectEqual(targets, ["POST \(plain.url("/?q=1"))", "CONNECT 127.0.0.1:\(secure.port)"])
      expectEqual(plain.requests.first?.body, Array("order".utf8))
      #expect(plain.requests.first?[field: "Via"] != nil)
    }

    @Test("credentials go to the proxy alone", arguments: ["http", "https"])
    func credentials(scheme: String) async throws {
      let (plain, secure, proxy) = (
        try MisbehavingServer(), try await NginxServer.start(), try ForwardProxy(.demand("ali:Sesam"))
      )
      plain.program("/", .answer())
      let credentials = CurlTransport.ProxyCredentials(user: "ali", password: "Sesam")
      let transport = try Self.transport(.server("localhost", port: proxy.port, credentials: credentials))
      let log = await transport.outcome(of: scheme == "http" ? plain.url() : try secure.url())
      expectEqual(log.heads.first?.status, 200)
      #expect(plain.requests.allSatisfy { $0[field: "Proxy-Authorization"] == nil })
    }

    @Test("credentials are in no description and in no failure")
    func redaction() async throws {
      let credentials = CurlTransport.ProxyCredentials(user: "ali", password: "Sesam")
      let refusing = try RefusingPort()
      var proxies = [try Proxy.server("127.0.0.1", port: refusing.port, credentials: credentials)]
      // The second is one that libcurl does not understand, and quotes.
      for text in ["http://ali:Sesam@127.0.0.1:\(refusing.port)", "odd://ali:Sesam@127.0.0.1:1", "ali:Sesam@[:1"] {
        proxies.append(.environment(["all_proxy": text]))
      }
      let url = try #require(URL(string: "http://127.0.0.1:\(refusing.port)/"))
      for proxy in proxies {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = proxy
        var dumped = ""
        dump(configuration, to: &dumped)
        let failure = try #require(await CurlTransport(configuration).outcome(of: url).failure)
        let reported = NetworkFailure(.transport(failure.kind), underlying: failure)
        let texts = "\(proxy) \(configuration) \(String(reflecting: configuration)) \(dumped) \(failure) \(reported)"
        #expect(!texts.contains("Sesam"))
        #expect(!String(describing: failure.underlying).contains("Sesam"))
      }
    }

    @Test("hosts on the list are asked directly")
    func exceptions() async throws {
      let (plain, proxy) = (try MisbehavingServer(), try ForwardProxy())
      plain.program("/", .answer())
      let transport = try Self.transport(.server("127.0.0.1", port: proxy.port, except: ["localhost"]))
      for host in ["localhost", "127.0.0.1"] {
        await expectEqual(transport.outcome(of: plain.url(host: host)).heads.first?.status, 200)
      }
      expectEqual(proxy.requests.map(\.target), ["\(plain.url())"])
      expectEqual(plain.requests.count, 2)
    }

    @Test(
      "a list of exceptions holds names with all below them, addresses and networks",
      arguments: [
        ("example.org", "example.org", true), ("example.org", "a.b.example.org", true),
        ("example.org", "notexample.org", false), (".example.org", "example.org", true),
        ("a.example.org", "example.org", false), ("Example.ORG.", "EXAMPLE.org", true), ("*", "anything", true),
        ("*.example.org", "a.example.org", false), ("one, two\tthree", "two", true), ("one,two three", "three", true),
        ("", "example.org", false), ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "1.127.0.0.1", false),
        ("0.0.1", "127.0.0.1", false), ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.1.0.0/12", "10.15.0.1", true), ("10.1.0.0/12", "10.16.0.1", false), ("0.0.0.0/0", "1.2.3.4", true),
        ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/x", "10.0.0.0", false), ("::1", "[::1]", true),
        ("[::1]", "::1", true), ("fe80::/10", "fe80::1", true), ("fe80::/10", "fec0::1", false),
        ("fe80::/10", "10.0.0.1", false),
      ]
    )
    func matching(list: String, host: String, expected: Bool) {
      expectEqual(ProxyExceptions(list).holds(host), expected)
    }

    @Test(
      "the environment names proxies by scheme, in lower case before upper case",
      arguments: [
        ([:], "none", "none"),
        (["http_proxy": "http://a:1"], "http://a:1", "none"),
        (["HTTP_PROXY": "http://a:1"], "none", "none"),
        (["https_proxy": "b:2", "HTTPS_PROXY": "c:3"], "none", "b:2"),
        (["HTTPS_PROXY": "c:3"], "none", "c:3"),
        (["all_proxy": "socks5h://d:4", "http_proxy": "a:1"], "a:1", "socks5h://d:4"),
        (["ALL_PROXY": "d:4", "https_proxy": ""], "d:4", "d:4"),
        (["http_proxy": "http://u:p@a:1"], "http://a:1", "none"),
        (["all_proxy": "d:4", "no_proxy": "*"], "none", "none"),
        (["all_proxy": "d:4", "NO_PROXY": "example.org"], "none", "none"),
        (["all_proxy": "d:4", "no_proxy": "other.org", "NO_PROXY": "example.org"], "d:4", "d:4"),
      ] as [([String: String], String, String)]
    )
    func environment(variables: [String: String], http: String, https: String) throws {
      let proxy = Proxy.environment(variables)
      #expect("\(proxy.route(to: Address(try #require(URL(string: "http://example.org/")))))" == http)
      #expect("\(proxy.route(to: Address(try #require(URL(string: "https://example.org/")))))" == https)
    }

    @Test("a transport follows the process's environment unless it is told otherwise")
    func processEnvironment() {
      expectEqual(CurlTransport.Configuration().proxy, .environment(ProcessInfo.processInfo.environment))
    }

    @Test("a proxy of the environment gets the credentials in its address", arguments: ["http://", ""])
    func environmentInUse(scheme: String) async throws {
      let (plain, proxy) = (try MisbehavingServer(), try ForwardProxy(.demand("ali:Sesam")))
      plain.program("/", .answer())
      let variables = ["http_proxy": "\(scheme)ali:Sesam@127.0.0.1:\(proxy.port)", "no_proxy": "localhost"]
      let transport = try Self.transport(.environment(variables))
      for host in ["127.0.0.1", "localhost"] {
        await expectEqual(transport.outcome(of: plain.url(host: host)).heads.first?.status, 200)
      }
      expectEqual(proxy.requests.map(\.target), ["\(plain.url())"])
    }

    @Test("a proxy that a device without a network cannot reach is no fault of the proxy's")
    func offline() async throws {
      let url = try #require(URL(string: "http://example.org/"))
      for (host, expected) in [("proxy.invalid", TransportFailure.Kind.offline), ("localhost", .proxy(.unreachable))] {
        let port = try RefusingPort()
        let proxy = try Proxy.server(host, port: port.port)
        let log = try await Self.transport(proxy, reachability: ManualReachability(.offline)).outcome(of: url)
        expectEqual(log.failure?.kind, expected)
      }
    }

    @Test(
      "a proxy that is none is refused when it is made",
      arguments: [("", 1), ("http://proxy", 1), ("proxy/", 1), ("u:p@proxy", 1), ("two words", 1), ("proxy", 0)]
        as [(String, UInt16)]
    )
    func invalid(host: String, port: UInt16) {
      #expect(throws: InvalidProxy(host: host, port: port)) { try Proxy.server(host, port: port) }
    }

    @Test("an address of six is a proxy, with brackets and without", arguments: ["::1", "[::1]"])
    func sixes(host: String) throws {
      #expect(try Proxy.server(host, port: 3128).description == "http://[::1]:3128")
    }
  }
#endif
