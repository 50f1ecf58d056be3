import Combine
import Dispatch
import Rebound
import ReboundTesting
import Testing

@Suite("EventExecution")
struct EventExecutionTests {
  @Test("delivers the end once, whichever thread's request or completion comes last")
  func race() {
    for _ in 0..<200 {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<StreamEvent<Int, TestFailure>, Never>(requesting: .none)
      upstream.materialize().subscribe(recorder)
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 { recorder.request(.max(1)) } else { upstream.send(completion: .failure(.transient)) }
      }
      #expect(recorder.events == [.subscription, .value(.failure(.transient)), .completion(.finished)])
    }
  }
}
