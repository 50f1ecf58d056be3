import Expectations

#if Redis
  import Combine
  import Testing

  @testable import ReboundRedis

  @Suite("Steps of a wait")
  struct PendingStepsTests {
    private let steps = PendingSteps()
    private let cancelled = Log<Int>()

    private func begin(_ number: Int) {
      steps.begin(AnyCancellable { [cancelled] in cancelled.write(number) })
    }

    @Test("a cancel reaches the step that is under way")
    func cancel() {
      begin(1)
      #expect(cancelled.entries.isEmpty)
      steps.cancel()
      #expect(steps.isCancelled)
      expectEqual(cancelled.entries, [1])
    }

    @Test("a step that begins behind the cancel is cancelled at once")
    func beginsLate() {
      steps.cancel()
      let kept = AnyCancellable { [cancelled] in cancelled.write(1) }
      steps.begin(kept)
      expectEqual(cancelled.entries, [1])
      withExtendedLifetime(kept) {}
    }

    @Test("a step that begins lets the one before go")
    func next() {
      begin(1)
      begin(2)
      expectEqual(cancelled.entries, [1])
      steps.cancel()
      expectEqual(cancelled.entries, [1, 2])
    }
  }
#endif
