#if Curl
  import Foundation

  extension CurlTransport {
    /// Which proxy is asked for which host.
    ///
    /// An `http` address is asked of a proxy in full, and the proxy asks for it; an `https` address is reached through a
    /// tunnel (CONNECT), in which the proxy can read nothing.
    public struct Proxy: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
      private var http: CurlRoute = .direct
      private var https: CurlRoute = .direct
      private var exceptions = ProxyExceptions("")

      private init() {}

      /// None, whatever the environment says.
      public static let none = Proxy()

      /// What the environment's variables say, as for other programs; they are read now, and not again.
      ///
      /// `http_proxy` counts for `http`, `https_proxy` and `HTTPS_PROXY` for `https`, `all_proxy` and `ALL_PROXY` for
      /// whichever of them has none, `no_proxy` and `NO_PROXY` name what is asked directly (see
      /// ``server(_:port:credentials:except:)``). `HTTP_PROXY` does not count: in a CGI program, whoever asks it can set
      /// that by a field called Proxy. A proxy may be any that libcurl knows, `socks5h://` among them.
      ///
      /// - Parameter variables: The environment.
      public static func environment(
        _ variables: [String: String] = ProcessInfo.processInfo.environment
      ) -> Proxy {
        let value = { (names: [String]) in names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty } }
        let all = value(["all_proxy", "ALL_PROXY"])
        var proxy = Proxy()
        proxy.http = (value(["http_proxy"]) ?? all).map { CurlRoute(environment: $0) } ?? .direct
        proxy.https = (value(["https_proxy", "HTTPS_PROXY"]) ?? all).map { CurlRoute(environment: $0) } ?? .direct
        proxy.exceptions = ProxyExceptions(value(["no_proxy", "NO_PROXY"]) ?? "")
        return proxy
      }

      /// One HTTP proxy for all hosts but some.
      ///
      /// - Parameters:
      ///   - host: Its name or address.
      ///   - port: Its port.
      ///   - credentials: Sent to it unasked, by the Basic scheme.
      ///   - except: Hosts that are asked directly: a name stands for itself and for all below it, with or without a dot
      ///     before it; an address for itself, and with `/8` or the like for its network; `*` for all.
      /// - Throws: ``InvalidProxy`` if the host is none.
      public static func server(
        _ host: String,
        port: UInt16,
        credentials: ProxyCredentials? = nil,
        except: [String] = []
      ) throws(InvalidProxy) -> Proxy {
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        let text = "http://\(isAddress ? "[\(host)]" : host):\(port)"
        guard port > 0,
          !host.unicodeScalars.contains(where: { "/@?#".unicodeScalars.contains($0) || $0.properties.isWhitespace }),
          let name = CurlHost.name(in: text)
        else { throw InvalidProxy(host: host, port: port) }
        var proxy = Proxy()
        proxy.http = CurlRoute(text: text, host: name, shown: text, credentials: credentials)
        proxy.https = proxy.http
        proxy.exceptions = ProxyExceptions(except.joined(separator: ","))
        return proxy
      }

      /// Whether there is any; most programs have none.
      var isUsed: Bool { http.isProxied || https.isProxied }

      func route(to address: Address) -> CurlRoute {
        guard isUsed else { return .direct }
        let route = address.scheme == "https" ? https : http
        guard route.isProxied, let host = address.url.host, !exceptions.holds(host) else { return .direct }
        return route
      }

      /// The proxies, without credentials.
      public var description: String { http == https ? "\(http)" : "http: \(http), https: \(https)" }
      /// Shows no credentials either.
      public var customMirror: Mirror { Mirror(self, children: ["http": "\(http)", "https": "\(https)"]) }
    }

    /// What a proxy wants to see; never part of a description.
    public struct ProxyCredentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
      let user: String
      let password: String

      /// Makes credentials.
      ///
      /// - Parameters:
      ///   - user: The name.
      ///   - password: The password.
      public init(user: String, password: String) {
        self.user = user
        self.password = password
      }

      /// That there are some.
      public var description: String { "credentials" }
      /// Shows nothing.
      public var customMirror: Mirror { Mirror(self, children: []) }
    }
  }

  /// A proxy's host or port makes no sense.
  public struct InvalidProxy: Error, Hashable, Sendable, LocalizedError, CustomStringConvertible {
    /// What was given for the host.
    public let host: String
    /// What was given for the port.
    public let port: UInt16

    /// What is wrong, and what it should be.
    public var description: String {
      "'\(host)' with port \(port) is no proxy: give a name or address without scheme and path, and a port above 0"
    }

    /// What is wrong, and what it should be.
    public var errorDescription: String? { description }
  }

  /// The way to a host: directly, or by a proxy.
  struct CurlRoute: Hashable, Sendable, CustomStringConvertible {
    /// What libcurl is told; empty for none.
    let text: String
    /// The proxy's host, if it is known.
    let host: String?
    /// What may be shown.
    let shown: String
    let credentials: CurlTransport.ProxyCredentials?

    static let direct = CurlRoute(text: "", host: nil, shown: "none", credentials: nil)

    init(text: String, host: String?, shown: String, credentials: CurlTransport.ProxyCredentials?) {
      (self.text, self.host, self.shown, self.credentials) = (text, host, shown, credentials)
    }

    /// - Parameter text: As it stands in a variable: with or without a scheme and credentials.
    init(environment text: String) {
      // By bytes, as libcurl reads it, whatever marks stand behind them.
      let start = text.range(of: "://", options: .literal)?.upperBound ?? text.startIndex
      let at = text.utf8[start...].lastIndex(of: UInt8(ascii: "@"))
      let afterCredentials = at.map { text.utf8.index(after: $0) } ?? start
      let shown = text[..<start] + text[afterCredentials...]
      let withScheme = start == text.startIndex ? "http://\(shown)" : String(shown)
      self.init(text: text, host: URL(string: withScheme)?.host, shown: String(shown), credentials: nil)
    }

    var isProxied: Bool { !text.isEmpty }
    var description: String { shown }

    /// Leaves credentials out of what libcurl says: it quotes a proxy that it does not understand.
    func redacted(_ said: String) -> String {
      text == shown || text.isEmpty ? said : said.replacingOccurrences(of: text, with: shown, options: .literal)
    }
  }

  /// The hosts that are asked without a proxy.
  struct ProxyExceptions: Hashable, Sendable {
    private var isAll = false
    private var names: [String] = []
    private var networks: [Network] = []

    private struct Network: Hashable {
      let bytes: [UInt8]
      let bits: Int

      func holds(_ address: [UInt8]) -> Bool {
        guard address.count == bytes.count else { return false }
        return zip(address, bytes).enumerated().allSatisfy { index, pair in
          let counting = min(max(bits - index * 8, 0), 8)
          return (pair.0 ^ pair.1) >> (8 - counting) == 0
        }
      }
    }

    /// - Parameter list: Apart by commas or spaces.
    init(_ list: String) {
      for scalars in list.lowercased().unicodeScalars.split(whereSeparator: { $0 == "," || $0.properties.isWhitespace })
      {
        let entry = Substring(scalars)
        let parts = entry.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if entry == "*" {
          isAll = true
        } else if let bytes = ProxyExceptions.address(parts[0]) {
          let bits = parts.count == 2 ? ProxyExceptions.number(parts[1]) : bytes.count * 8
          if let bits, parts.count <= 2, (0...bytes.count * 8).contains(bits) {
            networks.append(Network(bytes: bytes, bits: bits))
          }
        } else {
          let name = ProxyExceptions.bare(entry.drop { $0 == "." })
          if !name.isEmpty { names.append(name) }
        }
      }
    }

    func holds(_ host: String) -> Bool {
      if isAll { return true }
      let name = ProxyExceptions.bare(host.lowercased()[...])
      if let address = ProxyExceptions.address(name) { return networks.contains { $0.holds(address) } }
      return names.contains { name == $0 || name.hasSuffix(".\($0)") }
    }

    private static func number(_ text: String) -> Int? {
      text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    private static func bare(_ name: Substring) -> String {
      String(name.hasSuffix(".") ? name.dropLast() : name)
    }

    /// The bytes of an address, 4 or 16 of them.
    private static func address(_ text: String) -> [UInt8]? {
      let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
      for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if inet_pton(family, text, &bytes) == 1 { return bytes }
      }
      return nil
    }
  }
#endif
