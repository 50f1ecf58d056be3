import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("CallContext")
struct CallContextTests {
  private let test = ClientUnderTest([])

  @Test("what nobody watches is not even made; a watcher is told it once")
  func unwatched() {
    var count = 0
    let event = { () -> HTTPEvent.Kind in
      count += 1
      return .cancelled
    }
    let request = RequestParts(Anything(), Anything().parser)
    test.client.context(for: request, nil).tell(event())
    expectEqual(count, 0)
    test.client.context(for: request, test.log.write).tell(event())
    #expect(count == 1 && test.log.events.count == 1)
  }

  @Test("another call of the same request has an id and failures of its own, and the same watcher and user")
  func another() throws {
    let user = User()
    user.name = "ada"
    let client = test.client.identifying { user.name }
    let request = RequestParts(Anything(), Anything().parser)
    let context = client.context(for: request, test.log.write)
    user.name = "bob"
    context.keep(NetworkFailure(.noData))
    test.scheduler.advance(by: 5)
    let other = context.another
    other.tell(.cancelled)
    #expect(other.id != context.id)
    expectEqual(other.identity, "ada")
    #expect(other.earlier.isEmpty)
    expectEqual(test.log.events.map(\.requestID), [other.id])
    expectEqual(test.log.events.map(\.elapsed), [.zero])
    #expect(client.context(for: request, nil).another.watched == nil)
    let deadline = Deadline(in: .seconds(1), on: test.scheduler.time)
    let unsent = HTTPRequest(TransportRequest(.service), id: "mine", deadline: deadline)
    expectEqual(unsent.inAnotherCall.id, "mine")
    #expect(unsent.inAnotherCall.deadline == nil)
  }

  @Test(
    "it remembers where all attempts have gone with what is not safe, and behind which redirects a server has acted"
  )
  func sideEffects() throws {
    let context = test.client.context(for: RequestParts(Anything(), Anything().parser), nil)
    let redirect = { (status: Int, method: HTTPMethod, path: String) in
      let (start, end) = (URL.service, URL.service.appendingPathComponent(path))
      let head = ResponseHead(status: status, url: start)
      let answer = HTTPResponse(head: head, receivedAt: HTTPDate(secondsSinceEpoch: 0))
      let next = TransportRequest(end, method: status == 303 ? .get : method)
      return RedirectChain(answer, to: TransportRequest(start, method: method), next: next, after: nil)
    }
    context.note(redirect(301, .get, "a"))
    #expect(context.written.isEmpty && context.lastEffect == nil)
    let acted = redirect(303, .post, "b")
    context.note(acted)
    context.note(redirect(307, .post, "c"))
    expectEqual(context.written, [.service, URL.service.appendingPathComponent("c")])
    #expect(context.lastEffect === acted)
    #expect(context.another.written.isEmpty && context.another.lastEffect == nil)
  }

  @Test("it keeps the last ten failures, in order")
  func failures() {
    let context = test.client.context(for: RequestParts(Anything(), Anything().parser), nil)
    for number in 1...12 { context.keep(NetworkFailure(.noData, call: .init(attempt: number))) }
    expectEqual(context.earlier.map(\.call.attempt), Array(3...12))
  }

  @Test("it keeps the last failure after which a server may have acted, whatever comes later")
  func lastDoubt() {
    let context = test.client.context(for: RequestParts(Anything(), Anything().parser), nil)
    for number in 1...3 { context.keep(NetworkFailure(.serverError(503), call: .init(attempt: number))) }
    let offline = TransportFailure(.offline)
    for number in 4...20 {
      context.keep(NetworkFailure(.transport(.offline), call: .init(attempt: number), underlying: offline))
    }
    expectEqual(context.earlier.map(\.call.attempt), [3] + Array(12...20))
  }
}
