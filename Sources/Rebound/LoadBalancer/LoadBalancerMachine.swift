import Foundation

/// Knows how loaded replicas are, and picks one.
///
/// It has no clock and no lock.
struct LoadBalancerMachine<Replica: Hashable & Sendable>: Sendable {
  /// What the client itself has seen of a replica.
  private struct Sight {
    var inFlight = 0
    var latency = PeakAverage()
    /// Apart from the latency, so that one who fails at once does not seem quick.
    var failures = PeakAverage()
  }

  /// What a replica has said of itself.
  private struct Answer {
    let replica: Replica
    var inFlight: Int
    let latency: Double
    let at: Duration
  }

  private struct Candidate {
    let replica: Replica
    let inFlight: Int
    let latency: Double
  }

  private let policy: LoadBalancerPolicy
  private(set) var replicas: [Replica]
  private var sights: [Replica: Sight] = [:]
  private var answers: [Answer] = []
  private var loads = RecentLoads()
  private var owedProbes = 0.0

  /// - Parameter replicas: At least one.
  init(_ policy: LoadBalancerPolicy, among replicas: [Replica]) {
    self.policy = policy
    self.replicas = replicas
  }

  /// Others are there from now on: at least one.
  mutating func replace(by replicas: [Replica]) {
    self.replicas = replicas
    let known = Set(replicas)
    sights = sights.filter { known.contains($0.key) }
    answers.removeAll { !known.contains($0.replica) }
  }

  // MARK: Picking

  /// Picks the replica of an attempt.
  ///
  /// - Parameters:
  ///   - tried: Where attempts of the same call have been, in order; one of them only if there is no other.
  ///   - isProbed: Whether replicas are asked for their loads.
  mutating func pick(
    notAmong tried: [Replica],
    isProbed: Bool,
    at now: Duration,
    random: RandomSource
  ) -> Replica {
    var allowed = replicas
    if !tried.isEmpty {
      allowed.removeAll(where: tried.contains)
      if allowed.isEmpty { allowed = replicas.filter { $0 != tried.last } }
      if allowed.isEmpty { allowed = replicas }
    }
    guard allowed.count > 1 else { return allowed[0] }
    if isProbed {
      answers.removeAll { now - $0.at > policy.maxProbeAge }
      let known = answers.filter { allowed.contains($0.replica) }
      if known.count > 1 {
        let candidates = known.map { answer in
          let latency = max(answer.latency, latency(of: answer.replica, at: now))
          return Candidate(replica: answer.replica, inFlight: answer.inFlight, latency: latency)
        }
        let replica = best(of: candidates, from: Int(random.next() * Double(candidates.count)))
        // Others pick by the same answer until the next one comes.
        if let index = answers.firstIndex(where: { $0.replica == replica }) { answers[index].inFlight += 1 }
        return replica
      }
    }
    let start = Int(random.next() * Double(allowed.count))
    if allowed.count > policy.maxCandidates {
      let next = (0..<policy.maxCandidates).map { _ in allowed[Int(random.next() * Double(allowed.count))] }
      allowed = next
    }
    let candidates = allowed.map { candidate($0, at: now) }
    let first = start % candidates.count
    if !isProbed { loads.add(candidates[first].inFlight) }
    return best(of: candidates, from: first)
  }

  private func candidate(_ replica: Replica, at now: Duration) -> Candidate {
    let sight = sights[replica] ?? Sight()
    let latency = max(sight.latency.value(at: now, policy.memory), sight.failures.value(at: now, policy.memory))
    return Candidate(replica: replica, inFlight: sight.inFlight, latency: latency)
  }

  /// The one with the least latency of those that are not hot, or the one with the fewest requests, if all are.
  ///
  /// - Parameter start: Which one comes first, where several are as good.
  private func best(of candidates: [Candidate], from start: Int) -> Replica {
    let limit = loads.quantile(policy.hotQuantile)
    func isBetter(_ one: Candidate, than other: Candidate) -> Bool {
      switch (one.inFlight > limit, other.inFlight > limit) {
      case (false, true): true
      case (true, false): false
      case (false, false): (one.latency, one.inFlight) < (other.latency, other.inFlight)
      case (true, true): (Double(one.inFlight), one.latency) < (Double(other.inFlight), other.latency)
      }
    }
    var best = candidates[start]
    for offset in 1..<candidates.count {
      let next = candidates[(start + offset) % candidates.count]
      if isBetter(next, than: best) { best = next }
    }
    return best.replica
  }

