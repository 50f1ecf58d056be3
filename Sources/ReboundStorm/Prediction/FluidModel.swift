import Foundation

/// A scenario as amounts that flow; see ``Prediction`` for what it assumes.
///
/// Clients of class *n* make their *n*th retry; those of class 0 their first attempt.
struct FluidModel {
  private static let stepsPerSecond = 50

  // What happened in each second.
  private(set) var offered: [Double]
  private(set) var served: [Double]
  private(set) var begun: [Double]
  /// Of those that began since the first fault came.
  private(set) var givenUpSinceFault = 0.0

  private let settings: PolicySettings
  private let scenario: Scenario
  private let length = 1 / Double(stepsPerSecond)
  private let stepCount: Int
  private let workers: Double
  private let workTime: Double
  private var now = 0
  /// What comes at the service, by class and step; of all steps those that anybody waits for now, in a ring.
  private var due: [[Double]]
  /// Who waits at the service, by class.
  private var queue: [Double]
  /// Work that refusals have cost, in seconds.
  private var debt = 0.0
  /// Clients between the beginning of a request and its end, by class.
  private var busy: [Double]
  /// Those of them who began before the first fault came.
  private var older: [Double]
  /// Which share of the clients of a class count as those who leave their next turn out.
  private var overdueShares: [Double]
  private var budget: FluidBudget?
  private var throttle: FluidThrottle?

  /// - Parameter capacity: As a multiple of what the service bears.
  init(_ settings: PolicySettings, _ scenario: Scenario, capacity: Double = 1) {
    self.settings = settings
    self.scenario = scenario
    let seconds = Int(scenario.duration.rounded(.up))
    offered = Array(repeating: 0, count: seconds)
    (served, begun) = (offered, offered)
    stepCount = seconds * Self.stepsPerSecond
    let service = scenario.service
    workers = Double(service.replicas * service.concurrency)
    workTime = workers / service.capacity / capacity
    queue = Array(repeating: 0, count: settings.maxRetries + 1)
    (busy, older, overdueShares) = (queue, queue, queue)
    due = Array(repeating: [], count: queue.count)
    if let ratio = settings.budgetRatio {
      budget = FluidBudget(ratio: ratio, processes: scenario.processes, steps: 2 * Self.stepsPerSecond, stepCount)
    }
    if let throttle = settings.throttle {
      let steps = max(self.steps(throttle.window), 1)
      self.throttle = FluidThrottle(throttle, processes: scenario.processes, steps: steps, stepCount)
    }
    let longestWait = max(scenario.networkDelay, settings.attemptTimeout ?? 0) + delay(beforeRetry: queue.count).longest
    // One step more for a wait that takes none, and one for its rounding.
    let ring = min(steps(longestWait) + 2, stepCount)
    for index in due.indices { due[index] = Array(repeating: 0, count: ring) }
    // A request leaves out as many turns as there are whole periods in it: half a period less than its length, on the mean.
    if case .periodic(_, let period) = scenario.arrivals { overdueShares = shares(olderThan: period / 2) }
  }

  /// As ``Prediction/secondsToRecover`` has it.
  var recovery: Int? {
    // By the measure of a play, tolerance included: it is the play's verdict that is predicted.
    Recovery(of: scenario, served: served, offered: offered, begun: begun)
      .seconds(after: min(Int((scenario.endOfFaults ?? 0).rounded(.up)), begun.count))
  }

  private func shares(olderThan period: Double) -> [Double] {
    var age = 0.0
    return queue.indices.map { retries in
      guard retries > 0 else { return 0 }
      let range = delay(beforeRetry: retries)
      let mean = (range.shortest + range.longest) / 2 + scenario.networkDelay
      age += mean
      return mean > 0 ? min(max((age - period) / mean, 0), 1) : 0
    }
  }

  /// Between what a delay lies; retries count from 1.
  private func delay(beforeRetry retry: Int) -> (shortest: Double, longest: Double) {
    // As the backoff of the settings has it; zero stays zero, also where the growth is infinite.
    let first = settings.firstDelay
    let grows = first > 0 && settings.multiplier > 1
    let most = grows ? max(settings.longestDelay, first) : first
    // Longer than any play, and still a number to reckon with.
    let longest = min(first * (grows ? pow(settings.multiplier, Double(retry - 1)) : 1), most, 1e9)
    switch settings.spread {
    case .none: return (longest, longest)
    case .equal: return (longest / 2, longest)
    case .full: return (0, longest)
    }
  }

  private var time: Double { Double(now) * length }
  private var second: Int { now / Self.stepsPerSecond }

