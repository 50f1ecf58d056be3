import Combine
import Expectations
import Rebound
import ReboundPresentation
import ReboundTesting
import Testing

@Suite("RecoverableRequest")
struct RecoverableRequestTests {
  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<String, Trouble>()
  private let network = PassthroughSubject<Bool, Never>()

  private func request(
    _ context: PresentationContext = .firstLoad,
    policy: AutomaticRetryPolicy = .standard
  ) -> RecoverableRequest<String> {
    let scheduler = scheduler
    return RecoverableRequest(
      upstream,
      context: context,
      network: network.eraseToAnyPublisher(),
      policy: policy,
      scheduler: scheduler
    )
  }

  @Test("waits by the time that it is given, comes back to its scheduler, and its publisher has that time")
  func timeAndScheduler() {
    let home = TestScheduler()
    let times = TestPublisher<Duration, Trouble>()
    var subscribed: [Duration] = []
    let request = RecoverableRequest(
      Deferred {
        subscribed.append(TimeSource.current.now)
        return times
      },
      scheduler: home,
      time: scheduler.time
    )
    request.load()
    times.send(completion: .failure(Trouble(retryAfter: .seconds(3))))
    home.advance(by: .seconds(100))
    expectEqual(request.state.problem?.secondsLeft, 3)
    scheduler.advance(by: .seconds(1))
    expectEqual(request.state.problem?.secondsLeft, 3)
    home.advance()
    expectEqual(request.state.problem?.secondsLeft, 2)
    for _ in 1...2 {
      scheduler.advance(by: .seconds(1))
      home.advance()
    }
    expectEqual(subscribed, [.zero, .seconds(3)])
  }

  /// One line for each state that differs from the one before.
  private func trace(_ request: RecoverableRequest<String>) -> Trace { Trace(request) }

  private final class Trace {
    private(set) var lines: [String] = []
    private var subscription: AnyCancellable?

    init(_ request: RecoverableRequest<String>) {
      subscription = request.$state.removeDuplicates().sink { [weak self] state in
        let problem = state.problem.map {
          "\($0.presentation.surface?.rawValue ?? "?")\($0.secondsLeft.map { " \($0)" } ?? "")\($0.isRetrying ? " …" : "")"
        }
        self?.lines.append("\(state.value ?? "-") \(state.isLoading ? "loading" : "idle") \(problem ?? "fine")")
      }
    }
  }

  private func fail(_ error: Trouble) {
    upstream.send(completion: .failure(error))
    scheduler.advance()
  }

  private func answer(_ value: String) {
    upstream.send(value)
    upstream.send(completion: .finished)
    scheduler.advance()
  }

  @Test("the error stays while it is tried again, with progress, and nothing flickers")
  func errorStays() {
    let request = request()
    let trace = trace(request)
    request.load()
    fail(.server)
    request.retry()
    answer("Sun")
    expectEqual(
      trace.lines,
      [
        "- idle fine", "- loading fine", "- idle fullScreen", "- loading fullScreen …", "Sun loading fine",
        "Sun idle fine",
      ]
    )
  }

