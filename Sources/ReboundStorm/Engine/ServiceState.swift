import Rebound
import ReboundLoadBalancing

/// A service while it is played.
///
/// Access to what is stored is not checked; see ``ServiceAttempt``.
final class ServiceState {
  private struct Replica {
    var running = 0
    /// Those who wait, the cancelled ones included, from `first` on.
    var queue: [ServiceAttempt] = []
    var first = 0
    /// How many wait, the cancelled ones left out if that is noticed.
    var waiting = 0
    /// Work that refusals have cost and that is not done yet, in seconds.
    var debt = 0.0
    /// When nobody waited last.
    var emptied = 0.0
    /// How long the last answers took, work and waiting, in seconds: a mean that forgets.
    var latency = 0.0
  }

  private let model: Service
  private let agenda: Agenda
  private let recorder: StormRecorder?
  private let networkDelay: Double
  private let outages: [(from: Double, to: Double)]
  private let faults: [ServiceFault]
  private let processes: Int
  @exclusivity(unchecked) private var random: StormRandom
  @exclusivity(unchecked) private var replicas: [Replica]
  @exclusivity(unchecked) private var dependencies: [ServiceState] = []
  @exclusivity(unchecked) private var lastReplica = 0
  private let meanTime: Double
  private let changesSpeed: Bool

  /// - Parameters:
  ///   - recorder: Told of each request; `nil` for a dependency.
  ///   - part: Which part's chance it draws.
  init(_ model: Service, scenario: Scenario, agenda: Agenda, recorder: StormRecorder?, part: UInt64 = 1) {
    self.model = model
    self.agenda = agenda
    self.recorder = recorder
    networkDelay = recorder == nil ? 0 : scenario.networkDelay
    // The faults are those of the service, but one, which is its first dependency's.
    faults = recorder == nil ? [] : scenario.faults
    let isFirstDependency = part == 2
    outages = scenario.faults.compactMap { fault in
      switch fault {
      case .outage(let from, let to) where recorder != nil: (from, to)
      case .dependencyOutage(let from, let to) where isFirstDependency: (from, to)
      default: nil
      }
    }
    processes = scenario.processes
    random = StormRandom(seed: scenario.seed, part: part)
    replicas = Array(repeating: Replica(), count: model.replicas)
    meanTime = model.time.mean
    changesSpeed =
      !faults.isEmpty || !outages.isEmpty || model.collapse > 0 || model.pauseEvery > 0 || model.refusalCost > 0
    var next = part + 1
    for dependency in model.dependencies {
      dependencies.append(ServiceState(dependency, scenario: scenario, agenda: agenda, recorder: nil, part: next))
      next += dependency.partCount
    }
    for outage in outages { agenda.enter(.outageBegins(self, nil), afterSeconds: outage.from) }
    for case .replicaOutage(let replica, let from, _) in faults {
      agenda.enter(.outageBegins(self, replica), afterSeconds: from)
    }
  }

  var replicaCount: Int { replicas.count }

  private var isOut: Bool {
    guard !outages.isEmpty else { return false }
    let now = agenda.seconds
    return outages.contains { $0.from <= now && now < $0.to }
  }

  private func isOut(_ replica: Int) -> Bool {
    guard !faults.isEmpty else { return false }
    let now = agenda.seconds
    return faults.contains { fault in
      guard case .replicaOutage(replica, let from, let to) = fault else { return false }
      return from <= now && now < to
    }
  }

  // MARK: Requests

  func begin(_ attempt: ServiceAttempt) {
    attempt.arrival = agenda.now
    recorder?.offer(at: agenda.now)
    if isLost(attempt) { return }
    if isOut { return end(attempt, .unavailable) }
    if isHeldBack() { return end(attempt, .refused) }
    let index = attempt.target ?? pick()
    attempt.replica = index
    if !replicas.indices.contains(index) || isOut(index) { return end(attempt, .unavailable) }
    if replicas[index].running < model.concurrency {
      start(attempt)
    } else if model.queueLimit.map({ replicas[index].waiting < $0 }) ?? true {
      if replicas[index].waiting == 0 { replicas[index].emptied = agenda.seconds }
      attempt.isQueued = true
      replicas[index].waiting += 1
      replicas[index].queue.append(attempt)
    } else {
      refuse(attempt)
    }
  }