  /// - Returns: Whether there is another step.
  mutating func step() -> Bool {
    guard now < stepCount else { return false }
    if now == scenario.secondOfFaults * Self.stepsPerSecond { older = busy }
    let place = now % due[0].count
    var coming: [Double] = []
    for index in due.indices {
      coming.append(due[index][place])
      due[index][place] = 0
    }
    let new = newRequests()
    busy[0] += new
    begun[second] += new
    coming[0] += new
    budget?.begin(new, coming.dropFirst().reduce(0, +), at: now)
    if let share = throttle?.refusedShare, share > 0 {
      fail(coming.map { $0 * share }, after: 0)
      coming = coming.map { $0 * (1 - share) }
    }
    offer(coming)
    throttle?.move(from: now)
    now += 1
    return true
  }

  private func newRequests() -> Double {
    switch scenario.arrivals {
    // Who still waits when it is time to ask again leaves the turn out.
    case .periodic(let clients, let period):
      max(Double(clients) - zip(busy, overdueShares).reduce(0) { $0 + $1.0 * $1.1 }, 0) / period * length
    case .closed(let clients, let thinkTime):
      max(Double(clients) - busy.reduce(0, +), 0) / thinkTime.mean * length
    case .daily(let rate, let amplitude, let period):
      rate * length * (1 + amplitude * sine(turns: time / period))
    case .constant, .poisson, .bursts: scenario.arrivals.rate * length
    }
  }

  // MARK: The service

  private mutating func offer(_ coming: [Double]) {
    offered[second] += coming.reduce(0, +)
    let lost = lostShare
    if lost > 0 { loseShare(lost, of: coming) }
    if isOut {
      fail(coming.map { $0 * (1 - lost) }, after: scenario.networkDelay)
      fail(queue, after: scenario.networkDelay)
      queue = queue.map { _ in 0 }
      return
    }
    let out = outShare * (1 - lost)
    if out > 0 { fail(coming.map { $0 * out }, after: scenario.networkDelay) }
    let heard = held(coming.map { $0 * (1 - lost - out) })
    for index in queue.indices { queue[index] += heard[index] }
    work()
  }

  private var faults: [ServiceFault] { scenario.faults.filter { $0.begin <= time && time < $0.end } }

  private var isOut: Bool {
    faults.contains { fault in
      switch fault {
      case .outage, .dependencyOutage: true
      default: false
      }
    }
  }

  /// Which share the network loses: each fault of those that the others leave, but the same processes are cut off by all.
  private var lostShare: Double {
    var (arriving, cutOff) = (1.0, 0.0)
    for fault in faults {
      switch fault {
      case .packetLoss(let share, _, _): arriving *= 1 - share
      case .partition(let share, _, _): cutOff = max(cutOff, share)
      default: break
      }
    }
    return 1 - arriving * (1 - cutOff)
  }

  /// Which share of the replicas is out.
  private var outShare: Double {
    let count = faults.count { if case .replicaOutage = $0 { true } else { false } }
    return min(Double(count) / Double(scenario.service.replicas), 1)
  }

  /// What is lost is known when the attempt's timeout is over; without one, never.
  private mutating func loseShare(_ share: Double, of coming: [Double]) {
    guard let timeout = settings.attemptTimeout else { return }
    fail(coming.map { $0 * share }, after: timeout)
  }

  /// What a service that starts slowly lets in.
  private mutating func held(_ coming: [Double]) -> [Double] {
    guard scenario.service.slowStart < 1, let warmth else { return coming }
    let share = scenario.service.slowStart + (1 - scenario.service.slowStart) * warmth
    fail(coming.map { $0 * (1 - share) }, after: scenario.networkDelay)
    return coming.map { $0 * share }
  }

  private var warmth: Double? {
    let back = scenario.faults.filter { fault in
      if case .outage = fault { return fault.end <= time }
      return false
    }.map(\.end).max()
    guard let back, scenario.service.warmUp > 0 else { return nil }
    let warmth = (time - back) / scenario.service.warmUp
    return warmth < 1 ? warmth : nil
  }

  /// How long the work on a request takes now.
  private var presentTime: Double {
    let service = scenario.service
    var time = workTime
    for fault in faults {
      switch fault {
      case .brownout(let factor, _, _): time *= factor
      case .slowReplica(_, let factor, _, _): time *= 1 + (factor - 1) / Double(service.replicas)
      default: break
      }
    }
    if outShare < 1 { time /= 1 - outShare }
    if service.coldFactor > 1, let warmth { time *= service.coldFactor + (1 - service.coldFactor) * warmth }
    time *= 1 + service.collapse * queue.reduce(0, +) / Double(service.replicas)
    return time
  }

  /// Does a step's work, and refuses who does not fit into the queue any more.
  private mutating func work() {
    let share = debt / workers
    let rate = workers / (presentTime + share)
    let waiting = queue.reduce(0, +)
    guard waiting > 0 else { return }
    let done = min(waiting, rate * length)
    let answered = queue.map { $0 * done / waiting }
    for index in queue.indices { queue[index] -= answered[index] }
    let isLate = settings.attemptTimeout.map { waiting / rate + presentTime > $0 } ?? false
    if isLate {
      fail(answered, after: 0)
    } else {
      served[second] += done
      throttle?.accept(done, at: now)
      for index in busy.indices { end(answered[index], index) }
    }
    refuseWhoDoesNotFit(rate)
  }