  @Test("a retry that fails at once shows the error again, and counts it")
  func failsAtOnce() {
    let upstream = TestPublisher<String, Trouble>(whenSubscribed: { $0.send(completion: .failure(.server)) })
    let request = RecoverableRequest(upstream, scheduler: ImmediateScheduler.shared)
    request.load()
    expectEqual(request.state.problemCount, 1)
    request.retry()
    expectEqual(request.state.problemCount, 2)
    expectEqual(request.state.problem?.isRetrying, false)
    #expect(!request.state.isLoading)
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("the value stays when a refresh fails, and the failure is beside it")
  func refreshFails() {
    let request = request()
    request.load()
    answer("Sun")
    request.load()
    fail(.server)
    expectEqual(request.state.value, "Sun")
    expectEqual(request.state.problem?.presentation.surface, .toast)
    request.load()
    fail(.server)
    expectEqual(request.state.problem?.presentation.surface, .toast)
  }

  @Test("counts down what the server asks for, and tries again by itself at zero")
  func countdown() {
    let request = request()
    let trace = trace(request)
    request.load()
    fail(Trouble(retryAfter: .milliseconds(2_500)))
    scheduler.advance(by: .milliseconds(2_499))
    expectEqual(upstream.subscriptionCount, 1)
    scheduler.advance(by: .milliseconds(1))
    expectEqual(upstream.subscriptionCount, 2)
    answer("Sun")
    expectEqual(
      trace.lines,
      [
        "- idle fine", "- loading fine", "- idle fullScreen 3", "- idle fullScreen 2", "- idle fullScreen 1",
        "- loading fullScreen …", "Sun loading fine", "Sun idle fine",
      ]
    )
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("seventeen seconds of maintenance are seventeen steps, and a person may be faster")
  func personIsFaster() {
    let request = request()
    request.load()
    fail(.maintenance)
    for left in (1...17).reversed() {
      expectEqual(request.state.problem?.secondsLeft, left)
      scheduler.advance(by: 1)
    }
    expectEqual(upstream.subscriptionCount, 2)
    fail(.maintenance)
    scheduler.advance(by: 3)
    request.retry()
    expectEqual(upstream.subscriptionCount, 3)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(request.state.problem?.isRetrying, true)
  }

  @Test("a server that asks for next to nothing is not asked in a loop")
  func minimumCountdown() {
    let request = request()
    request.load()
    for _ in 1...3 {
      fail(Trouble(retryAfter: .nanoseconds(1)))
      scheduler.advance(by: .milliseconds(999))
      expectEqual(request.state.isLoading, false)
      scheduler.advance(by: .milliseconds(1))
      #expect(request.state.isLoading)
    }
  }

  @Test("a server may ask for more time than there is")
  func endlessCountdown() throws {
    scheduler.advance(by: 2)
    let request = request()
    request.load()
    // A second less than a duration can be.
    fail(Trouble(retryAfter: Duration.seconds(Int64.max) * 18 + .seconds(4_120_486_797_083_267_204)))
    #expect(try #require(request.state.problem?.secondsLeft) >= 1_000_000_000)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 1)
  }

  /// One of virtual time that is not this package's own: it does not say itself what its time is.
  private final class ForeignScheduler: Scheduler {
    let base = TestScheduler()
    private(set) var timers = 0
    var now: VirtualTime { base.now }
    var minimumTolerance: VirtualTime.Stride { base.minimumTolerance }

    func schedule(options: Never?, _ action: @escaping () -> Void) { base.schedule(action) }

    func schedule(
      after date: VirtualTime,
      tolerance: VirtualTime.Stride,
      options: Never?,
      _ action: @escaping () -> Void
    ) {
      base.schedule(after: date, action)
    }

    func schedule(
      after date: VirtualTime,
      interval: VirtualTime.Stride,
      tolerance: VirtualTime.Stride,
      options: Never?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      timers += 1
      // So that one which never gets on comes to an end here.
      return timers > 100 ? AnyCancellable {} : base.schedule(after: date, interval: interval, action)
    }
  }

  @Test("a countdown gets on though it ends between two nanoseconds, on any scheduler")
  func fractionOfANanosecond() {
    let scheduler = ForeignScheduler()
    let request = RecoverableRequest(upstream, scheduler: scheduler)
    request.load()
    upstream.send(completion: .failure(Trouble(retryAfter: .seconds(4) / 3)))
    scheduler.base.advance(by: .seconds(1))
    expectEqual(request.state.problem?.secondsLeft, 1)
    scheduler.base.advance(by: .seconds(1))
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(scheduler.timers, 2)
  }

  @Test("what must not be done twice is tried again by nobody but a person")
  func mayNotBeRepeated() {
    let request = request(.action)
    request.load()
    fail(.order)
    expectEqual(request.state.problem?.presentation.message?.choices, [.retry, .later])
    #expect(request.state.problem?.secondsLeft == nil)
    expectEqual(scheduler.pendingCount, 0)
    request.retry()
    network.send(false)
    fail(Trouble(isOffline: true, mayBeRepeated: false))
    expectEqual(request.state.problem?.presentation.message?.topic, .offline)
    network.send(true)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 2)
    // Nor if the network comes back before the failure does.
    request.retry()
    network.send(false)
    network.send(true)
    scheduler.advance()
    fail(Trouble(isOffline: true, mayBeRepeated: false))
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 3)
  }

