import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("AdmissionControl", .virtualTime)
struct AdmissionControlTests {
  /// Answers when a test says so, and notes what comes back; who gives up is not struck off.
  private struct Gate: AdmissionControl, Policy {
    let answers = Log<@Sendable (Result<Int, any Error>) -> Void>()
    let settled = Log<String>()

    var descriptor: StageDescriptor { StageDescriptor(PolicyKind("gate")) }

    func ask(
      _ execution: ExecutionContext,
      _ answer: @escaping @Sendable (Result<Int, any Error>) -> Void
    ) -> (any Cancellable)? {
      answers.write(answer)
      return nil
    }

    func settle(_ grant: Int, _ end: ExecutionEnd, _ execution: ExecutionContext) {
      settled.write("\(grant) \(end)")
    }
  }

  private let gate = Gate()
  private let upstream = TestPublisher<Int, any Error>()
  private let recorder = Recorder<Int, any Error>()

  @Test("what is granted is given back once, with how the execution ended")
  func settles() {
    upstream.protected(by: gate).subscribe(recorder)
    gate.answers.entries[0](.success(7))
    upstream.send(completion: .finished)
    recorder.cancel()
    #expect(recorder.isFinished)
    expectEqual(gate.settled.entries, ["7 succeeded"])
  }

  @Test("a cancel counts as a success after a value, and as a cancel before", arguments: [true, false])
  func cancelled(hasValue: Bool) {
    upstream.protected(by: gate).subscribe(recorder)
    gate.answers.entries[0](.success(7))
    if hasValue { upstream.send(1) }
    recorder.cancel()
    expectEqual(gate.settled.entries, [hasValue ? "7 succeeded" : "7 cancelled"])
  }

  @Test("what is granted behind a cancel is given back at once")
  func grantedBehindCancel() {
    upstream.protected(by: gate).subscribe(recorder)
    recorder.cancel()
    gate.answers.entries[0](.success(7))
    expectEqual(gate.settled.entries, ["7 cancelled"])
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("what is granted just before a cancel, which comes before the execution is woken, is given back")
  func cancelledBeforeWoken() {
    upstream.protected(by: gate).subscribe(recorder)
    // Whoever waits is woken after the work that is under way.
    Trampoline.run([
      {
        gate.answers.entries[0](.success(7))
        recorder.cancel()
      }
    ])
    expectEqual(gate.settled.entries, ["7 cancelled"])
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("what is granted behind the cancel of a function is given back at once")
  func grantedBehindCancelOfTask() async {
    let task = Task { [gate] in try await gate.run { 1 } }
    await gate.answers.until(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.answers.entries[0](.success(7))
    expectEqual(gate.settled.entries, ["7 cancelled"])
  }
}
