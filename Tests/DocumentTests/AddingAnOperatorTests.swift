import ReboundTesting
import Testing

#if !canImport(Darwin)
  @testable import Combine
#else
  import Combine
#endif

/// The code of Documentation/AddingAnOperator.md, as it stands there.
extension Publisher {
  /// Publishes each value together with the one before.
  ///
  /// - Demand: Passes up; the first value is made good.
  /// - Failure: The upstream's.
  /// - Threads: Where the upstream sends.
  func pairwise() -> some Publisher<(Output, Output), Failure> {
    scan((Output?.none, Output?.none)) { last, value in (last.1, value) }
      .compactMap { first, second in first.flatMap { first in second.map { (first, $0) } } }
  }
}

#if !canImport(Darwin)
  struct PairwiseMachine<Value, UpstreamFailure: Error>: Machine {
    typealias Failures = Total<UpstreamFailure>

    func step(_ last: Value?, _ value: Value) -> (Step<(Value, Value)>, Value?) {
      (last.map { .emit(($0, value)) } ?? .skip, value)
    }

    var name: String { "Pairwise" }
  }

  struct Pairwise<Upstream: Publisher>: Publisher {
    typealias Output = (Upstream.Output, Upstream.Output)
    typealias Failure = Upstream.Failure

    let upstream: Upstream

    func receive<S>(subscriber: consuming S) where S: Subscriber, S.Input == Output, S.Failure == Failure {
      upstream.subscribe(
        MachineSubscriber(PairwiseMachine<Upstream.Output, Failure>(), remembering: nil, to: subscriber)
      )
    }
  }
#endif

@Suite("The operator of the page on adding one")
struct AddingAnOperatorTests {
  @Test("made of operators that there are, pairs each value with the one before, for each subscriber anew")
  func composed() {
    let subject = PassthroughSubject<Int, Never>()
    let pairs = subject.pairwise().map { "\($0)-\($1)" }
    let early = Recorder<String, Never>(requesting: .unlimited)
    pairs.subscribe(early)
    subject.send(1)
    subject.send(2)
    let late = Recorder<String, Never>(requesting: .unlimited)
    pairs.subscribe(late)
    subject.send(3)
    subject.send(4)
    #expect(early.values == ["1-2", "2-3", "3-4"])
    #expect(late.values == ["3-4"])
  }

  #if !canImport(Darwin)
    @Test("made of a machine, does the same, and asks for another value in place of the first")
    func machine() {
      let recorder = Recorder<String, Never>(requesting: .max(1))
      Pairwise(upstream: [1, 2, 3].publisher).map { "\($0)-\($1)" }.subscribe(recorder)
      #expect(recorder.values == ["1-2"])
      recorder.request(.max(1))
      #expect(recorder.values == ["1-2", "2-3"])
    }

    @Test("made of a machine, shows itself by its name")
    func name() {
      let subject = PassthroughSubject<Int, Never>()
      var shown: String?
      let subscription = Pairwise(upstream: subject)
        .handleEvents(receiveSubscription: { shown = "\($0)" }).sink { _ in }
      #expect(shown == "Pairwise")
      subscription.cancel()
    }
  #endif
}
