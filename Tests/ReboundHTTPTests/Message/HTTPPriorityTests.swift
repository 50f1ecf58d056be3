import Expectations
import Foundation
import ReboundHTTPTesting
import Testing

@testable import ReboundHTTP

@Suite("HTTPPriority (RFC 9218)", .timeLimit(.minutes(10)))
struct HTTPPriorityTests {
  private struct Picture: Request {
    var priority: HTTPPriority?
    var headers: HTTPHeaders = [:]
    var path: RequestPath { "picture" }
    typealias Response = Data
  }

  @Test("says urgency and whether parts are of use, and is read as it was written")
  func fields() {
    for urgency in 0...7 {
      for isIncremental in [false, true] {
        let priority = HTTPPriority(urgency: urgency, isIncremental: isIncremental)
        expectEqual(priority.field, "u=\(urgency)" + (isIncremental ? ", i" : ""))
        expectEqual(HTTPPriority(field: priority.field), priority)
      }
    }
  }

  @Test(
    "a field of somebody else's is read as far as it makes sense (RFC 9218 §4)",
    arguments: [
      ("", 3, false), ("i", 3, true), ("i=?1,u=5", 5, true), ("u=2, i=?0", 2, false), ("u=8", 3, false),
      ("u=-1", 3, false), ("u=x", 3, false), ("u", 3, false), ("i=1", 3, false), ("u=1;a=b, i;c", 1, true),
      ("x=1, u=0", 0, false), ("u=1, u=4", 4, false), ("U=1", 3, false),
    ]
  )
  func reads(field: String, urgency: Int, isIncremental: Bool) {
    expectEqual(HTTPPriority(field: field), HTTPPriority(urgency: urgency, isIncremental: isIncremental))
  }

  @Test("a request says it in its field; one that says nothing has none")
  func message() throws {
    try expectEqual(Picture(priority: .urgent).message(base: .service).headers["Priority"], "u=1")
    try expectEqual(Picture(priority: .urgent).message(base: .service).priority, .urgent)
    #expect(try Picture(priority: nil).message(base: .service).headers["Priority"] == nil)
    let byHand = Picture(priority: nil, headers: ["priority": "u=6, i"])
    try expectEqual(byHand.message(base: .service).priority, HTTPPriority(urgency: 6, isIncremental: true))
    let both = Picture(priority: .background, headers: ["priority": "u=6"])
    try expectEqual(both.message(base: .service).headers.values(of: "Priority"), ["u=7"])
  }

  @Test("an urgency that is none is not sent", arguments: [-1, 8, .max, .min])
  func nonsense(urgency: Int) throws {
    let test = ClientUnderTest([.status(200)])
    let recorder = try test.run(Picture(priority: HTTPPriority(urgency: urgency)))
    expectEqual(recorder.failure?.kind, .invalidRequest)
    expectEqual(recorder.failure?.description.contains("from 0, the most urgent, to 7"), true)
    #expect(test.transport.calls.isEmpty)
  }

  @Test("a server sees it over each transport", arguments: TransportKind.allCases)
  func server(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/picture", .answer("here"))
    let client = ClientOverNetworkTests.client(server, kind.make())
    _ = try await client.value(of: Picture(priority: HTTPPriority(urgency: 5, isIncremental: true)))
    expectEqual(server.requests.map { $0[field: "Priority"] }, ["u=5, i"])
    server.stop()
  }

  @Test("the more urgent, the higher the task's priority and the stream's weight; the usual is each system's own")
  func systems() {
    let priorities = (0...7).map { HTTPPriority(urgency: $0) }
    expectEqual(priorities.map(\.streamWeight), [128, 64, 32, 16, 8, 4, 2, 1])
    let tasks = priorities.map(\.taskPriority)
    expectEqual(tasks, tasks.sorted(by: >))
    expectEqual(Set(tasks).count, 8)
    expectEqual([tasks[0], tasks[3], tasks[7]], [1, 0.5, 0])
  }

  #if Curl
    @Test("libcurl weighs the streams of HTTP/2 by it")
    func weight() async throws {
      let server = try await SecureFrameServer.start([.head, .data("ok", isLast: true)])
      let transport = try CurlOriginTests.transport()
      let request = TransportRequest(try server.url(), headers: ["Priority": HTTPPriority.urgent.field])
      let log = await transport.outcome(of: request)
      #expect(log.failure == nil)
      expectEqual(server.weights, [64])
    }
  #endif
}
