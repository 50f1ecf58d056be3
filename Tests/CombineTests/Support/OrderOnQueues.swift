import Combine
import Dispatch
import Foundation
import ReboundTesting
import Testing

/// What comes out of five values and the end, a thousand times at once, on queues that run jobs side by side.
///
/// - Parameter makePublisher: puts the operator on the values.
func expectOrderKept(
  _ makePublisher: (Publishers.Sequence<Range<Int>, TestFailure>) -> some Publisher<Int, TestFailure>,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let done = Signal()
  let recorders = (0..<1000).map { _ in
    let recorder = Recorder<Int, TestFailure>(whenCompleted: done.send)
    makePublisher(Publishers.Sequence(sequence: 0..<5)).subscribe(recorder)
    return recorder
  }
  #expect(done.wait(times: 1000), sourceLocation: sourceLocation)
  let expected: [Recorder<Int, TestFailure>.Event] =
    [.subscription] + (0..<5).map { .value($0) } + [.completion(.finished)]
  let wrong = recorders.map(\.events).filter { $0 != expected }
  #expect(wrong.isEmpty, "\(wrong.count) of 1000, first: \(wrong.first ?? [])", sourceLocation: sourceLocation)
}

#if Foundation
  /// An operation queue that runs operations side by side.
  func makeConcurrentOperationQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 8
    return queue
  }
#endif
