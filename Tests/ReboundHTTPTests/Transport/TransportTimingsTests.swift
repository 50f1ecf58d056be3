import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("TransportTimings")
struct TransportTimingsTests {
  private static let timings = TransportTimings(nameLookup: .microseconds(1_540), firstByte: .milliseconds(20))

  @Test("a client asks for them if somebody hears its events, and only then")
  func wish() throws {
    let step = ScriptedTransport.Step.status(204).timed(Self.timings)
    let transport = ScriptedTransport([step], repeatingLast: true)
    let quiet = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
    for client in [quiet, quiet.onEvent { _ in }] {
      let recorder = Recorder<ParsedResponse<Data>, NetworkFailure>()
      client.responses(for: Anything()).subscribe(recorder)
      let isWatched = transport.count == 2
      expectEqual(recorder.values.map(\.head.timings), [isWatched ? Self.timings : nil])
    }
    expectEqual(transport.calls.map(\.request.wantsTimings), [false, true])
  }

  @Test("a copy from a cache has none, since it came over no network")
  func copy() throws {
    let step = ScriptedTransport.Step.ok("1", ["Cache-Control": "max-age=60"]).timed(Self.timings)
    let test = ClientUnderTest([step], [Caching(in: HTTPCache())])
    let timings = try (1...2).map { _ in try test.runDetailed(Anything()).values.map(\.head.timings) }
    expectEqual(test.transport.count, 1)
    expectEqual(timings, [[Self.timings], [nil]])
  }

  @Test("a step of a script that is computed has those that it was given, unless the answer has its own")
  func computed() throws {
    let own = TransportTimings(firstByte: .zero)
    let steps: [ScriptedTransport.Step] = [
      .answering { _ in .status(204) }, .answering { _ in .status(204).timed(own) },
    ]
    let test = ClientUnderTest(steps.map { $0.timed(Self.timings) })
    let timings = try (1...2).map { _ in try test.runDetailed(Anything()).values.map(\.head.timings) }
    expectEqual(timings, [[Self.timings], [own]])
  }

  @Test("heads that differ in nothing else are equal")
  func equality() {
    let head = ResponseHead(status: 200, url: .service)
    var timed = head
    timed.timings = Self.timings
    #expect(timed == head && timed.hashValue == head.hashValue)
    #expect(timed.timings != head.timings)
  }

  @Test("are described by what is known, in milliseconds")
  func words() {
    expectEqual("\(Self.timings)", "name lookup 1.5 ms, first byte 20.0 ms")
    let others = TransportTimings(connect: .seconds(1), tls: .seconds(2))
    expectEqual("\(others)", "connect 1000.0 ms, TLS 2000.0 ms")
    expectEqual("\(TransportTimings())", "")
  }
}