  @Test("nor by a countdown, if the presentation of what must not be done twice has one")
  func mayNotBeRepeatedThoughCountedDown() {
    let upstream = upstream
    let scheduler = scheduler
    let request = RecoverableRequest(
      upstream,
      presenting: { error, _ in
        let hint = (error as? any RetryAfterProviding)?.retryAfter
        return .banner(Presentation.Message(title: "Pause", text: "", choices: [.retry], retryAfter: hint))
      },
      scheduler: scheduler
    )
    request.load()
    fail(.order)
    #expect(request.state.problem?.secondsLeft == nil)
    expectEqual(request.state.problem?.rendered.contains("Trying again"), false)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("tries again by itself when the network comes back after a failure for the lack of it")
  func networkIsBack() {
    let request = request()
    request.load()
    network.send(false)
    fail(.offline)
    expectEqual(request.state.problem?.presentation.message?.topic, .offline)
    network.send(true)
    scheduler.advance()
    expectEqual(upstream.subscriptionCount, 2)
    answer("Sun")
    #expect(request.state.problem == nil)
  }

  @Test("a network that comes and goes starts few tries, ever later, and then none")
  func flapping() {
    let request = request()
    request.load()
    network.send(false)
    fail(.offline)
    var starts: [Int] = []
    // Back and gone every second, for ten minutes.
    for second in 0..<600 {
      let before = upstream.subscriptionCount
      network.send(true)
      scheduler.advance(by: .milliseconds(500))
      if upstream.subscriptionCount > before { starts.append(second) }
      network.send(false)
      if request.state.isLoading { fail(.offline) }
      scheduler.advance(by: .milliseconds(500))
    }
    expectEqual(starts, [0, 2, 6, 14, 30])
    expectEqual(scheduler.pendingCount, 0)
    // A person may, and begins a new row.
    request.retry()
    fail(.offline)
    network.send(true)
    scheduler.advance()
    expectEqual(upstream.subscriptionCount, 8)
  }

  @Test("a network that came back while the request was failing starts a try")
  func cameBackMeanwhile() {
    let request = request()
    network.send(false)
    scheduler.advance()
    request.load()
    network.send(true)
    scheduler.advance()
    expectEqual(upstream.subscriptionCount, 1)
    fail(.offline)
    expectEqual(upstream.subscriptionCount, 2)
    // It is not told to be back a second time, so nothing starts.
    fail(.offline)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 2)
  }

  /// The network goes and comes back.
  private func interrupt() {
    network.send(false)
    network.send(true)
    scheduler.advance()
  }

