#if Curl
  import Foundation
  import ReboundHTTP
  import Testing

  /// The code of Sources/ReboundHTTP/ReboundHTTP.docc/TLS-and-proxies.md, as it stands there.
  @Suite("The code of the article on TLS and proxies")
  struct TLSAndProxiesArticleTests {
    @Test("a transport is held to pins and asks a proxy")
    func configuration() throws {
      var configuration = CurlTransport.Configuration()
      configuration.pinnedHosts = [
        try .init(
          "api.example",
          includesSubdomains: true,
          pins: [
            PublicKeyPin("d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="),
            PublicKeyPin("E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="),  // of the key in reserve
          ]
        )
      ]
      configuration.proxy = try .server(
        "proxy.example",
        port: 3128,
        credentials: .init(user: "app", password: "from the keychain"),
        except: ["localhost", "internal.example", "10.0.0.0/8"]
      )
      let client = WebAPIClient(
        baseURL: URL(string: "https://api.example"),
        transport: CurlTransport(configuration)
      )
      #expect(client.baseURL?.host == configuration.pinnedHosts.first?.host)
      #expect(configuration.proxy.description == "http://proxy.example:3128")
    }
  }
#endif
