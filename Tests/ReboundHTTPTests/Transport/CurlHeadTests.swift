import Expectations

#if Curl
  import Foundation
  import Testing

  @testable import ReboundHTTP

  @Suite("CurlHead")
  struct CurlHeadTests {
    private static func head(_ lines: String...) throws -> ResponseHead? {
      let url = try #require(URL(string: "https://api.example"))
      var head = CurlHead()
      return lines.compactMap { line in Array(line.utf8).withUnsafeBytes { head.take($0, from: url) } }.first
    }

    @Test("a folded value is one value, its lines apart by a space")
    func folded() throws {
      let head = try Self.head("HTTP/1.1 200 OK\r\n", "A: b\r\n", " c \r\n", "\t\td\r\n", " \r\n", "B: e\r\n", "\r\n")
      expectEqual(head?.headers.map { [$0.name, $0.value] }, [["A", "b c d "], ["B", "e"]])
    }

    @Test("a folded line before all fields, and one without a colon, are passed over")
    func odd() throws {
      let head = try Self.head(" x\r\n", "HTTP/1.1 404\r\n", " y\r\n", "z\r\n", ":\r\n", "\r\n")
      expectEqual(head?.status, 404)
      expectEqual(head?.headers.map { [$0.name, $0.value] }, [["", ""]])
    }
  }
#endif
