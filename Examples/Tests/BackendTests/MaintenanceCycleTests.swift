import Testing

@testable import Backend

@Suite("MaintenanceCycle")
struct MaintenanceCycleTests {
  @Test("the first and second of every three requests fail")
  func cycle() {
    var cycle = MaintenanceCycle()
    #expect((1...7).map { _ in cycle.nextFails() } == [true, true, false, true, true, false, true])
  }
}
