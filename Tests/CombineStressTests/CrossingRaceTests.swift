import Combine
import Foundation
import ReboundTesting
import Testing

/// Threads that each are on their way down through a join of their own, and ask for more of the others'.
@Suite("Joins of joins while each source has a thread of its own", .serialized)
struct CrossingRaceTests {
  @Test("nobody waits for ever, and the laws hold", arguments: RaceCase.joinsOfJoins)
  func crossing(race: RaceCase) {
    let crew = RaceCrew(size: 3)
    for seed in StressSettings.seeds {
      let tracker = LifetimeTracker()
      var breaches = breaches(of: race, seed: seed, crew, tracker)
      if tracker.count > 0 { breaches.append("\(tracker.count) objects are alive in the end") }
      #expect(breaches.isEmpty, "\(race.name), REBOUND_STRESS_SEED=\(seed)")
      // One failing seed says enough, and threads that hang can't go on.
      if !breaches.isEmpty { return }
    }
  }

  private func breaches(of race: RaceCase, seed: UInt64, _ crew: RaceCrew, _ tracker: LifetimeTracker) -> [String] {
    var random = SeededRandom(seed: seed)
    let stage = Stage()
    let keeper = LawKeeper(race.laws, asksInside: true)
    keeper.request(.max(Int.random(in: 1...3, using: &random)))
    race.build(stage).subscribe(keeper)
    let end: Subscribers.Completion<StressFailure> = Bool.random(using: &random) ? .finished : .failure(StressFailure())
    let count = Int.random(in: 5...30, using: &random)
    let bodies = stage.sources.prefix(race.sourceCount).enumerated().map { index, source in
      {
        for number in 0..<count {
          source.send(Parcel(source: index, sender: index, number: number, tracked: tracker.make()))
        }
        if index == 0 { source.send(completion: end) }
      }
    }
    let asking = {
      for _ in 0..<count {
        keeper.request(.max(1))
        sched_yield()
      }
    }
    guard crew.run(race.sourceCount < crew.size ? bodies + [asking] : bodies) else {
      // Threads that are stuck can't be stopped.
      return ["threads wait for each other for ever"]
    }
    for source in stage.sources { source.send(completion: .finished) }
    keeper.cancel()
    return keeper.breaches
  }
}
