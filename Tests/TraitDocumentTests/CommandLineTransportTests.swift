#if Curl
  import ReboundHTTP
  import Testing

  /// The code of Sources/ReboundHTTP/ReboundHTTP.docc/A-command-line-tool.md on its transport, as it stands there.
  @Suite("The transport of the article about a command-line tool")
  struct CommandLineTransportTests {
    @Test("is libcurl's on Linux, and the system's elsewhere")
    func transport() {
      #if os(Linux)
        let transport = CurlTransport()
      #else
        let transport = URLSessionTransport()
      #endif
      let isOverCurl = (transport as any Transport) is CurlTransport
      #if os(Linux)
        #expect(isOverCurl)
      #else
        #expect(!isOverCurl)
      #endif
    }
  }
#endif
