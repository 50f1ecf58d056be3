import Expectations

#if Curl
  import Testing

  @testable import ReboundHTTP

  @Suite("What libcurl logs about a stream of HTTP/2")
  struct CurlStreamTests {
    private static func note(_ line: String) -> CurlNote? {
      Array(line.utf8).withUnsafeBytes { CurlNote($0) }
    }

    private static func connection(_ port: Int32) -> CurlConnection {
      CurlConnection("127.0.0.1", 443, "127.0.0.1", port)
    }

    @Test(
      "is read off libcurl's own words, and off no others",
      arguments: [
        ("REFUSED_STREAM, retrying a fresh connect\n", .refused),
        ("Using Stream ID: 13 (easy handle 0x55d973875210)\n", .stream(13)),
        ("recveived GOAWAY, error=0, last_stream=7\n", .goAway(lastStream: 7)),
        ("received GOAWAY, error=2, last_stream=2147483647\n", .goAway(lastStream: 2_147_483_647)),
        ("Connection died, retrying a fresh connect (retry count: 1)\n", nil), ("Using Stream ID: x\n", nil),
        ("received GOAWAY, error=2\n", nil), ("h2h3 [x: REFUSED_STREAM, retrying a fresh connect]\n", nil), ("", nil),
      ] as [(String, CurlNote?)]
    )
    func notes(line: String, note: CurlNote?) {
      expectEqual(Self.note(line), note)
    }

    @Test("a stream that was refused, or is behind the last that a server looks at, was not processed")
    func unprocessed() {
      var stream = CurlStream(Self.connection(1))
      #expect(!stream.isUnprocessed)
      stream.take(.goAway(lastStream: 0))
      #expect(!stream.isUnprocessed, "whose number is not known yet")
      stream.take(.stream(5))
      stream.take(.goAway(lastStream: 5))
      #expect(!stream.isUnprocessed)
      stream.take(.goAway(lastStream: 3))
      #expect(stream.isUnprocessed)
      stream = CurlStream(Self.connection(1))
      stream.take(.refused)
      #expect(stream.isUnprocessed)
    }

    @Test("connections are told apart by both their ends")
    func connections() {
      expectEqual(Self.connection(1), Self.connection(1))
      #expect(Self.connection(1) != Self.connection(2))
      #expect(CurlConnection(nil, 0, nil, 0) != Self.connection(1))
    }
  }
#endif
