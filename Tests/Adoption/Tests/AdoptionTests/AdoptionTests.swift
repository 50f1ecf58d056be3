import Combine
import CombineTrait
import Foundation
import FoundationImports
import GuardedImports
import OpenCombineImports
import Testing

@Suite("Packages written for Apple's Combine")
struct AdoptionTests {
  @Test("one with guards around its imports has its publishers")
  func guardedImports() {
    let thermometer = Thermometer()
    var temperatures: [Double] = []
    let reading = thermometer.temperatures.sink { temperatures.append($0) }
    thermometer.read(21)
    thermometer.read(21)
    thermometer.read(22)
    reading.cancel()
    #expect(temperatures == [20, 21, 22])
  }

  @Test("one whose files import Foundation alone compiles with one file more")
  func foundationImports() {
    let settings = Settings(center: NotificationCenter())
    var titles: [String] = []
    var changes = 0
    let reading = settings.titles.sink { titles.append($0) }
    let counting = settings.objectWillChange.sink { changes += 1 }
    settings.title = "One"
    settings.title = "Two"
    reading.cancel()
    counting.cancel()
    #expect(titles == ["One", "Two"])
    #expect(changes == 2)
  }

  @Test("one with OpenCombine in its sources compiles with a target of that name, and its types are Combine's")
  func openCombineImports() {
    let counter = Counter()
    var counts: [Int] = []
    let reading: Combine.AnyCancellable = counter.doubled.zip(counter.$count).sink { counts += [$0, $1] }
    counter.increment()
    reading.cancel()
    #expect(counts == [0, 0, 2, 1])
  }

  @Test("one with a trait has its publishers where the trait is on")
  func trait() {
    var seen: [Int] = []
    let reading = Dice([6, 1]).publisher.sink { seen.append($0) }
    reading.cancel()
    #expect(seen == Dice([6, 1]).all)
  }
}
