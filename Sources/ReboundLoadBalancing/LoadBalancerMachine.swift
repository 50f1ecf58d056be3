import Foundation
import Rebound

/// Knows how loaded replicas are, and picks one.
///
/// It has no clock and no lock. Replicas are known by their places among those that there are, and by a number that each
/// keeps for good.
struct LoadBalancerMachine: Sendable {
  /// What is known of a replica.
  private struct Entry {
    let number: Int
    var inFlight = 0
    var latency = PeakAverage()
    /// Apart from the latency, so that one who fails at once does not seem quick.
    var failures = PeakAverage()
    /// What it has said of itself.
    var answer: Answer?
  }

  private struct Answer {
    var inFlight: Int
    let latency: Double
    let at: Duration
  }

  private let policy: LoadBalancerPolicy
  /// In seconds.
  private let memory: Double
  private var entries: [Entry]
  private var nextNumber: Int
  /// The places of those with an answer, the oldest first.
  private var answered: [Int] = []
  private var loads = RecentLoads()
  private var owedProbes = 0.0
  /// Who comes first among equals; one after the other.
  private var turn: Int
  /// Whom to look at and whom to probe; a value, so that no code of others runs under the lock.
  private var generator: SplitMix64

  /// - Parameters:
  ///   - count: How many replicas there are; at least one.
  ///   - chance: A number in `0..<1`: who comes first at first, so that not all clients begin with the same, and what is
  ///     drawn later.
  init(_ policy: LoadBalancerPolicy, replicas count: Int, chance: Double) {
    turn = Int(chance * Double(count))
    generator = SplitMix64(seed: chance.bitPattern)
    self.policy = policy
    memory = policy.memory.inSeconds
    entries = (0..<count).map { Entry(number: $0) }
    nextNumber = count
  }

  /// Others are there from now on.
  ///
  /// - Parameter places: For each, at which place it was before, if it was there; at least one.
  mutating func replace(by places: [Int?]) {
    entries = places.map { place in
      if let place { return entries[place] }
      nextNumber += 1
      return Entry(number: nextNumber - 1)
    }
    for place in entries.indices { entries[place].answer = nil }
    answered = []
  }

  /// The number of the replica at a place.
  func number(at place: Int) -> Int { entries[place].number }

  // MARK: Picking

  /// Picks the place of the replica for an attempt.
  ///
  /// - Parameters:
  ///   - tried: The numbers of replicas where attempts of the same call have been, in order; one of them only if there is no
  ///     other.
  ///   - isProbed: Whether replicas are asked for their loads.
  /// - Complexity: O(1) in the number of replicas, but for a retry that finds no other among those it looks at.
  mutating func pick(notAmong tried: [Int], isProbed: Bool, at now: Duration) -> Int {
    guard entries.count > 1 else { return 0 }
    turn = (turn + 1) % entries.count
    if isProbed, let place = pickAmongAnswered(notAmong: tried, at: now) { return place }
    var choice = Choice(limit: loads.quantile(policy.hotQuantile))
    let seconds = now.inSeconds
    if !isProbed { loads.add(entries[turn].inFlight) }
    let isSampled = entries.count > policy.maxCandidates
    for offset in 0..<min(entries.count, policy.maxCandidates) {
      let place = isSampled ? anyPlace() : (turn + offset) % entries.count
      guard !tried.contains(entries[place].number) else { continue }
      choice.consider(place, inFlight: entries[place].inFlight) { latency(at: place, seconds) }
    }
    return choice.place ?? anyOther(than: tried)
  }

  private mutating func pickAmongAnswered(notAmong tried: [Int], at now: Duration) -> Int? {
    answered.removeAll { place in
      guard let answer = entries[place].answer, now - answer.at <= policy.maxProbeAge else {
        entries[place].answer = nil
        return true
      }
      return false
    }
    guard answered.count > 1 else { return nil }
    var choice = Choice(limit: loads.quantile(policy.hotQuantile))
    let seconds = now.inSeconds
    for offset in answered.indices {
      let place = answered[(turn + offset) % answered.count]
      guard let answer = entries[place].answer, !tried.contains(entries[place].number) else { continue }
      choice.consider(place, inFlight: answer.inFlight) { max(answer.latency, latency(at: place, seconds)) }
    }
    // Others pick by the same answer until the next one comes.
    if let place = choice.place { entries[place].answer?.inFlight += 1 }
    return choice.place
  }

  private mutating func anyPlace() -> Int { Int.random(in: entries.indices, using: &generator) }

  /// One where no attempt has been, or if there is none, not the last one.
  private func anyOther(than tried: [Int]) -> Int {
    let places = entries.indices.lazy.map { (turn + $0) % entries.count }
    let fresh = places.first { !tried.contains(entries[$0].number) }
    return fresh ?? places.first { entries[$0].number != tried.last } ?? turn
  }

