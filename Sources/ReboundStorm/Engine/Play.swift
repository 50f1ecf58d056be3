import Combine
import Rebound
import ReboundLoadBalancing

/// Where clients live: one of the processes of a scenario.
///
/// A pipeline is made for each. What it shares (a budget, a breaker) is shared by the clients of the process.
public struct ClientProcess: Sendable {
  /// Its number, from 0.
  public let number: Int
  /// The virtual time.
  ///
  /// It is `TimeSource.current` while pipelines are made and requests run, so it has to be given to nobody.
  public let time: TimeSource
  /// Chance that goes by the seed of the scenario: for the jitter of policies.
  ///
  /// A policy that draws from the system's instead makes a play another one each time.
  public let random: RandomSource
}

extension Scenario {
  /// Where the chance of a process's policies comes from.
  func random(ofProcess number: Int) -> RandomSource { .seeded(seed &* 0x9E37_79B9 &+ UInt64(number)) }
}

/// A pipeline that cannot be played.
public struct UnplayablePipeline: Error, Hashable, CustomStringConvertible {
  /// Its name.
  public let pipeline: String

  /// What is wrong, and what to do about it.
  public var description: String {
    "Pipeline \"\(pipeline)\" has a time of its own, which no play can move. Leave its parameter time out."
  }
}

/// A play in which more and more happens at one moment, so that its time would never go on.
public struct EndlessMoment: Error, Hashable, CustomStringConvertible {
  /// The moment, in seconds from the beginning of the play.
  public let seconds: Double

  /// What is wrong, and what to do about it.
  public var description: String {
    "The play stands still at \(seconds) s: requests are made again and again, and no time passes between. Give their retries "
      + "an end or a delay, or the scenario a networkDelay."
  }
}

/// The replicas of a service, as a client reaches them that picks one for each attempt.
///
/// Unchecked, because a play runs on one thread, and probes are sent on no other.
public struct ServiceReplicas<Output: Sendable>: @unchecked Sendable {
  let answer: Output
  let process: Int
  let service: ServiceState

  /// The replicas' numbers, from 0.
  public var numbers: [Int] { Array(0..<service.replicaCount) }

  /// One call each time it is subscribed to, at a replica.
  ///
  /// - Parameter replica: One of ``numbers``; any other is out for good.
  public func call(to replica: Int) -> AnyPublisher<Output, any Error> {
    ServiceCall(answer: answer, process: process, target: replica, service: service).eraseToAnyPublisher()
  }

  /// Asks a replica for its load each time it is subscribed to, which costs the service nothing.
  ///
  /// It fails if the replica is out, and never ends if the network loses it.
  ///
  /// - Parameter replica: One of ``numbers``; any other is out for good.
  public func probe(of replica: Int) -> AnyPublisher<ReplicaLoad, any Error> {
    ReplicaProbe(process: process, replica: replica, service: service).eraseToAnyPublisher()
  }

  /// One call, at a replica that the service's balancing picks.
  var anyCall: AnyPublisher<Output, any Error> {
    ServiceCall(answer: answer, process: process, service: service).eraseToAnyPublisher()
  }
}

extension Storm {
  /// Plays a scenario in virtual time, with all clients under a pipeline.
  ///
  ///     let storm = try Storm.play(.minuteOfOutage(clients: 200)) { process in
  ///       try Pipeline("weather") {
  ///         Retry(policy, budget: budget)
  ///         breaker
  ///       }
  ///     }
  ///     #expect(storm.recovers(within: .seconds(30)))
  ///
  /// The engine is the real one: the publisher form of the pipeline. The same seed gives the same result, if all chance of
  /// the pipeline comes from ``ClientProcess/random``.
  ///
  /// - Parameters:
  ///   - scenario: What happens.
  ///   - name: What reports call it; the name of the pipeline unless told otherwise.
  ///   - pipeline: Makes the pipeline of a process, without a time of its own.
  /// - Returns: What came of it.
  /// - Throws: What the closure throws, ``InvalidScenario``, ``UnplayablePipeline`` or ``EndlessMoment``.
  /// - Complexity: O(1) for each attempt and each wait.
  public static func play(
    _ scenario: Scenario,
    name: String? = nil,
    pipeline: (ClientProcess) throws -> Pipeline<Void>
  ) throws -> Storm {
    try play(scenario, name: name, answer: (), pipeline: pipeline)
  }