  @Test("a value ends the row of tries that the network starts, also of a stream that fails after it")
  func valueEndsRow() {
    let request = request(policy: AutomaticRetryPolicy(clamping: 1))
    request.load()
    fail(.offline)
    interrupt()
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send("Sun")
    fail(.offline)
    interrupt()
    expectEqual(upstream.subscriptionCount, 3)
    fail(.offline)
    interrupt()
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 3)
  }

  @Test("a cancel also ends the pause before a try that the network starts")
  func cancelDuringPause() {
    let request = request()
    request.load()
    for _ in 0..<2 {
      fail(.offline)
      interrupt()
    }
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(scheduler.pendingCount, 1)
    request.cancel()
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 2)
    #expect(!request.state.isLoading)
  }

  @Test("what comes after a cancel from inside the subscription counts no more")
  func cancelWhileBeginning() {
    var cancel: () -> Void = {}
    let upstream = TestPublisher<String, Trouble>(whenSubscribed: {
      cancel()
      $0.send("late")
      $0.send(completion: .failure(.server))
    })
    let request = RecoverableRequest(upstream, scheduler: ImmediateScheduler.shared)
    cancel = { [weak request] in request?.cancel() }
    request.load()
    #expect(request.state.value == nil)
    #expect(request.state.problem == nil && !request.state.isLoading)
  }

  @Test("a subscriber that cancels what it is told of has cancelled it")
  func cancelWhileTold() {
    let request = request()
    let subscription = request.$state.sink { [weak request] in if $0.problem != nil { request?.cancel() } }
    request.load()
    fail(.maintenance)
    #expect(request.state.problem == nil && !request.state.isLoading)
    expectEqual(scheduler.pendingCount, 0)
    subscription.cancel()
  }

  @Test("a try that a subscriber cancels when it is told of it does not begin")
  func cancelWhileToldOfTheBeginning() {
    let request = request()
    let subscription = request.$state.sink { [weak request] in if $0.isLoading { request?.cancel() } }
    request.load()
    expectEqual(upstream.subscriptionCount, 0)
    #expect(!request.state.isLoading)
    subscription.cancel()
  }

  /// What somebody does who hears of something.
  enum Deed: CaseIterable {
    case load, cancel

    func callAsFunction(_ request: RecoverableRequest<String>?) {
      switch self {
      case .load: request?.load()
      case .cancel: request?.cancel()
      }
    }
  }

  @Test("who hears of the cancel of a try may begin another one, or give up", arguments: Deed.allCases, Deed.allCases)
  func fromTheCancelHandler(first: Deed, answer: Deed) {
    var heard = 0
    var tell: () -> Void = {}
    let scheduler = scheduler
    let request = RecoverableRequest(
      upstream.handleEvents(receiveCancel: {
        heard += 1
        if heard == 1 { tell() }
      }),
      scheduler: scheduler
    )
    tell = { [weak request] in answer(request) }
    request.load()
    first(request)
    expectEqual(heard, 1)
    expectEqual(request.state.isLoading, answer == .load)
    expectEqual(upstream.subscriptionCount, answer == .load ? 2 : 1)
    upstream.send("Sun")
    scheduler.advance()
    expectEqual(request.state.value, answer == .load ? "Sun" : nil)
  }

  @Test(
    "a try that is begun, or given up, while an error is asked how it is shown outranks the error",
    arguments: Deed.allCases
  )
  func whilePresenting(deed: Deed) {
    var tell: () -> Void = {}
    let scheduler = scheduler
    let request = RecoverableRequest(
      upstream,
      presenting: { error, context in
        tell()
        return present(error, in: context)
      },
      scheduler: scheduler
    )
    tell = { [weak request] in deed(request) }
    request.load()
    fail(.maintenance)
    #expect(request.state.problem == nil && request.state.problemCount == 0)
    expectEqual(request.state.isLoading, deed == .load)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("what comes of a try that a subscriber begins stays, and is told behind what it was told")
  func loadWhileTold() {
    var values = ["old", "new"]
    let request = RecoverableRequest(Deferred { Just(values.removeFirst()) }, scheduler: ImmediateScheduler.shared)
    var told: [String] = []
    let subscription = request.$state.sink { [weak request] state in
      if let value = state.value, value != told.last { told.append(value) }
      if state.value == "old", values.count == 1 { request?.load() }
    }
    request.load()
    expectEqual(request.state.value, "new")
    expectEqual(told, ["old", "new"])
    #expect(!request.state.isLoading)
    subscription.cancel()
  }

  @Test("a network that came back while the request was failing, and went again, starts nothing before it is back")
  func goneAgainMeanwhile() {
    let request = request()
    request.load()
    interrupt()
    network.send(false)
    scheduler.advance()
    fail(.offline)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 1)
    network.send(true)
    scheduler.advance()
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("the return of the network starts nothing after another failure, or while a try runs")
  func otherFailures() {
    let request = request()
    request.load()
    network.send(false)
    network.send(true)
    scheduler.advance()
    expectEqual(upstream.subscriptionCount, 1)
    fail(.permanent)
    network.send(false)
    network.send(true)
    scheduler.advance()
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("a new try outranks the one that runs, whose answer is dropped")
  func outranks() {
    let request = request()
    request.load()
    request.load()
    expectEqual(upstream.cancelCount, 1)
    upstream.connections[0].send("old")
    upstream.connections[1].send("new")
    scheduler.advance()
    expectEqual(request.state.value, "new")
  }

  @Test("a cancel takes error and countdown away, and keeps the value; a late answer is dropped")
  func cancels() {
    let request = request()
    request.load()
    answer("Sun")
    request.load()
    fail(.maintenance)
    request.cancel()
    #expect((request.state.value, request.state.problem, request.state.isLoading) == ("Sun", nil, false))
    expectEqual(scheduler.pendingCount, 0)
    request.load()
    request.cancel()
    upstream.send("late")
    scheduler.advance()
    expectEqual(request.state.value, "Sun")
  }

  @Test("a cancelled request shows no error")
  func cancelIsNoFailure() {
    let request = request()
    request.load()
    fail(.cancelled)
    #expect(request.state.problem == nil)
    expectEqual(request.state.problemCount, 0)
    #expect(!request.state.isLoading)
  }

  @Test("is released with its timer and its try")
  func release() {
    weak var weakRequest: RecoverableRequest<String>?
    do {
      let request = request()
      weakRequest = request
      request.load()
      fail(.maintenance)
    }
    #expect(weakRequest == nil)
    expectEqual(scheduler.pendingCount, 0)
    do {
      let request = request()
      request.load()
    }
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("the problem as text, with its countdown")
  func rendered() {
    let request = request()
    request.load()
    fail(.maintenance)
    scheduler.advance(by: 5)
    expectEqual(request.state.problem?.rendered.contains("Trying again in 12 s"), true)
    request.retry()
    expectEqual(request.state.problem?.rendered.contains("Trying again …"), true)
    // A try that was cancelled leaves the error, and no countdown.
    fail(.cancelled)
    #expect(request.state.problem?.secondsLeft == nil)
    expectEqual(request.state.problem?.rendered.contains("Trying again"), false)
  }
}
