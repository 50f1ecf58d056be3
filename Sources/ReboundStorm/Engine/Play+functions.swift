import Combine
import Rebound
import ReboundTesting
import StreamSupport

extension Storm {
  /// Plays a scenario in virtual time, with an asynchronous function of one's own for each request.
  ///
  ///     try Storm.playFunction(scenario, name: "by hand", answer: ()) { call, _ in
  ///       for pause in [1, 2, 4] {
  ///         if let answer = try? await call() { return answer }
  ///         try await TimeSource.current.sleep(for: .seconds(pause))
  ///       }
  ///       try await call()
  ///     }
  ///
  /// All tasks that the function begins run in a `Simulation` of `ReboundTesting`, so that sleeps, time outs and the
  /// asynchronous form of every policy take virtual time. The same seed gives the same result.
  ///
  /// - Parameters:
  ///   - scenario: What happens.
  ///   - name: What reports call it.
  ///   - answer: What the service answers.
  ///   - function: One request, as a client of a process makes it; it may make the call as often as it likes. What it throws
  ///     is a request that was given up.
  /// - Returns: What came of it.
  /// - Throws: ``InvalidScenario``, ``EndlessMoment``, or what a `Simulation` fails with, where there is none for the platform, say.
  /// - Complexity: Some ten times as long as a play of publishers: a task for each request.
  public static func playFunction<Output: Sendable>(
    _ scenario: Scenario,
    name: String,
    answer: Output,
    function:
      @escaping @Sendable (
        _ call: @escaping @Sendable () async throws -> Output,
        _ process: ClientProcess
      ) async throws -> Output
  ) throws -> Storm {
    try scenario.validate()
    let result = Locked<Result<Storm, EndlessMoment>?>(nil)
    let limits = SimulationLimits(
      stepsAtOneMoment: 100_000_000,
      steps: .max,
      settling: .zero,
      allowsLeftOvers: true
    )
    try Simulation(seed: scenario.seed, limits: limits).run {
      let stage = SimulatedStage(scenario, time: .current, answer: answer, function)
      stage.crowd.begin()
      try await TimeSource.current.sleep(for: .seconds(scenario.duration))
      let storm = Storm(
        name: name,
        scenario: scenario,
        stage.recorder,
        overdue: stage.crowd.overdueCount(at: scenario.duration)
      )
      stage.crowd.cancelOpenRequests()
      let endlessMoment = stage.crowd.endlessMoment
      result.withLock { $0 = endlessMoment.map { .failure($0) } ?? .success(storm) }
    }
    guard let result = result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}

/// A play on the time of a simulation.
private final class SimulatedStage<Output: Sendable> {
  let recorder: StormRecorder
  let crowd: ClientCrowd<Output>

  init(
    _ scenario: Scenario,
    time: TimeSource,
    answer: Output,
    _ function:
      @escaping @Sendable (
        @escaping @Sendable () async throws -> Output,
        ClientProcess
      ) async throws -> Output
  ) {
    recorder = StormRecorder(scenario)
    let perform = Perform()
    let agenda = Agenda(duration: scenario.duration, on: Agenda.Outer(time: time) { perform.action($0) })
    let service = ServiceState(scenario.service, scenario: scenario, agenda: agenda, recorder: recorder)
    let requests = (0..<scenario.processes).map { number in
      let replicas = ServiceReplicas(answer: answer, process: number, service: service)
      let process = ClientProcess(number: number, time: time, random: scenario.random(ofProcess: number))
      let call: @Sendable () async throws -> Output = {
        // A call ends with an answer or a failure.
        guard let answer = try await replicas.anyCall.firstValueIfAny() else { throw CancellationError() }
        return answer
      }
      return Publishers.Asynchronous { try await function(call, process) }.eraseToAnyPublisher()
    }
    let crowd = ClientCrowd(scenario, agenda: agenda, recorder: recorder, requests: requests)
    self.crowd = crowd
    // The crowd lives as long as this, which the play holds to its end.
    perform.action = { [unowned crowd] event in TimeSource.$current.withValue(time) { crowd.perform(event) } }
  }

  private final class Perform {
    var action: (Agenda.Event) -> Void = { _ in }
  }
}