  /// Plays a scenario in virtual time, with all clients under a pipeline whose calls give something.
  ///
  /// See ``play(_:name:pipeline:)``.
  ///
  /// - Parameters:
  ///   - scenario: What happens.
  ///   - name: What reports call it; the name of the pipeline unless told otherwise.
  ///   - answer: What the service answers.
  ///   - pipeline: Makes the pipeline of a process, without a time of its own.
  public static func play<Output: Sendable>(
    _ scenario: Scenario,
    name: String? = nil,
    answer: Output,
    pipeline: (ClientProcess) throws -> Pipeline<Output>
  ) throws -> Storm {
    var descriptor: PipelineDescriptor?
    var storm = try playCalls(scenario, name: name ?? "", answer: answer) { call, process in
      let pipeline = try pipeline(process)
      guard pipeline.time == nil else { throw UnplayablePipeline(pipeline: pipeline.name) }
      descriptor = pipeline.descriptor
      return call.protected(by: pipeline)
    }
    storm.pipeline = descriptor
    if name == nil { storm.name = descriptor?.name ?? "" }
    return storm
  }

  /// Plays a scenario in virtual time, with a chain of operators of one's own around each call.
  ///
  ///     try Storm.playCalls(scenario, name: "two retries", answer: ()) { call, _ in call.retry(2).eraseToAnyPublisher() }
  ///
  /// Operators that take a time or a scheduler find the virtual one in ``ClientProcess/time``.
  ///
  /// - Parameters:
  ///   - scenario: What happens.
  ///   - name: What reports call it.
  ///   - answer: What the service answers.
  ///   - request: Makes what a client of a process subscribes to for each request, of what is one call each time it is
  ///     subscribed to.
  /// - Returns: What came of it.
  /// - Throws: What the closure throws, ``InvalidScenario`` or ``EndlessMoment``.
  public static func playCalls<Output: Sendable>(
    _ scenario: Scenario,
    name: String,
    answer: Output,
    request: (AnyPublisher<Output, any Error>, ClientProcess) throws -> AnyPublisher<Output, any Error>
  ) throws -> Storm {
    try playReplicas(scenario, name: name, answer: answer) { try request($0.anyCall, $1) }
  }

  /// Plays a scenario in virtual time, with clients that pick the replica of each attempt themselves.
  ///
  ///     try Storm.playReplicas(scenario, name: "balanced", answer: ()) { replicas, process in
  ///       let balancer = try LoadBalancer("service", among: replicas.numbers, random: process.random)
  ///       return try pipeline(process).publisher(among: balancer, replicas.call(to:)).eraseToAnyPublisher()
  ///     }
  ///
  /// - Parameters:
  ///   - scenario: What happens.
  ///   - name: What reports call it.
  ///   - answer: What the service answers.
  ///   - request: Makes what a client of a process subscribes to for each request.
  /// - Returns: What came of it.
  /// - Throws: What the closure throws, ``InvalidScenario`` or ``EndlessMoment``.
  public static func playReplicas<Output: Sendable>(
    _ scenario: Scenario,
    name: String,
    answer: Output,
    request: (ServiceReplicas<Output>, ClientProcess) throws -> AnyPublisher<Output, any Error>
  ) throws -> Storm {
    try scenario.validate()
    let agenda = Agenda(duration: scenario.duration)
    let recorder = StormRecorder(scenario)
    let time = agenda.time
    return try TimeSource.$current.withValue(time) {
      let service = ServiceState(scenario.service, scenario: scenario, agenda: agenda, recorder: recorder)
      let requests = try (0..<scenario.processes).map { number in
        let replicas = ServiceReplicas(answer: answer, process: number, service: service)
        let random = scenario.random(ofProcess: number)
        return try request(replicas, ClientProcess(number: number, time: time, random: random))
      }
      let crowd = ClientCrowd(scenario, agenda: agenda, recorder: recorder, requests: requests)
      crowd.play()
      let storm = Storm(name: name, scenario: scenario, recorder, overdue: crowd.overdueCount(at: scenario.duration))
      crowd.cancelOpenRequests()
      if let endlessMoment = crowd.endlessMoment { throw endlessMoment }
      return storm
    }
  }

  /// Plays a scenario in virtual time, with nothing around the calls.
  ///
  /// - Parameter scenario: What happens.
  public static func playCalls(_ scenario: Scenario) throws -> Storm {
    try playCalls(scenario, name: "no policy", answer: ()) { call, _ in call }
  }
}
