import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("ResponseValidator")
struct ResponseValidatorTests {
  private let busy = ResponseValidator { answer in
    answer.head.headers["X-Result"] == "busy" ? .serverError(503) : nil
  }
  private let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .immediate))

  @Test("what it finds wrong is a failure like any other, and tried again")
  func retried() throws {
    let test = ClientUnderTest([.ok("{}", ["X-Result": "busy"]), .ok("{\"a\":1}")], [retrying])
    let recorder = try test.run(Anything(validator: busy))
    expectEqual(recorder.values, [Data("{\"a\":1}".utf8)])
    expectEqual(test.transport.count, 2)
  }

  @Test("the failure has the answer, and what the service says in it")
  func failure() throws {
    let test = ClientUnderTest([.ok("{\"message\":\"closed on Sundays\"}", ["X-Result": "busy"])])
    let failure = try #require(try test.run(Anything(validator: busy)).failure)
    expectEqual(failure.kind, .serverError(503))
    expectEqual(failure.head?.status, 200)
    expectEqual(failure.server?.text, "closed on Sundays")
  }

  @Test("what it throws is a failure to parse; a failure of its own stays as it is")
  func throwing() throws {
    struct Refusal: Error {}
    let test = ClientUnderTest([.ok("{}"), .ok("{}")])
    let refused = try test.run(Anything(validator: ResponseValidator { _ in throw Refusal() }))
    expectEqual(refused.failure?.kind, .decoding)
    let own = try test.run(Anything(validator: ResponseValidator { _ in throw NetworkFailure(.gone) }))
    expectEqual(own.failure?.kind, .gone)
  }

  @Test("is not asked for a status that is not valid")
  func invalidStatus() throws {
    let validator = ResponseValidator { _ in
      Issue.record("asked")
      return nil
    }
    let test = ClientUnderTest([.status(404)])
    try expectEqual(test.run(Anything(validator: validator)).failure?.kind, .notFound)
  }

  @Test("an answer that confirms a copy has no body to judge")
  func confirmedCopy() throws {
    let validator = ResponseValidator { answer in answer.body.isEmpty ? .noData : nil }
    let fields: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "no-cache"]
    let test = ClientUnderTest([.ok("{}", fields), .response(304, fields)], [Caching(in: HTTPCache())])
    try expectEqual(test.run(Anything(validator: validator)).values.count, 1)
    try expectEqual(test.run(Anything(validator: validator)).values, [Data("{}".utf8)])
    expectEqual(test.transport.count, 2)
  }

  @Test("the first of two that finds something is right")
  func both() throws {
    let test = ClientUnderTest([.ok("{}"), .ok("{}", ["X-Result": "busy"])])
    let both = busy.and(ResponseValidator { _ in .conflict })
    try expectEqual(test.run(Anything(validator: both)).failure?.kind, .conflict)
    try expectEqual(test.run(Anything(validator: both)).failure?.kind, .serverError(503))
  }
}

extension Recorder {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = completion { failure } else { nil }
  }
}