  private func isLost(_ attempt: ServiceAttempt) -> Bool {
    guard !faults.isEmpty else { return false }
    let now = agenda.seconds
    return faults.contains { fault in
      guard fault.begin <= now, now < fault.end else { return false }
      switch fault {
      case .packetLoss(let share, _, _): return random.unit() < share
      case .partition(let share, _, _): return Double(attempt.process) < share * Double(processes)
      default: return false
      }
    }
  }

  /// Whether a service that has just come back does not take its full share yet.
  private func isHeldBack() -> Bool {
    guard model.slowStart < 1, let warmth = warmth() else { return false }
    return random.unit() >= model.slowStart + (1 - model.slowStart) * warmth
  }

  /// How much of the warm-up after the last outage is over; `nil` if all of it is.
  private func warmth() -> Double? {
    guard model.warmUp > 0, let back = outages.map(\.to).filter({ $0 <= agenda.seconds }).max() else { return nil }
    let warmth = (agenda.seconds - back) / model.warmUp
    return warmth < 1 ? warmth : nil
  }

  private func pick() -> Int {
    guard replicas.count > 1 else { return 0 }
    switch model.balancing {
    case .random: return random.index(below: replicas.count)
    case .roundRobin:
      lastReplica = (lastReplica + 1) % replicas.count
      return lastReplica
    case .leastRequests:
      return replicas.indices.min { load(of: $0) < load(of: $1) } ?? 0
    }
  }

  private func load(of replica: Int) -> Int { replicas[replica].running + replicas[replica].waiting }

  private func refuse(_ attempt: ServiceAttempt) {
    if model.refusalCost > 0 {
      let index = attempt.replica
      // Whoever finds even the queue of refusals full is not heard at all, and costs nothing.
      let most = 0.1 * Double(model.concurrency)
      replicas[index].debt = min(replicas[index].debt + model.refusalCost * meanTime, most)
    }
    end(attempt, .refused)
  }

  // MARK: Work

  private func start(_ attempt: ServiceAttempt) {
    replicas[attempt.replica].running += 1
    var length = model.time.draw(&random)
    if changesSpeed { length = slowed(length, at: attempt.replica) }
    agenda.enter(.workDone(attempt), afterSeconds: length)
  }

  private func slowed(_ work: Double, at index: Int) -> Double {
    let now = agenda.seconds
    var work = work
    for fault in faults where fault.begin <= now && now < fault.end {
      switch fault {
      case .brownout(let factor, _, _): work *= factor
      case .slowReplica(let replica, let factor, _, _) where replica == index: work *= factor
      default: break
      }
    }
    if model.coldFactor > 1, let warmth = warmth() { work *= model.coldFactor + (1 - model.coldFactor) * warmth }
    if model.collapse > 0 { work *= 1 + model.collapse * Double(replicas[index].waiting) }
    if replicas[index].debt > 0 {
      // All who work share it, so nobody is held up by all of it.
      let share = replicas[index].debt / Double(model.concurrency)
      replicas[index].debt -= share
      work += share
    }
    return model.pauseEvery > 0 ? withPauses(work, at: index) : work
  }

  /// The pauses of the replicas come at different moments.
  private func withPauses(_ work: Double, at index: Int) -> Double {
    let (every, length) = (model.pauseEvery, model.pauseLength)
    let offset = every * Double(index + 1) / Double(replicas.count)
    let phase = (agenda.seconds + offset).truncatingRemainder(dividingBy: every)
    let wait = max(length - phase, 0)
    let untilPause = every - max(phase, length)
    guard work > untilPause else { return wait + work }
    let pauses = ((work - untilPause) / (every - length)).rounded(.down) + 1
    return wait + work + pauses * length
  }

  func workDone(_ attempt: ServiceAttempt) {
    let isOut = isOut || isOut(attempt.replica)
    if attempt.dependency < dependencies.count, !isOut {
      let next = dependencies[attempt.dependency]
      attempt.dependency += 1
      next.begin(DependencyAttempt(of: attempt, at: next))
    } else {
      release(attempt, isOut ? .unavailable : nil)
    }
  }

