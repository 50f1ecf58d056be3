import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// Anything that a network can do, recorded and replayed.
@Suite("cassettes")
struct CassettePropertyTests {
  private struct Exchange: CustomDebugStringConvertible {
    let request: TransportRequest
    let step: ScriptedTransport.Step
    let debugDescription: String
  }

  private static let anything = Generator<Data>.one(
    of: Generator<String>.string.map { Data($0.utf8) },
    Generator<[UInt8]>.array(of: .integer()).map { Data($0) }
  )

  /// No quotes, since a text that begins within some hides where its members are.
  private static let secretive = Generator<Data>.one(
    of: Generator<String>.string(of: "ab{}[]:, é").map { Data($0.utf8) },
    .constant(Data(#"{"token":"s3cr3t","a":[1,2]}"#.utf8))
  )

  private static let header = Generator { choices in
    let name = choices.draw(.element(of: ["X-A", "x-a", "Set-Cookie", "Location", "Content-Type", "Via"]))
    let value = choices.draw(.string(of: "az/?=&;:,. \"%é", count: 0...20))
    return HTTPHeaders.Field(name, value)
  }

  private static let duration = Generator<Int64>.integer(in: 0...20_000_000_000).map { Duration.nanoseconds($0) }

  private static func exchange(_ body: Generator<Data>) -> Generator<Exchange> {
    Generator { choices -> Exchange in
      let path = choices.draw(.element(of: ["/", "/a", "/a?q=1", "/a?token=s3cr3t&q=%C3%BC", "/%C3%A9?x=%20"]))
      let method = choices.draw(.element(of: [HTTPMethod.get, .post, .put]))
      let sent = method == .get ? Data() : choices.draw(body)
      let headers = HTTPHeaders(choices.draw(.array(of: header, count: 0...4)))
      let chunks = choices.draw(.array(of: body.filter { !$0.isEmpty }, count: 0...4))
      let kind = choices.draw(.element(of: EveryKind.all))
      let failure = TransportFailure(
        kind,
        bytesSent: choices.draw(.integer(in: 0...99)),
        bytesReceived: choices.draw(.integer(in: 0...99)),
        detail: choices.draw(.optional(.string))
      )
      let status = choices.draw(.integer(in: 200...599))
      let form = choices.draw(upTo: 3)
      var step: ScriptedTransport.Step =
        switch form {
        case 0: .chunks(status, headers, chunks, every: choices.draw(duration))
        case 1: .failure(failure)
        case 2: .failure(failure, after: ResponseHead(status: status, headers: headers, url: .service), chunks)
        default: .response(status, headers)
        }
      step = step.after(choices.draw(duration))
      let request = TransportRequest.sample(method, path, body: .data(sent))
      return Exchange(
        request: request,
        step: step,
        debugDescription:
          "\(method) \(path) \(Array(sent)) \(form) \(status) \(headers.map { $0 }) \(chunks.map(Array.init)) \(failure)"
      )
    }
  }

  /// A redaction that hides what these exchanges do not have, so that all of it comes back.
  private static let nothing = Redaction(headers: ["Authorization"], parameters: ["password"], guessing: false)

  @Test("what was recorded comes back: values, failures, order and pace", arguments: 0..<5 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    let file = CassetteFolder()
    try forAll(
      Generator<[Exchange]>.array(of: Self.exchange(Self.anything), count: 1...5),
      runs: 40,
      seed: seed * 1_000
    ) {
      exchanges in
      func play(_ transport: some Transport, _ scheduler: TestScheduler) -> [[String]] {
        exchanges.map { EventLines.run(transport, $0.request, scheduler).lines }
      }
      let scheduler = TestScheduler()
      let time = scheduler.time
      let network = ScriptedTransport(exchanges.map(\.step), time: scheduler.time)
      let recording = try CassetteTransport(file.file, .record(network), redaction: Self.nothing, time: time)
      let recorded = play(recording, scheduler)
      try recording.save()
      let cassette = try CassetteTransport(file.file, redaction: Self.nothing, time: time, keepingPace: true)
      try requireEqual(play(cassette, scheduler), recorded)
      try cassette.checkAllUsed()
    }
  }

  @Test(
    "no secret is in the file, and every request finds its recording all the same",
    arguments: 0..<5 as Range<UInt64>
  )
  func secrets(seed: UInt64) throws {
    let file = CassetteFolder()
    try forAll(
      Generator<[Exchange]>.array(of: Self.exchange(Self.secretive), count: 1...3),
      runs: 40,
      seed: seed * 1_000
    ) {
      exchanges in
      let scheduler = TestScheduler()
      let time = scheduler.time
      let network = ScriptedTransport(exchanges.map(\.step), time: scheduler.time)
      let recording = try CassetteTransport(file.file, .record(network), time: time)
      for exchange in exchanges { _ = EventLines.run(recording, exchange.request, scheduler) }
      try recording.save()
      let text = try String(contentsOf: file.file, encoding: .utf8)
      try requireTrue(!text.contains("s3cr3t"), "a secret is in the file")
      let cassette = try CassetteTransport(file.file, time: time)
      for exchange in exchanges { _ = EventLines.run(cassette, exchange.request, scheduler) }
      try cassette.checkAllUsed()
    }
  }
}
