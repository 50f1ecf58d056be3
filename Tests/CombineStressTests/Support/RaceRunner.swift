import Combine
import ReboundTesting

/// Runs the script of a seed through a chain, and says which laws were broken.
struct RaceRunner {
  let crew: RaceCrew

  func breaches(of race: RaceCase, seed: UInt64) -> [String] {
    let script = RaceScript(seed: seed, sources: race.sourceCount)
    var stage: Stage? = Stage()
    guard let tracker = stage?.tracker else { return [] }
    var breaches: [String] = []
    if let built = stage { breaches = run(race, script, on: built) }
    weak let sources = stage?.sources[0]
    weak let scheduler = stage?.scheduler
    // A hang keeps everything, and has been reported.
    stage = nil
    if tracker.count > 0 { breaches.append("\(tracker.count) objects are alive in the end") }
    if sources != nil { breaches.append("a source is alive in the end") }
    if scheduler != nil { breaches.append("the scheduler is alive in the end") }
    return breaches
  }

  private func run(_ race: RaceCase, _ script: RaceScript, on stage: Stage) -> [String] {
    let tracker = stage.tracker
    let chain = race.build(stage)
    let keepers = script.asksInside.map { LawKeeper(race.laws, asksInside: $0) }
    let captured = tracker.make()
    let observed = chain.handleEvents(receiveCancel: { captured.touch() })
    keepers[0].request(.unlimited)
    observed.subscribe(keepers[0])
    // Chains with a ticking timer rest only when they are cancelled.
    _ = stage.settle()

    var sentCount = 0
    for case .send in script.threads.joined() { sentCount += 1 }
    let bodies = script.threads.enumerated().map { thread, actions in
      {
        var numbers = Array(repeating: 0, count: stage.sources.count)
        for action in actions {
          switch action {
          case .send(let source):
            let parcel = Parcel(source: source, sender: thread, number: numbers[source], tracked: tracker.make())
            numbers[source] += 1
            stage.sources[source].send(parcel)
          case .request(let keeper, let demand): keepers[keeper].request(demand)
          case .cancel(let keeper): keepers[keeper].cancel()
          case .subscribe(let keeper): observed.subscribe(keepers[keeper])
          case .end(let source, let completion): stage.sources[source].send(completion: completion)
          case .advance: stage.scheduler.advance(by: .milliseconds(40))
          }
        }
      }
    }
    guard crew.run(bodies) else {
      // Threads that are stuck can't be stopped: the seed has to be on record before the process hangs.
      return ["threads wait for each other for ever"]
    }

    var breaches: [String] = []
    _ = stage.settle()
    if race.laws.contains(.lossless), !script.hasEnd, keepers[0].valueCount != sentCount {
      breaches.append("\(keepers[0].valueCount) of \(sentCount) values came")
    }
    for source in stage.sources { source.send(completion: .finished) }
    _ = stage.settle()
    if race.laws.contains(.ends), !keepers[0].hasEnded { breaches.append("the end did not come") }
    for keeper in keepers { keeper.cancel() }
    if !stage.settle() { breaches.append("the chain never comes to rest after cancellation") }
    for (index, keeper) in keepers.enumerated() {
      breaches += keeper.breaches.map { "subscriber \(index): \($0)" }
    }
    return breaches
  }
}