  /// The best candidate so far; of equal ones, who came first.
  ///
  /// It is the one with the least latency of those that are not hot, or the one with the fewest requests, if all are.
  private struct Choice {
    let limit: Int
    private(set) var place: Int?
    private var inFlight = 0
    private var latency = 0.0

    init(limit: Int) {
      self.limit = limit
    }

    mutating func consider(_ place: Int, inFlight: Int, latency: () -> Double) {
      guard self.place != nil else { return take(place, inFlight, latency()) }
      switch (inFlight > limit, self.inFlight > limit) {
      case (false, true): take(place, inFlight, latency())
      case (true, false): break
      case (false, false):
        let latency = latency()
        if (latency, inFlight) < (self.latency, self.inFlight) { take(place, inFlight, latency) }
      case (true, true):
        guard inFlight <= self.inFlight else { return }
        let latency = latency()
        if inFlight < self.inFlight || latency < self.latency { take(place, inFlight, latency) }
      }
    }

    private mutating func take(_ place: Int, _ inFlight: Int, _ latency: Double) {
      (self.place, self.inFlight, self.latency) = (place, inFlight, latency)
    }
  }

  // MARK: What is seen

  /// An attempt begins.
  ///
  /// - Parameters:
  ///   - number: That of its replica, which may be there no more.
  ///   - place: Where it was when it was picked.
  mutating func begin(at number: Int, place: Int) {
    if let place = self.place(of: number, formerly: place) { entries[place].inFlight += 1 }
  }

  /// How an attempt ended.
  enum End { case answered, failed, cancelled }

  /// An attempt has ended.
  ///
  /// - Parameters:
  ///   - number: That of its replica, which may be there no more.
  ///   - place: Where it was when it was picked.
  mutating func end(_ end: End, at number: Int, place: Int, after latency: Duration, now: Duration) {
    guard let place = self.place(of: number, formerly: place) else { return }
    entries[place].inFlight -= 1
    let (now, latency) = (now.inSeconds, latency.inSeconds)
    switch end {
    case .answered:
      entries[place].latency.add(latency, at: now, memory)
      entries[place].failures.add(0, at: now, memory)
    case .failed:
      entries[place].failures.add(policy.failureLatency.inSeconds, at: now, memory)
    case .cancelled:
      // It would have taken longer.
      guard latency > entries[place].latency.value(at: now, memory) else { return }
      entries[place].latency.add(latency, at: now, memory)
    }
  }

  /// Where a replica is now, if it is still there.
  private func place(of number: Int, formerly place: Int) -> Int? {
    let isThere = entries.indices.contains(place) && entries[place].number == number
    return isThere ? place : entries.firstIndex { $0.number == number }
  }

  func inFlight(at place: Int) -> Int { entries[place].inFlight }

  /// In seconds, failures included.
  func latency(at place: Int, _ now: Double) -> Double {
    max(entries[place].latency.value(at: now, memory), entries[place].failures.value(at: now, memory))
  }

  // MARK: Probes

  /// The places of those who are to be probed for an attempt: any, and none twice.
  mutating func probes() -> [Int] {
    owedProbes += policy.probesPerAttempt
    var probed: [Int] = []
    while owedProbes >= 1 {
      owedProbes -= 1
      let place = anyPlace()
      if !probed.contains(place) { probed.append(place) }
    }
    return probed
  }

  /// What a replica has answered to a probe, or `nil` if it has not; only its last answer counts.
  mutating func take(_ load: ReplicaLoad?, of number: Int, at now: Duration) {
    guard let place = entries.firstIndex(where: { $0.number == number }) else { return }
    answered.removeAll { $0 == place }
    entries[place].answer = nil
    guard let load else { return }
    loads.add(load.requestsInFlight)
    if answered.count >= policy.maxCandidates { entries[answered.removeFirst()].answer = nil }
    answered.append(place)
    // The number is the server's, and is counted up here.
    let inFlight = min(load.requestsInFlight, 1_000_000_000)
    entries[place].answer = Answer(inFlight: inFlight, latency: load.latency.inSeconds, at: now)
  }
}

/// A mean that forgets, and that a greater number sets at once.
///
/// Source: "peak EWMA", the measure of Finagle's balancers.
private struct PeakAverage: Sendable {
  private var mean = 0.0
  private var time = 0.0

  /// - Parameters:
  ///   - now: In seconds.
  ///   - memory: Within how many seconds it forgets to 37 %.
  func value(at now: Double, _ memory: Double) -> Double {
    mean == 0 ? 0 : mean * exp(-max(now - time, 0) / memory)
  }

  mutating func add(_ number: Double, at now: Double, _ memory: Double) {
    guard number > 0 || mean > 0 else { return }
    let weight = exp(-max(now - time, 0) / memory)
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
