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
    #expect(recorder.values == [Data("{\"a\":1}".utf8)])
    #expect(test.transport.count == 2)
  }

  @Test("the failure has the answer, and what the service says in it")
  func failure() throws {
    let test = ClientUnderTest([.ok("{\"message\":\"closed on Sundays\"}", ["X-Result": "busy"])])
    let failure = try #require(try test.run(Anything(validator: busy)).failure)
    #expect(failure.kind == .serverError(503))
    #expect(failure.head?.status == 200)
    #expect(failure.server?.text == "closed on Sundays")
  }

  @Test("what it throws is a failure to parse; a failure of its own stays as it is")
  func throwing() throws {
    struct Refusal: Error {}
    let test = ClientUnderTest([.ok("{}"), .ok("{}")])
    let refused = try test.run(Anything(validator: ResponseValidator { _ in throw Refusal() }))
    #expect(refused.failure?.kind == .decoding)
    let own = try test.run(Anything(validator: ResponseValidator { _ in throw NetworkFailure(.gone) }))
    #expect(own.failure?.kind == .gone)
  }

  @Test("is not asked for a status that is not valid")
  func invalidStatus() throws {
    let validator = ResponseValidator { _ in
      Issue.record("asked")
      return nil
    }
    let test = ClientUnderTest([.status(404)])
    #expect(try test.run(Anything(validator: validator)).failure?.kind == .notFound)
  }

  @Test("the first of two that finds something is right")
  func both() throws {
    let test = ClientUnderTest([.ok("{}"), .ok("{}", ["X-Result": "busy"])])
    let both = busy.and(ResponseValidator { _ in .conflict })
    #expect(try test.run(Anything(validator: both)).failure?.kind == .conflict)
    #expect(try test.run(Anything(validator: both)).failure?.kind == .serverError(503))
  }
}

extension Recorder {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = completion { failure } else { nil }
  }
}
