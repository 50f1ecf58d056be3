import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("AnimalService")
struct AnimalServiceTests {
  /// What came of each request; `nil` where there was no answer.
  private func outcomes(_ count: Int, _ backend: BackendServer) async throws -> [String?] {
    var outcomes: [String?] = []
    for _ in 0..<count { outcomes.append(try await backend.get("/animals/random")?.text) }
    return outcomes
  }

  private func seed(_ seed: Int, failures: Double, _ backend: BackendServer) async throws {
    let order = #"{"seed":\#(seed),"failures":\#(failures),"longestDelayMilliseconds":0}"#
    let answer = try await backend.post("/control/animals", order)
    #expect(answer?.status == 200)
  }

  @Test("the same seed brings the same animals and failures, another seed others")
  func seeded() async throws {
    try await withBackend { backend in
      try await seed(7, failures: 0.5, backend)
      let first = try await outcomes(20, backend)
      try await seed(7, failures: 0.5, backend)
      let second = try await outcomes(20, backend)
      try await seed(8, failures: 0.5, backend)
      let third = try await outcomes(20, backend)
      #expect(first == second)
      #expect(first != third)
    }
  }

  @Test(
    "requests fail in two ways, each as often as the other but in no order: by a reason, and by a closed connection"
  )
  func failures() async throws {
    try await withBackend { backend in
      try await seed(1, failures: 1, backend)
      let failures = try await outcomes(40, backend)
      #expect(Set(failures) == [nil, errorBody("The animals got loose")])
      #expect((10...30).contains(failures.filter { $0 == nil }.count))
      #expect(zip(failures, failures.dropFirst()).contains { $0 == $1 })
      try await seed(1, failures: 0, backend)
      for outcome in try await outcomes(10, backend) {
        #expect(outcome?.contains(#""fact":"#) == true)
      }
    }
  }

  @Test(
    "an order that makes no sense is refused",
    arguments: [#"{"seed":1,"failures":1.5}"#, #"{"seed":1,"longestDelayMilliseconds":-1}"#, #"{"failures":0}"#]
  )
  func refused(order: String) async throws {
    try await withBackend { backend in
      let answer = try await backend.post("/control/animals", order)
      #expect(answer?.status == 400)
    }
  }

  /// What can come of a request, with a seed that brings it first.
  private enum Fate: CaseIterable {
    case animal, unknown, network

    var failures: Int { self == .animal ? 0 : 1 }
    var seed: UInt64 { self == .unknown ? 7 : 6 }
  }

  @Test(
    "an animal takes as long as was drawn, and so does each failure; with a fault's latency even longer",
    arguments: [nil, 800],
    Fate.allCases
  )
  private func slow(latency: Int?, fate: Fate) async throws {
    let timer = ManualTimer()
    var chance = Chance(seed: fate.seed)
    let drawn = Duration.seconds(60) * Double.random(in: 0...1, using: &chance)
    try await withBackend(.forTests(on: timer)) { backend in
      let order = #"{"seed":\#(fate.seed),"failures":\#(fate.failures),"longestDelayMilliseconds":60000}"#
      _ = try await backend.post("/control/animals", order)
      if let latency {
        let fault = #"{"path":"/animals/random","fault":"none","latencyMilliseconds":\#(latency)}"#
        _ = try await backend.post("/control/faults", fault)
      }
      let client = try LoopbackClient(port: backend.port)
      try await client.send(
        "GET /animals/random HTTP/1.1\r\nHost: localhost:\(backend.port)\r\nConnection: close\r\n\r\n"
      )
      try await timer.waitForWork()
      timer.advance(by: drawn + .milliseconds((latency ?? 0) - 1))
      let control = try await backend.get("/control/animals")
      #expect(control?.status == 200)
      #expect(!client.isReadable)
      timer.advance(by: .milliseconds(1))
      let answer = Answer(try await client.receiveAll())
      switch fate {
      case .animal: #expect(answer?.text.contains(#""fact":"#) == true)
      case .unknown: #expect(answer?.text == errorBody("The animals got loose"))
      case .network: #expect(answer == nil)
      }
    }
  }

  @Test("a delay is drawn up to five seconds, and a reset begins the draws anew")
  func reset() async throws {
    try await withBackend { backend in
      let before = try await backend.get("/control/animals")
      #expect(before?.text == #"{"failures":0.4,"longestDelayMilliseconds":5000,"seed":1}"#)
      try await seed(9, failures: 1, backend)
      _ = try await backend.post("/control/reset", "{}")
      let after = try await backend.get("/control/animals")
      #expect(after?.text == before?.text)
    }
  }
}
