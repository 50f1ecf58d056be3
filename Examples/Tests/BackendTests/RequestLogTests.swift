import Testing

@testable import Backend

@Suite("RequestLog")
struct RequestLogTests {
  @Test("the latest 200 requests are kept, the oldest first")
  func bounded() {
    var log = RequestLog()
    for number in 1...201 {
      log.add(.init(method: "GET", target: "/\(number)", status: 200, fault: nil, milliseconds: number))
    }
    #expect(log.entries.count == 200)
    #expect(log.entries.first?.target == "/2")
    #expect(log.entries.last?.target == "/201")
  }
}