  func dependencyEnded(_ attempt: ServiceAttempt, _ failure: ServiceFailure?) {
    if failure == nil { workDone(attempt) } else { release(attempt, .unavailable) }
  }

  private func release(_ attempt: ServiceAttempt, _ failure: ServiceFailure?) {
    replicas[attempt.replica].running -= 1
    startNext(at: attempt.replica)
    if failure == nil {
      recorder?.answer(at: agenda.now, isWanted: !attempt.isCancelled)
      let latency = Double(agenda.now - attempt.arrival) * 1e-9
      replicas[attempt.replica].latency += 0.05 * (latency - replicas[attempt.replica].latency)
    }
    if !attempt.isCancelled { end(attempt, failure) }
  }

  private func startNext(at index: Int) {
    while replicas[index].running < model.concurrency, let attempt = takeNext(at: index) {
      start(attempt)
    }
  }

  private func takeNext(at index: Int) -> ServiceAttempt? {
    while let attempt = takeAny(at: index) {
      attempt.isQueued = false
      if attempt.isCancelled, model.noticesAbandoned { continue }
      replicas[index].waiting -= 1
      if isTooLate(attempt, at: index) {
        refuse(attempt)
        continue
      }
      return attempt
    }
    replicas[index].emptied = agenda.seconds
    return nil
  }

  private func takeAny(at index: Int) -> ServiceAttempt? {
    guard replicas[index].first < replicas[index].queue.count else { return nil }
    if case .lifo = model.queue { return replicas[index].queue.popLast() }
    let attempt = replicas[index].queue[replicas[index].first]
    replicas[index].first += 1
    if replicas[index].first > 1_024, replicas[index].first * 2 > replicas[index].queue.count {
      replicas[index].queue.removeFirst(replicas[index].first)
      replicas[index].first = 0
    }
    return attempt
  }

  private func isTooLate(_ attempt: ServiceAttempt, at index: Int) -> Bool {
    guard case .controlledDelay(let target, let interval) = model.queue else { return false }
    let waited = Double(agenda.now - attempt.arrival) * 1e-9
    let hasStood = agenda.seconds - replicas[index].emptied > interval
    return waited > (hasStood ? target : interval)
  }

  /// One who waits has gone.
  func abandon(_ attempt: ServiceAttempt) {
    guard model.noticesAbandoned else { return }
    let index = attempt.replica
    replicas[index].waiting -= 1
    // Those who come last are taken first, so the cancelled ones below would never be.
    if replicas[index].queue.count > 2 * replicas[index].waiting + 1_024 {
      replicas[index].queue.removeSubrange(..<replicas[index].first)
      replicas[index].first = 0
      replicas[index].queue.removeAll { $0.isCancelled }
    }
  }

  /// An outage of a replica begins, or of all: who waits hears it.
  func outageBegins(at replica: Int?) {
    for index in replica.map({ $0..<($0 + 1) }) ?? replicas.indices {
      let waiting = replicas[index].queue[replicas[index].first...]
      replicas[index].queue = []
      (replicas[index].first, replicas[index].waiting) = (0, 0)
      for attempt in waiting where !attempt.isCancelled {
        attempt.isQueued = false
        end(attempt, .unavailable)
      }
    }
  }

  // MARK: Probes

  /// A client asks a replica for its load, which costs nothing.
  func beginProbe(_ probe: ServiceAttempt, of replica: Int) {
    if isLost(probe) { return }
    let isThere = replicas.indices.contains(replica) && !isOut && !isOut(replica)
    probe.failure = isThere ? nil : .unavailable
    agenda.enter(.deliver(probe), afterSeconds: networkDelay)
  }

  /// As a replica would tell it now.
  func load(ofReplica index: Int) -> ReplicaLoad {
    ReplicaLoad(requestsInFlight: load(of: index), latency: .seconds(replicas[index].latency))
  }

  private func end(_ attempt: ServiceAttempt, _ failure: ServiceFailure?) {
    attempt.failure = failure
    if failure != nil { recorder?.refuse(at: agenda.now) }
    // An end that comes within the request could nest without bound.
    if failure == nil, networkDelay == 0 { return attempt.deliver() }
    agenda.enter(.deliver(attempt), afterSeconds: networkDelay)
  }
}
