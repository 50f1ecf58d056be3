import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("Hop")
struct HopTests {
  private let head = ResponseHead(status: 200, url: .service)
  private let exchange = IdleExchange()

  private static func make(into destination: (any BodyDestination)? = nil) -> Hop {
    var request = HTTPRequest(TransportRequest(.service))
    request.change { $0.destination = destination }
    return Hop(SentRequest(request, startedAt: .zero))
  }

  private static var chunks: ChunkDestination {
    ChunkDestination(.init(receive: { _ in .none }, end: { _ in }))
  }

  /// Begun, with what comes before the end of a good answer.
  private func gathering() -> Hop {
    var hop = Self.make()
    let goesOn = hop.begin(exchange)
    let response = hop.receive(.head(head), isFollowed: false)
    let pieces = ["one ", "two"].map { hop.receive(.chunk(Data($0.utf8)), isFollowed: false) }
    #expect(goesOn && response?.isResponse == true && pieces.allSatisfy { $0 == nil })
    return hop
  }

  @Test("gathers the pieces of an answer, and hands it out once, with nothing to stop")
  func gathers() {
    var hop = gathering()
    let answer = hop.receive(.finished, isFollowed: false)?.answer
    let again = hop.receive(.finished, isFollowed: false)
    expectEqual(answer?.head, head)
    expectEqual(answer?.body, Data("one two".utf8))
    #expect(answer?.stopped == nil)
    #expect(again == nil)
  }

  @Test("after the end nothing comes out, whichever end it was")
  func over() {
    var (finished, failed, redirected, cancelled) = (gathering(), gathering(), Self.make(), gathering())
    let steps = [
      finished.receive(.finished, isFollowed: false),
      failed.receive(.failed(TransportFailure(.reset)), isFollowed: false),
      redirected.receive(.head(head), isFollowed: true),
    ]
    #expect(steps.allSatisfy { $0 != nil })
    let stopped = cancelled.end()?.exchange
    #expect(stopped === exchange)
    let events: [TransportEvent] = [
      .sent(1), .head(head), .chunk(Data([1])), .finished, .failed(TransportFailure(.reset)),
    ]
    for var hop in [finished, failed, redirected, cancelled] {
      for event in events {
        let step = hop.receive(event, isFollowed: false)
        #expect(step == nil)
      }
      let (rest, goesOn) = (hop.end(), hop.begin(exchange))
      #expect(rest == nil)
      #expect(!goesOn)
    }
  }

  @Test("a redirect stops its exchange, and is kept for the next hop")
  func redirect() {
    var hop = Self.make()
    let goesOn = hop.begin(exchange)
    #expect(goesOn)
    guard case .follow(let to, let stopped) = hop.receive(.head(head), isFollowed: true) else {
      Issue.record("a redirect is to be followed")
      return
    }
    #expect(to == head && hop.redirect == head)
    #expect(stopped === exchange)
  }

  @Test("of a refusal as much is awaited as a failure keeps, where the body of a good answer would go elsewhere")
  func refusal() {
    var hop = Self.make(into: Self.chunks)
    let limit = NetworkFailure.bodyLimit
    let goesOn = hop.begin(exchange)
    let response = hop.receive(.head(head), isFollowed: false)
    let less = hop.receive(.chunk(Data(count: limit - 1)), isFollowed: false)
    let answer = hop.receive(.chunk(Data(count: 2)), isFollowed: false)?.answer
    #expect(goesOn && response?.isResponse == true && less == nil)
    expectEqual(answer?.body.count, limit)
    #expect(answer?.stopped === exchange)
  }

  @Test("an exchange waits for nobody but a body that goes elsewhere, and not after the end")
  func paced() {
    let destination = Self.chunks
    var hop = Self.make(into: destination)
    let goesOn = hop.begin(exchange)
    let before = hop.paced
    hop.handOn(to: destination)
    let during = hop.paced
    let rest = hop.end()
    #expect(goesOn && rest != nil)
    #expect(before == nil && hop.paced == nil)
    #expect(during === exchange)
  }
}

extension Hop.Step {
  fileprivate var isResponse: Bool { if case .respond = self { true } else { false } }

  fileprivate var answer: (head: ResponseHead?, body: Data, stopped: (any TransportExchange)?)? {
    if case .judge(let head, let body, let stopped) = self { (head, body, stopped) } else { nil }
  }
}

private final class IdleExchange: TransportExchange {
  func cancel() {}
  func pause() {}
  func resume() {}
}
