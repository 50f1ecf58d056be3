import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Leaks")
struct LeakTests {
  @Test("subscriptions leave nothing behind, however they end", arguments: RaceCase.all)
  func nothingStays(race: RaceCase) {
    let tracker = LifetimeTracker()
    for round in 0..<StressSettings.rounds / 2 {
      let stage = Stage()
      let keeper = LawKeeper(race.laws, asksInside: false)
      let captured = tracker.make()
      keeper.request(.unlimited)
      race.build(stage).handleEvents(receiveOutput: { _ in captured.touch() }).subscribe(keeper)
      for number in 0..<4 {
        for (index, source) in stage.sources.enumerated() {
          source.send(Parcel(source: index, sender: 0, number: number, tracked: tracker.make()))
        }
      }
      stage.scheduler.advance(by: .milliseconds(40))
      switch round % 3 {
      case 0: break
      case 1: for source in stage.sources { source.send(completion: .finished) }
      default: for source in stage.sources { source.send(completion: .failure(StressFailure())) }
      }
      keeper.cancel()
      #expect(stage.settle())
    }
    expectEqual(tracker.count, 0)
  }
}
