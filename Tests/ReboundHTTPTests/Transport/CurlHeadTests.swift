import Expectations

#if Curl
  import Foundation
  import Testing

  @testable import ReboundHTTP

  @Suite("CurlHead")
  struct CurlHeadTests {
    private static func head(
      _ lines: [String],
      remembering memory: inout CurlHeadTable
    ) throws -> ResponseHead? {
      let url = try #require(URL(string: "https://api.example"))
      var head = CurlHead()
      return lines.compactMap { line in
        Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0, from: Address(url), remembering: &memory) }
      }.first
    }

    private static func head(_ lines: String...) throws -> ResponseHead? {
      var memory = CurlHeadTable()
      return try head(lines, remembering: &memory)
    }

    private static func fields(_ head: ResponseHead?) -> [[String]]? { head?.headers.map { [$0.name, $0.value] } }

    @Test("a folded value is one value, its lines apart by a space")
    func folded() throws {
      let head = try Self.head("HTTP/1.1 200 OK", "A: b", " c ", "\t\td", " ", "B: e", "")
      expectEqual(Self.fields(head), [["A", "b c d "], ["B", "e"]])
    }

    @Test("a folded line before all fields, and one without a colon, are passed over")
    func odd() throws {
      let head = try Self.head(" x", "HTTP/1.1 404", " y", "z", ":", "")
      expectEqual(head?.status, 404)
      expectEqual(Self.fields(head), [["", ""]])
    }

    @Test("whatever the handle's answers before said, a head says what its own lines do")
    func remembered() throws {
      let long = "L: \(String(repeating: "x", count: 300))"
      let heads = [
        ["HTTP/1.1 200 OK", "A: 1", "B: 2", "C: 3", ""],
        ["HTTP/1.1 200 OK", "A: 1", "B: 2", "C: 3", ""],
        ["HTTP/1.1 200 OK", "A: 1", "B: 3", "C: 3", ""],
        ["HTTP/1.1 404 Not Found", "A: 1", "B: 3", ""],
        ["HTTP/2 404", "A: 1", ""],
        ["HTTP/1.1 200 OK", "A: 1", "B: 2", "C: 3", "D: 4", ""],
        ["HTTP/1.1 200 OK", "A: 1", "B: 2", " and more", "C: 3", ""],
        ["HTTP/1.1 200 OK", "A: 1", "B: 2", "C: 3", ""],
        ["HTTP/1.1 200 OK", "A: 1", "B: 2", "no field", "C: 3", " folded", ""],
        ["HTTP/1.1 100 Continue", "A: 2", "", "HTTP/1.1 200 OK", "A: 1", "C: 3", ""],
        ["HTTP/1.1 200 OK", "A: 1", long, "C: 3", ""],
        // One that breaks off, and one that is longer than what is remembered.
        ["HTTP/1.1 500 Failed", "A: 9", "B: 9"],
        // Hints that say what the answer says.
        ["HTTP/1.1 103 Early Hints", "A: 9", "", "HTTP/1.1 200 OK", "A: 9", "C: 3", ""],
        // Some without a first line, or before it.
        ["A: 1", "B: 2", ""], ["A: 1", "HTTP/1.1 200 OK", "A: 1", "C: 3", ""],
        ["HTTP/1.1 200 OK"] + (1...80).map { "N\($0): \($0)" } + [""],
        ["HTTP/1.1 200 OK", ""],
      ]
      for first in heads {
        for second in heads {
          for third in heads {
            var memory = CurlHeadTable()
            _ = try Self.head(first, remembering: &memory)
            let before = try Self.head(second, remembering: &memory)
            let copy = Self.fields(before)
            var nothing = CurlHeadTable()
            let expected = try Self.head(third, remembering: &nothing)
            let head = try Self.head(third, remembering: &memory)
            expectEqual(head, expected, "\(third) behind \(first) and \(second)")
            expectEqual(Self.fields(before), copy, "\(second) before \(third)")
          }
        }
      }
    }
  }
#endif
