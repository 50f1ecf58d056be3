#if Curl
  import Foundation

  /// Names one public key that a server may have: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
  ///
  ///     let pin = try PublicKeyPin("d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")
  ///
  /// A pin outlives the certificate as long as the key is kept. OpenSSL tells it of a certificate:
  ///
  /// ```text
  /// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der \
  ///   | openssl dgst -sha256 -binary | openssl base64
  /// ```
  ///
  /// Pins are kept by ``CurlTransport`` alone, which is why this type comes with its trait: on Linux, Foundation's
  /// URLSession asks nobody about a server's certificate, so there is nothing that could keep them there.
  public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// The hash in base64, 44 characters.
    public let base64: String

    /// Reads a pin.
    ///
    /// - Parameter text: The hash in base64, alone or behind `sha256/` or `sha256//`, as tools write it.
    /// - Throws: ``InvalidPin/malformed(_:)`` unless it is the base64 of 32 bytes.
    public init(_ text: String) throws(InvalidPin) {
      let prefix = ["sha256//", "sha256/"].first { text.hasPrefix($0) } ?? ""
      let hash = String(text.dropFirst(prefix.count))
      // Written anew, since libcurl compares characters: bits that are left over at the end must be zero.
      guard let bytes = Data(base64Encoded: hash), bytes.count == 32, bytes.base64EncodedString() == hash else {
        throw .malformed(text)
      }
      base64 = hash
    }

    /// The pin as libcurl and other tools write it.
    public var description: String { "sha256//\(base64)" }
  }

  /// Why pins make no sense.
  public enum InvalidPin: Error, Hashable, Sendable {
    /// It is not the base64 of a SHA-256.
    case malformed(String)
    /// It is not the name or address of a host: "api.example", without scheme, port and path, in ASCII.
    case host(String)
    /// No pin was given for the host, so that no server could ever be right.
    case noPins(host: String)
  }

  extension InvalidPin: LocalizedError, CustomStringConvertible {
    /// What is wrong, and what it should be.
    public var description: String {
      switch self {
      case .malformed(let text):
        "'\(text)' is no pin: it should be the SHA-256 of a SubjectPublicKeyInfo in base64, 44 characters"
      case .host(let text):
        "'\(text)' is no host to pin: it should be a name in ASCII or an address, without scheme, port and path"
      case .noPins(let host):
        "no pin was given for \(host): give the one of its key, and better a second one of a key in reserve"
      }
    }

    /// What is wrong, and what it should be.
    public var errorDescription: String? { description }
  }

  extension CurlTransport {
    /// The keys that a host may have.
    ///
    ///     try CurlTransport.PinnedHost("api.example", pins: [PublicKeyPin("d6qz…"), PublicKeyPin("E9CZ…")])
    ///
    /// Give at least two, one of them of a key that is kept in reserve (RFC 7469 §4.3): with one, a server whose key is
    /// lost cannot be reached until the program is replaced.
    public struct PinnedHost: Hashable, Sendable {
      /// The name or address, in lower case.
      public let host: String
      /// Whether the hosts below it, at any depth, are held to the same pins.
      public let includesSubdomains: Bool
      /// Any of these will do.
      public let pins: [PublicKeyPin]

      /// Pins a host.
      ///
      /// - Parameters:
      ///   - host: Its name in ASCII, or its address; a port makes no difference to pins.
      ///   - includesSubdomains: Whether the hosts below it are held to the same pins.
      ///   - pins: One at least; any of them will do.
      /// - Throws: ``InvalidPin`` if the host is none, or there is no pin.
      public init(_ host: String, includesSubdomains: Bool = false, pins: [PublicKeyPin]) throws(InvalidPin) {
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        let written = isAddress ? "[\(host)]" : host
        guard !written.isEmpty, written.utf8.allSatisfy(PinnedHost.isOfHost),
          let name = CurlHost.name(in: "https://\(written)/")
        else { throw .host(host) }
        guard !pins.isEmpty else { throw .noPins(host: host) }
        self.host = name
        self.includesSubdomains = includesSubdomains
        self.pins = pins
      }

      private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-._[:]".utf8.contains(byte)
        }
      }

      fileprivate func holds(_ name: String) -> Bool {
        name == host || includesSubdomains && name.hasSuffix(".\(host)")
      }
    }
  }

  /// Finds the pins for a request.
  struct CurlPins: Sendable {
    enum Finding: Hashable {
      /// No pins are known for the host: what the system trusts will do.
      case free
      /// What to tell libcurl.
      case pinned(String)
      /// It must not be sent, for this reason.
      case refused(String)
    }

    private let hosts: [CurlTransport.PinnedHost]

    init(_ hosts: [CurlTransport.PinnedHost]) {
      self.hosts = hosts
    }

    var isEmpty: Bool { hosts.isEmpty }

    /// Whoever names the host most closely decides; who names it as closely adds to that.
    func finding(for url: URL) -> Finding {
      guard !hosts.isEmpty else { return .free }
      // The parser that decides which host is asked must also decide whose pins count.
      guard let name = CurlHost.name(in: url.absoluteString) else {
        return .refused("the host in the address cannot be compared with those that have pins")
      }
      let holding = hosts.filter { $0.holds(name) }
      guard let longest = holding.map(\.host.count).max() else { return .free }
      guard url.scheme?.lowercased() == "https" else {
        return .refused("\(name) has pins, so it is asked over https only")
      }
      let pins = holding.filter { $0.host.count == longest }.flatMap(\.pins)
      return .pinned(pins.map(\.description).joined(separator: ";"))
    }
  }
#endif
