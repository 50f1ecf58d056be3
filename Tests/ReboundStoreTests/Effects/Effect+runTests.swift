import Combine
import Expectations
import Rebound
import ReboundStore
import ReboundTesting
import Testing

@Suite("Effects that may fail")
struct EffectRunTests {
  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<String, Broken>()
  private let policy = RetryPolicy<Broken>(clamping: 2, backoff: .constant(.seconds(1))).when(\.isTransient)

  private func store(_ effect: @escaping () -> Effect<CountAction>) -> Store<CountState, CountAction> {
    Store(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { _, action in if case .begin = action { effect().cancellable(id: "run", cancelInFlight: true) } else { .none }
        }
      ],
      scheduler: scheduler
    )
  }

  private func outcome(_ result: Result<String, Broken>) -> CountAction {
    switch result {
    case .success(let answer): .answered(answer)
    case .failure(let error): .failed(error.isTransient ? "transient" : "permanent")
    }
  }

  @Test("a failure becomes an action, because the type asks for it, and the effect ends")
  func failureIsAction() {
    let store = store { .run(upstream, into: outcome) }
    store.dispatch(.begin("a"))
    scheduler.advance()
    upstream.send("1")
    upstream.send(completion: .failure(Broken()))
    scheduler.advance()
    expectEqual(store.state.answers, ["1", "failed: transient"])
    expectEqual(store.effectCount, 0)
  }

  @Test("a policy tries again on the store's scheduler, and each retry can be an action")
  func retries() {
    let store = store {
      .run(upstream, retrying: policy, onRetry: { .answered("attempt \($0.attempt) failed") }, into: outcome)
    }
    store.dispatch(.begin("a"))
    scheduler.advance()
    upstream.send(completion: .failure(Broken()))
    scheduler.advance(by: .milliseconds(999))
    expectEqual(upstream.subscriptionCount, 1)
    scheduler.advance(by: .milliseconds(1))
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send("done")
    upstream.send(completion: .finished)
    scheduler.advance()
    expectEqual(store.state.answers, ["attempt 1 failed", "done"])
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  @Test("a publisher that fails with a cancel has no action, and is not tried again", arguments: [false, true])
  func cancelIsNoFailure(isTriedAgain: Bool) {
    let upstream = TestPublisher<String, any Error>()
    let policy = isTriedAgain ? RetryPolicy<any Error>(clamping: 2, backoff: .immediate) : nil
    let store = store { .run(upstream, retrying: policy, onRetry: { _ in .add(1) }, into: { _ in .add(10) }) }
    store.dispatch(.begin("a"))
    scheduler.advance()
    upstream.send("1")
    upstream.send(completion: .failure(CancellationError()))
    scheduler.advance(by: 10)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(store.state, CountState(count: 10))
    #expect((store.effectCount, store.effectMemory) == (0, 0))
  }

  @Test("an error for which the policy's condition does not hold is an action at once")
  func notRetried() {
    let store = store { .run(upstream, retrying: policy, onRetry: { _ in .add(1) }, into: outcome) }
    store.dispatch(.begin("a"))
    scheduler.advance()
    upstream.send(completion: .failure(Broken(isTransient: false)))
    scheduler.advance()
    expectEqual(store.state, CountState(answers: ["failed: permanent"]))
  }

  @Test("an effect that is outranked while it waits for its retry tries no more")
  func cancelledRetry() {
    let store = store { .run(upstream, retrying: policy, into: outcome) }
    store.dispatch(.begin("a"))
    scheduler.advance()
    upstream.send(completion: .failure(Broken()))
    store.dispatch(.begin("b"))
    scheduler.advance(by: 10)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(store.state.answers, [])
  }

  @Test("an asynchronous function's value is an action; one without a value has none")
  func task() async {
    let answers = await collect(.merge(.task { .answered("a") }, .task { nil }), count: 1)
    expectEqual(answers, [.answered("a")])
  }

  @Test("an asynchronous function is tried again as the policy says, and its last failure is an action")
  func taskRetries() async {
    let notes = Notes()
    let policy = RetryPolicy<Broken>(clamping: 1, backoff: .constant(.zero))
    let effect = Effect<CountAction>.task(retrying: policy) { () async throws(Broken) -> String in
      notes.write("tried")
      throw Broken()
    } into: {
      if case .failure = $0 { .failed("at last") } else { .add(1) }
    }
    await expectEqual(collect(effect, count: 1), [.failed("at last")])
    expectEqual(notes.lines.count, 2)
  }

  @Test("an asynchronous function is tried again by the store's time, and so is what it runs itself")
  func taskTime() async {
    let notes = Notes()
    let inner = RetryPolicy<Broken>(clamping: 1, backoff: .constant(.seconds(5)))
    let effect = Effect<CountAction>.task(retrying: policy) { () async throws(Broken) -> String in
      notes.write("\(TimeSource.current.now)")
      do { return try await inner.run { () async throws(Broken) -> String in throw Broken() } } catch { throw Broken() }
    } into: { _ in
      .failed("at last")
    }
    let store = store { effect }
    store.dispatch(.begin("a"))
    scheduler.advance()
    for pause in [5, 1, 5, 1, 5] {
      await others { scheduler.nextDue != nil }
      scheduler.advance(by: .seconds(pause))
    }
    await others {
      scheduler.advance()
      return !store.state.answers.isEmpty
    }
    expectEqual(notes.lines, ["0.0 seconds", "6.0 seconds", "12.0 seconds"])
    expectEqual(store.state.answers, ["failed: at last"])
  }

  @Test("waits by the time that the store is given, and comes back to its scheduler")
  func timeAndScheduler() {
    let home = TestScheduler()
    let store = Store<CountState, CountAction>(
      initialState: CountState(),
      reducer: .counting,
      reactions: [
        { [upstream, policy, outcome] _, action in
          guard case .begin = action else { return .none }
          return .concatenate(.wait(.seconds(1)), .run(upstream, retrying: policy, into: outcome))
        }
      ],
      scheduler: home,
      time: scheduler.time
    )
    store.dispatch(.begin("a"))
    home.advance(by: .seconds(100))
    expectEqual(upstream.subscriptionCount, 0)
    scheduler.advance(by: .seconds(1))
    expectEqual(upstream.subscriptionCount, 0)
    home.advance()
    expectEqual(upstream.subscriptionCount, 1)
    upstream.send(completion: .failure(Broken()))
    scheduler.advance(by: .seconds(1))
    expectEqual(upstream.subscriptionCount, 1)
    home.advance()
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("what a reaction makes, and what an effect subscribes to, has the store's time")
  func currentTime() {
    let times = Notes()
    let store = store {
      times.write("made at \(TimeSource.current.now)")
      return .concatenate(
        .wait(.seconds(2)),
        .publisher(
          Deferred {
            times.write("subscribed to at \(TimeSource.current.now)")
            return Empty<CountAction, Never>()
          }
        )
      )
    }
    scheduler.advance(by: .seconds(40))
    store.dispatch(.begin("a"))
    scheduler.advance(by: .seconds(2))
    expectEqual(times.lines, ["made at 40.0 seconds", "subscribed to at 42.0 seconds"])
  }

  @Test("a function that succeeds is not tried again")
  func taskSucceeds() async {
    let effect = Effect<CountAction>.task { () async throws(Broken) in
      "done"
    } into: { result in
      if case .success(let answer) = result { .answered(answer) } else { .add(1) }
    }
    await expectEqual(collect(effect, count: 1), [.answered("done")])
  }

  @Test("the task of a cancelled effect is cancelled, and has no action")
  func cancelledTask() async {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    let store = Store<Int, String>(
      initialState: 0,
      reducer: { count, action in
        if action == "answer" { count += 1 }
      },
      reactions: [
        { _, action in
          switch action {
          case "go":
            .task { () async throws -> String in
              await withTaskCancellationHandler {
                continuation.yield("begun")
                for await _ in AsyncStream<Void>(unfolding: { Task.isCancelled ? nil : await Task.yield() }) {}
                continuation.yield("over")
              } onCancel: {
                continuation.yield("cancelled")
              }
              throw CancellationError()
            } into: { _ in
              "answer"
            }
            .cancellable(id: "task")
          case "stop": .cancel(id: "task")
          default: .none
          }
        }
      ],
      scheduler: ImmediateScheduler.shared
    )
    var events = stream.makeAsyncIterator()
    store.dispatch("go")
    await expectEqual(events.next(), "begun")
    store.dispatch("stop")
    await expectEqual(events.next(), "cancelled")
    await expectEqual(events.next(), "over")
    expectEqual(store.state, 0)
    expectEqual(store.effectCount, 0)
  }

  /// Lets other tasks go on until something is so.
  private func others(until isSo: () -> Bool) async {
    var turns = 0
    while !isSo(), turns < 1_000_000 {
      turns += 1
      await Task.yield()
    }
    #expect(turns < 1_000_000)
  }

  /// The first actions of an effect.
  private func collect(_ effect: Effect<CountAction>, count: Int) async -> [CountAction] {
    let (stream, continuation) = AsyncStream<CountAction>.makeStream()
    let store = Store<Int, CountAction>(
      initialState: 0,
      reducer: { _, action in if action != .begin("go") { continuation.yield(action) } },
      reactions: [{ _, action in action == .begin("go") ? effect : .none }],
      scheduler: ImmediateScheduler.shared
    )
    store.dispatch(.begin("go"))
    var actions: [CountAction] = []
    for await action in stream {
      actions.append(action)
      if actions.count == count { break }
    }
    return actions
  }
}