  // MARK: What is seen

  mutating func begin(at replica: Replica) {
    sights[replica, default: Sight()].inFlight += 1
  }

  /// How an attempt ended.
  enum End { case answered, failed, cancelled }

  mutating func end(_ end: End, at replica: Replica, after latency: Duration, now: Duration) {
    guard var sight = sights[replica] else { return }
    sight.inFlight = max(sight.inFlight - 1, 0)
    switch end {
    case .answered:
      sight.latency.add(latency.inSeconds, at: now, policy.memory)
      sight.failures.add(0, at: now, policy.memory)
    case .failed:
      sight.failures.add(policy.failureLatency.inSeconds, at: now, policy.memory)
    case .cancelled:
      // It would have taken longer.
      if latency.inSeconds > sight.latency.value(at: now, policy.memory) {
        sight.latency.add(latency.inSeconds, at: now, policy.memory)
      }
    }
    sights[replica] = sight
  }

  func inFlight(at replica: Replica) -> Int { sights[replica]?.inFlight ?? 0 }

  /// In seconds, failures included.
  func latency(of replica: Replica, at now: Duration) -> Double { candidate(replica, at: now).latency }

  // MARK: Probes

  /// Which replicas are to be probed for an attempt: any, and none twice.
  mutating func probes(random: RandomSource) -> [Replica] {
    owedProbes += policy.probesPerAttempt
    var probed: [Replica] = []
    while owedProbes >= 1 {
      owedProbes -= 1
      let replica = replicas[Int(random.next() * Double(replicas.count))]
      if !probed.contains(replica) { probed.append(replica) }
    }
    return probed
  }

  /// What a replica has answered to a probe; only its last answer counts.
  mutating func take(_ load: ReplicaLoad, of replica: Replica, at now: Duration) {
    guard replicas.contains(replica) else { return }
    loads.add(load.requestsInFlight)
    answers.removeAll { $0.replica == replica }
    if answers.count >= policy.maxCandidates { answers.removeFirst() }
    answers.append(
      Answer(replica: replica, inFlight: load.requestsInFlight, latency: load.latency.inSeconds, at: now)
    )
  }

  /// A replica has not answered a probe.
  mutating func forget(_ replica: Replica) {
    answers.removeAll { $0.replica == replica }
  }
}

/// A mean that forgets, and that a greater number sets at once.
///
/// Source: "peak EWMA", the measure of Finagle's balancers.
private struct PeakAverage: Sendable {
  private var mean = 0.0
  private var time: Duration = .zero

  func value(at now: Duration, _ memory: Duration) -> Double {
    mean == 0 ? 0 : mean * exp(-max((now - time).inSeconds, 0) / memory.inSeconds)
  }

  mutating func add(_ number: Double, at now: Duration, _ memory: Duration) {
    let weight = exp(-max((now - time).inSeconds, 0) / memory.inSeconds)
    mean = number > mean ? number : mean * weight + number * (1 - weight)
    time = now
  }
}

/// How many requests replicas had in flight, the last times that one was looked at.
private struct RecentLoads: Sendable {
  private static let capacity = 128

  private var loads: [Int] = []
  private var oldest = 0
  /// How often each load is among them; the last stands for all from there on.
  private var counts = Array(repeating: 0, count: 256)

  mutating func add(_ load: Int) {
    let load = min(max(load, 0), counts.count - 1)
    counts[load] += 1
    if loads.count < Self.capacity {
      loads.append(load)
    } else {
      counts[loads[oldest]] -= 1
      loads[oldest] = load
      oldest = (oldest + 1) % Self.capacity
    }
  }

  /// The least load that this share of them does not exceed; zero while there are none.
  func quantile(_ share: Double) -> Int {
    var missing = (share * Double(loads.count)).rounded(.up)
    for (load, count) in counts.enumerated() {
      missing -= Double(count)
      if missing <= 0 { return load }
    }
    return counts.count - 1
  }
}
