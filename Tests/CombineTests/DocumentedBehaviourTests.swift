import Combine
import ReboundTesting
import Testing

/// What Documentation/Behaviour.md says of more than one operator, or of what is seen only where operators meet.
@Suite("Documented behaviour")
struct DocumentedBehaviourTests {
  @Test("the subscribers of a subject are served in the order of their subscriptions")
  func order() {
    let passing = PassthroughSubject<Int, Never>()
    let keeping = CurrentValueSubject<Int, Never>(0)
    var served: [String] = []
    let subscriptions = (0..<5).flatMap { number in
      [
        passing.sink { served.append("passing \(number): \($0)") },
        keeping.dropFirst().sink { served.append("keeping \(number): \($0)") },
      ]
    }
    subscriptions[2].cancel()
    passing.send(7)
    keeping.send(8)
    #expect(served == [0, 2, 3, 4].map { "passing \($0): 7" } + (0..<5).map { "keeping \($0): 8" })
    withExtendedLifetime(subscriptions) {}
  }

  @Test("subscribe(on:) at once serves a request from inside a request")
  func requestInsideRequest() {
    let recorder = Recorder<Int, Never>(
      requesting: .max(1),
      answering: { _, recorder in
        recorder.request(.max(1))
        return .none
      }
    )
    Publishers.Sequence<ClosedRange<Int>, Never>(sequence: 1...3)
      .subscribe(on: ImmediateScheduler.shared)
      .subscribe(recorder)
    #expect(recorder.values == [1, 2, 3])
    #expect(recorder.isFinished)
  }

  @Test("switchToLatest ends once, however often its upstream does")
  func endsOnce() {
    let upstream = TestPublisher<Just<Int>, Never>()
    let recorder = Recorder<Int, Never>()
    upstream.switchToLatest().subscribe(recorder)
    upstream.send(completion: .finished)
    upstream.send(completion: .finished)
    #expect(recorder.completions.count == 1)
  }

  @Test("each side of a combineLatest has an identifier of its own")
  func identifiers() {
    var identifiers: Set<CombineIdentifier> = []
    let sides = (0..<2).map { _ in
      TestPublisher<Int, Never>(handingOver: { identifiers.insert($0.combineIdentifier) })
    }
    sides[0].combineLatest(sides[1]).subscribe(Recorder<(Int, Int), Never>())
    #expect(identifiers.count == 2)
  }

  @Test("a buffer makes its own error with no lock held: it can be sent to from there, and fails once")
  func errorOfBuffer() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    var isInside = false
    upstream
      .buffer(
        size: 1,
        prefetch: .byRequest,
        whenFull: .customError {
          if !isInside {
            isInside = true
            upstream.send(3)
          }
          return .expected
        }
      )
      .subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    recorder.request(.max(1))
    #expect(recorder.values == [1])
    #expect(recorder.failure == .expected)
    #expect(recorder.completions.count == 1)
    #expect(upstream.cancelCount == 1)
  }
}