  private mutating func refuseWhoDoesNotFit(_ rate: Double) {
    let service = scenario.service
    let waiting = queue.reduce(0, +)
    var most = service.queueLimit.map { Double($0) * Double(service.replicas) } ?? .infinity
    var costs = service.refusalCost
    if let timeout = settings.attemptTimeout, service.noticesAbandoned, timeout * rate < most {
      (most, costs) = (timeout * rate, 0)
    }
    let excess = max(waiting - most, 0)
    moveDebt(refused: excess / length, costing: costs * service.time.mean, rate)
    guard excess > 0 else { return }
    let refused = queue.map { $0 * excess / waiting }
    for index in queue.indices { queue[index] -= refused[index] }
    fail(refused, after: scenario.networkDelay)
  }

  /// Refusals cost work up to a limit, so chance matters: what comes above the limit is not made good by what stays below.
  ///
  /// The debt of a replica is a process that goes back to its mean (Ornstein-Uhlenbeck) and is reflected at the limit; its
  /// stationary distribution is a normal one that is cut off there, and is reached within a tenth of a second or two.
  private mutating func moveDebt(refused: Double, costing cost: Double, _ rate: Double) {
    let replicas = Double(scenario.service.replicas)
    let decay = rate / workers
    let share = debt / workers
    let mean = refused * cost / replicas / decay
    let variance = (refused * cost * cost + rate * share * share) / replicas / (2 * decay)
    let limit = 0.1 * Double(scenario.service.concurrency)
    let debtOfAll = replicas * NormalDistribution(mean: mean, deviation: variance.squareRoot()).mean(below: limit)
    debt += (max(debtOfAll, 0) - debt) * (1 - exp(-decay * length))
  }

  // MARK: The clients

  /// So much has failed, of each class, and is known to have after a while.
  private mutating func fail(_ amounts: [Double], after delay: Double) {
    let known = now + steps(delay)
    throttle?.fail(amounts.reduce(0, +), at: known)
    for (retries, amount) in amounts.enumerated() where amount > 0 {
      var granted = retries < settings.maxRetries ? amount : 0
      if budget != nil, granted > 0 { granted = budget?.grant(granted) ?? 0 }
      let olderShare = end(amount, retries)
      if second >= scenario.secondOfFaults { givenUpSinceFault += (amount - granted) * (1 - olderShare) }
      guard granted > 0 else { continue }
      older[retries + 1] += granted * olderShare
      retry(granted, retries, after: delay)
    }
  }

  /// So many attempts of a class end.
  ///
  /// - Returns: Which share of them is of requests that began before the first fault came: mixed well, the same as of all.
  @discardableResult
  private mutating func end(_ amount: Double, _ retries: Int) -> Double {
    let share = busy[retries] > 0 ? min(older[retries] / busy[retries], 1) : 0
    busy[retries] -= amount
    older[retries] = max(older[retries] - amount * share, 0)
    return share
  }

  private mutating func retry(_ amount: Double, _ retries: Int, after delay: Double) {
    let (shortest, longest) = self.delay(beforeRetry: retries + 1)
    busy[retries + 1] += amount
    // Before the next step nobody can be back.
    let first = now + max(steps(delay + shortest), 1)
    let last = max(now + steps(delay + longest), first)
    let part = amount / Double(last - first + 1)
    guard first < stepCount else { return }
    let ring = due[retries + 1].count
    let (low, high) = (first % ring, min(last, stepCount - 1) % ring)
    if low <= high { return Self.add(part, to: &due[retries + 1], at: low...high) }
    Self.add(part, to: &due[retries + 1], at: low...(ring - 1))
    Self.add(part, to: &due[retries + 1], at: 0...high)
  }

  /// How many steps a time takes, which may be longer than any play.
  private func steps(_ seconds: Double) -> Int { Int(((seconds < 1e9 ? max(seconds, 0) : 1e9) / length).rounded()) }

  private static func add(_ part: Double, to row: inout [Double], at steps: ClosedRange<Int>) {
    for step in steps { row[step] += part }
  }
}

private struct NormalDistribution {
  let mean: Double
  let deviation: Double

  /// The mean of what lies below a limit.
  func mean(below limit: Double) -> Double {
    guard deviation > 0 else { return min(mean, limit) }
    let place = (limit - mean) / deviation
    // The ratio of density and distribution far below the mean: Mills, 1926.
    guard place > -8 else { return limit + deviation / place }
    let density = exp(-place * place / 2) / (2 * Double.pi).squareRoot()
    return mean - deviation * density / (erfc(-place / 2.0.squareRoot()) / 2)
  }
}
