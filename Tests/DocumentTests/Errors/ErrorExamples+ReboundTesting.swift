import Foundation
import Rebound
import ReboundHTTP

@testable import ReboundHTTPTesting
@testable import ReboundTesting
@testable import ReboundTestingTraits

extension ErrorExamples {
  static let testing = ErrorExamples(
    module: "ReboundTesting",
    errors: [streams, chance, simulations].flatMap { $0 }
  )

  private static let mismatch = PropertyMismatch(description: "2, expected 1")

  private static let streams: [(row: String, error: any Error)] = [
    ("``MarbleMismatch``", MarbleMismatch(location: location, problem: "other values than expected", diagram: "-a-|")),
    ("``MarbleSyntaxError``", MarbleSyntaxError("-a-(b", 3, "the bracket is never closed")),
    ("``MarbleFailure``", MarbleFailure()),
    (
      "``StepFailure``",
      StepFailure(
        step: 2,
        name: "expectNext(3)",
        location: location,
        problem: "expected 3, but 4 came at 1.0 s.",
        history: []
      )
    ),
    (
      "``MissingValues``",
      MissingValues(expectation: "a value", outcome: "the stream has finished", location: location)
    ), ("``TestScheduler/StillBusy``", TestScheduler.StillBusy(limit: 100, now: .start, pendingCount: 2)),
    ("``UnimplementedScheduler/Use``", UnimplementedScheduler.Use(scheduler: "the pause after typing", call: "now")),
  ]

  private static let chance: [(row: String, error: any Error)] = [
    ("``PropertyMismatch``", mismatch),
    (
      "``PropertyFailure``",
      PropertyFailure(location: location, seed: 17, run: 3, value: "[1, 2]", cause: mismatch, steps: 4)
    ), ("``StarvedGenerator``", StarvedGenerator(tried: 1_000, done: 3)),
    ("``RaceFailure``", RaceFailure(round: 3, seed: 17, cause: mismatch)), ("``RaceStuck``", RaceStuck()),
    ("``NotLinearizable``", NotLinearizable("no order of these calls explains their answers:\n…")),
  ]

  private static let cassettes: [(row: String, error: any Error)] = {
    let file = URL(fileURLWithPath: "/cassettes/forecast.har")
    guard let url = URL(string: "https://api.example/forecast") else { return [] }
    let request = CassetteRequest(TransportRequest(url), body: Data(), .standard)
    let account = ReproducedFailure.Account(failure: "\(mismatch)", decisions: [])
    return [
      ("``CassetteMiss``", CassetteMiss(of: request, in: [], [], fitting: [], file: file)),
      ("``UnusedRecordings``", UnusedRecordings(requests: [request], file: file)),
      ("``CassetteFileError``", CassetteFileError(file: file, problem: "is no HTTP Archive: no JSON. Record it anew")),
      ("``ReproducedFailure``", ReproducedFailure(cause: mismatch, recorded: account, now: account)),
    ]
  }()

  private static let simulations: [(row: String, error: any Error)] = [
    (
      "``SimulationFailure``",
      SimulationFailure(
        location,
        seed: 17,
        run: 3,
        SimulationReport(
          duration: .zero,
          steps: 1,
          decisions: 0,
          schedule: Schedule(switches: []),
          diagram: ScheduleDiagram(names: [], steps: [])
        ),
        mismatch
      )
    ), ("``SimulationProblem/stuck(waiting:)``", SimulationProblem.stuck(waiting: ["main"])),
    (
      "``SimulationProblem/endless(steps:waiting:)``",
      SimulationProblem.endless(steps: 10_000_000, waiting: ["main"])
    ),
    ("``SimulationProblem/leftOver(tasks:timers:subscriptions:)``", SimulationProblem.leftOver(tasks: [], timers: 1)),
    ("``SimulationProblem/restless(steps:)``", SimulationProblem.restless(steps: 1_000)),
    ("``SimulationProblem/outsideWork(places:)``", SimulationProblem.outsideWork(places: ["Client.swift:42"])),
    ("``SimulationUnavailable``", SimulationUnavailable(missing: "this is Swift 6.2")),
    ("``InvalidReplay``", InvalidReplay(text: "seventeen")),
    ("``SimulatedDisk/Fault/powerLost``", SimulatedDisk.Fault.powerLost),
    ("``SimulatedDisk/Fault/refused``", SimulatedDisk.Fault.refused),
  ]

  static let testingTraits = ErrorExamples(
    module: "ReboundTestingTraits",
    errors: [("``SimulatedIssues``", SimulatedIssues(issues: ["Expectation failed: renewals == 1"]))]
  )

  static let httpTesting = ErrorExamples(
    module: "ReboundHTTPTesting",
    errors: cassettes + [
      ("``TransportContract/Violation``", violation),
      ("``TransportContract/Violations``", TransportContract.Violations(all: [violation])),
      ("``SocketError``", SocketError(call: "listen", code: 98)),
    ]
  )

  private static let violation = TransportContract.Violation(
    promise: "sends a file with its length",
    problem: "no Content-Length came"
  )
}
