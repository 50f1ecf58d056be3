#if Curl
  import Foundation

  extension CurlTransport {
    /// What a transport is held to; fixed for its life.
    ///
    ///     var configuration = CurlTransport.Configuration()
    ///     configuration.pinnedHosts = [try .init("api.example", pins: [current, reserve])]
    ///     let transport = CurlTransport(configuration)
    public struct Configuration: Hashable, Sendable {
      /// How many requests to one host may be under way at once; further ones wait for one to end.
      ///
      /// With HTTP/2 they share a connection, with HTTP/1.1 each has one of its own.
      public var maxRequestsPerHost = 16
      /// Who may vouch for servers.
      public var certificateAuthorities = CertificateAuthorities.system
      /// What shows servers who asks.
      public var clientCertificate: ClientCertificate?
      /// Hosts whose keys are known.
      ///
      /// A pin is asked for beside all else that makes a certificate good. If it does not fit, the request fails with
      /// ``TransportFailure/TLSReason/notPinned`` before any of it is sent, and nothing tries again without the pin. An
      /// `http` address of such a host fails in the same way. If several name a host, those of the longest name count.
      public var pinnedHosts: [PinnedHost] = []
      /// Which proxy is asked for which host.
      public var proxy = Proxy.environment()

      /// The usual: what the system trusts, no pins, and the environment's proxies.
      public init() {}
    }
  }

  /// A configuration as the loop's thread uses it.
  final class CurlOptions: Sendable {
    let certificateAuthorities: CurlTransport.CertificateAuthorities
    let clientCertificate: CurlTransport.ClientCertificate?
    let pins: CurlPins
    let proxy: CurlTransport.Proxy

    init(_ configuration: CurlTransport.Configuration) {
      certificateAuthorities = configuration.certificateAuthorities
      clientCertificate = configuration.clientCertificate
      pins = CurlPins(configuration.pinnedHosts)
      proxy = configuration.proxy
    }
  }
#endif
