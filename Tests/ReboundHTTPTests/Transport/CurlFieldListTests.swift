import Expectations

#if Curl
  import CCurl
  import Testing

  @testable import ReboundHTTP

  @Suite("CurlFieldList")
  struct CurlFieldListTests {
    private static func lines(_ list: UnsafeMutablePointer<curl_slist>?) -> [String] {
      sequence(first: list) { $0?.pointee.next }
        .prefix { $0 != nil }
        .compactMap { $0?.pointee.data.map { String(cString: $0) } }
    }

    @Test("the fields are lines in their order, and lines follow; what was there before is gone")
    func order() {
      var fields = CurlFieldList()
      defer { fields.free() }
      for count in [3, 40, 0, 1] {
        let numbers = Array(0..<count)
        let headers = HTTPHeaders(numbers.map { .init("X-\($0)", String(repeating: "é", count: 10 * $0)) })
        let list = fields.set(headers, and: ["Expect:", "A: b"])
        let expected = numbers.map { "X-\($0)" + ($0 == 0 ? ";" : ": " + String(repeating: "é", count: 10 * $0)) }
        expectEqual(Self.lines(list), expected + ["Expect:", "A: b"])
      }
    }

    @Test("without fields and lines there is no list; what says where a body ends is left out")
    func none() {
      var fields = CurlFieldList()
      defer { fields.free() }
      #expect(fields.set([:], and: []) == nil)
      #expect(fields.set(["Content-Length": "5", "transfer-encoding": "chunked"], and: []) == nil)
      expectEqual(Self.lines(fields.set(["Content-Length": "5", "A": "b"], and: [])), ["A: b"])
    }
  }
#endif
