import Foundation
import Testing

@testable import WebServer

@Suite("Exchange")
struct ExchangeTests {
  private func receive(_ text: String, limit: Int, in exchange: Exchange) -> Bool {
    Data(text.utf8).withUnsafeBytes { exchange.receive($0, limit: limit) }
  }

  @Test("a body is put together from its parts, up to the limit")
  func body() {
    let exchange = Exchange(target: "/")
    #expect(exchange.beginBody())
    #expect(!exchange.beginBody())
    #expect(receive("123", limit: 5, in: exchange))
    #expect(receive("45", limit: 5, in: exchange))
    guard case .handle(let body) = exchange.nextStep() else {
      Issue.record("a complete request isn't handled")
      return
    }
    #expect(body == Data("12345".utf8))
    #expect(!receive("6", limit: 5, in: exchange))
  }

  @Test("an abandoned exchange closes its connection, and isn't suspended any more")
  func abandoned() {
    let exchange = Exchange(target: "/")
    _ = exchange.beginBody()
    exchange.abandon()
    var memory = 0
    let unused = withUnsafeMutablePointer(to: &memory) { ForeignPointer(pointer: OpaquePointer($0)) }
    #expect(!exchange.suspend(unused))
    guard case .closeConnection = exchange.nextStep() else {
      Issue.record("an abandoned exchange goes on")
      return
    }
  }

  @Test("an answer that nobody waits for is let go of: its stream ends")
  func lateAnswer() {
    let exchange = Exchange(target: "/")
    exchange.end()
    let stream = EventStream()
    exchange.answer(.events(stream))
    #expect(stream.isClosed)
  }
}
