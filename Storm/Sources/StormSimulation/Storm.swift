import Rebound
import ReboundTesting

/// One run: all clients with one policy, through one scenario, in virtual time.
///
/// The delays are those of ``Rebound/Backoff``, the retries those that ``Rebound/RetryBudget`` grants, the calls those
/// that ``Rebound/CircuitBreaker`` admits; the order in which they are asked is that of ``Rebound/RetryPolicy``.
struct Storm {
  /// What a client does when it is its turn.
  private enum Phase: UInt8 {
    case begin, retry, succeeded, failed
  }

  private let scenario: Scenario
  private let policy: ClientPolicy
  private let maxRetries: Int
  private let random: RandomSource
  /// What the calls of breakers go by.
  private let clock = TestScheduler()
  private let time: TimeSource
  private var now = Duration.zero
  private let latency: Int
  private let periodTicks: Int
  private let processes: Int

  private var calendar: Calendar
  private var server: Server
  private var result: StormResult

  // One entry for each client.
  private var phases: [Phase]
  private var retries: [UInt16]
  private var nextBegin: [Int32]
  private var delays: [Backoff.Delays?]
  private var grants: [RetryBudget.Retry?]
  private var calls: [CircuitBreaker.Call?]
  // One entry for each process, or none at all.
  private var budgets: [RetryBudget] = []
  private var breakers: [CircuitBreaker] = []

  init(_ scenario: Scenario, _ policy: ClientPolicy) throws {
    self.scenario = scenario
    self.policy = policy
    maxRetries = policy.retry.maxRetries ?? .max
    random = .seeded(scenario.seed)
    latency = max(scenario.latency / Tick.milliseconds, 1)
    periodTicks = scenario.period * Tick.perSecond
    processes = scenario.processes
    calendar = Calendar(ticks: scenario.duration * Tick.perSecond, clients: scenario.clients)
    server = Server(scenario)
    result = StormResult(policy: policy.name, scenario: scenario)
    phases = Array(repeating: .begin, count: scenario.clients)
    retries = Array(repeating: 0, count: scenario.clients)
    nextBegin = Array(repeating: 0, count: scenario.clients)
    delays = Array(repeating: nil, count: policy.retry.maxRetries == 0 ? 0 : scenario.clients)
    grants = Array(repeating: nil, count: policy.budgetRatio == nil ? 0 : scenario.clients)
    calls = Array(repeating: nil, count: policy.breaker == nil ? 0 : scenario.clients)
    time = clock.time
    for number in 0..<processes {
      if let ratio = policy.budgetRatio {
        budgets.append(try .ratio(ratio, window: .seconds(2), floor: 1))
      }
      if let breaker = policy.breaker {
        breakers.append(CircuitBreaker("process \(number)", policy: breaker))
      }
    }
  }

  /// Plays the scenario from its beginning to its end.
  consuming func run() -> StormResult {
    spreadClients()
    for tick in 0..<scenario.duration * Tick.perSecond {
      let second = tick / Tick.perSecond
      now = .milliseconds(tick * Tick.milliseconds)
      clock.advance(to: VirtualTime(nanoseconds: tick * Tick.milliseconds * 1_000_000))
      server.isDown = scenario.outage.contains(second)
      server.beginTick()
      while let client = calendar.take(at: tick) { turn(of: client, tick, second) }
    }
    return result
  }

  /// Gives each client its own moment.
  ///
  /// Clients are numbered in the order of their moments, so that who acts together lies together in memory.
  private mutating func spreadClients() {
    for client in 0..<scenario.clients {
      let tick = client * periodTicks / scenario.clients
      nextBegin[client] = Int32(truncatingIfNeeded: tick)
      calendar.enter(client, at: tick)
    }
  }

  private mutating func turn(of client: Int, _ tick: Int, _ second: Int) {
    switch phases[client] {
    case .begin:
      result.begin(in: second)
      retries[client] = 0
      if !budgets.isEmpty { budgets[process(of: client)].begin(at: now) }
      attempt(client, tick, second)
    case .retry:
      if !grants.isEmpty { grants[client]?.begin(at: now) }
      attempt(client, tick, second)
    case .succeeded:
      if !calls.isEmpty { take(&calls[client])?.succeed() }
      if !budgets.isEmpty { budgets[process(of: client)].succeed(after: grants[client]) }
      result.succeed(in: second)
      rest(client, tick)
    case .failed:
      if !calls.isEmpty { take(&calls[client])?.fail(with: ServerFailure()) }
      decide(client, tick, second)
    }
  }

  private mutating func attempt(_ client: Int, _ tick: Int, _ second: Int) {
    if !breakers.isEmpty {
      do throws(CircuitOpen) {
        calls[client] = try breakers[process(of: client)].admit(on: time)
      } catch {
        // Not worth a retry by itself: the breaker would refuse again.
        return giveUp(client, tick, second)
      }
    }
    let isServed = server.serves()
    result.offer(served: isServed, in: second)
    phases[client] = isServed ? .succeeded : .failed
    calendar.enter(client, at: tick + latency)
  }

  /// What comes of a failure, in the order in which a policy asks.
  private mutating func decide(_ client: Int, _ tick: Int, _ second: Int) {
    guard Int(retries[client]) < maxRetries else { return giveUp(client, tick, second) }
    if retries[client] == 0 { delays[client] = policy.retry.backoff.delays(random: random) }
    let delay = delays[client]?.next() ?? .zero
    if !budgets.isEmpty {
      guard let grant = budgets[process(of: client)].grant(at: now) else { return giveUp(client, tick, second) }
      grants[client] = grant
    }
    retries[client] += 1
    phases[client] = .retry
    calendar.enter(client, at: tick + Tick.count(of: delay))
  }

  private mutating func giveUp(_ client: Int, _ tick: Int, _ second: Int) {
    result.giveUp(in: second)
    rest(client, tick)
  }

  /// Waits for the next of the client's moments that has not passed.
  private mutating func rest(_ client: Int, _ tick: Int) {
    if !grants.isEmpty { grants[client] = nil }
    if retries[client] > 0 { delays[client] = nil }
    var next = Int(nextBegin[client])
    repeat { next += periodTicks } while next <= tick
    nextBegin[client] = Int32(truncatingIfNeeded: next)
    phases[client] = .begin
    calendar.enter(client, at: next)
  }

  /// The clients of a process have moments that are spread over the whole period.
  private func process(of client: Int) -> Int { client % processes }

  private func take(_ call: inout CircuitBreaker.Call?) -> CircuitBreaker.Call? {
    let taken = call
    call = nil
    return taken
  }
}
