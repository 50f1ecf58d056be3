import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite struct SimulatedDiskTests {
  private static let record = Data("soap".utf8)

  @Test func aProcessThatHasEndedWritesNothingAnyMore() throws {
    let disk = SimulatedDisk(seed: 1)
    let storage = disk.outboxStorage(at: "/box")
    _ = try storage.open()
    try storage.append([Self.record], durably: true)
    disk.restart(losingPower: false)
    #expect(throws: SimulatedDisk.Fault.powerLost) { try storage.append([Self.record], durably: true) }
    #expect(throws: SimulatedDisk.Fault.powerLost) { try storage.replace(with: []) }
    try expectEqual(disk.outboxStorage(at: "/box").open().records, [Self.record])
  }

  /// What is left of a write that was not synced, under many seeds.
  private static func remains(losingPower: Bool) throws -> Set<Int> {
    try Set(
      (UInt64(0)..<50).map { seed in
        let disk = SimulatedDisk(seed: seed)
        let storage = disk.outboxStorage(at: "/box")
        _ = try storage.open()
        try storage.append([record], durably: false)
        disk.restart(losingPower: losingPower)
        let contents = try disk.outboxStorage(at: "/box").open()
        guard case .torn(let bytes)? = contents.damage.first else { return contents.records.count * 100 }
        return bytes
      }
    )
  }

  @Test func theLossOfPowerTearsWhatWasNotSyncedAndTheEndOfAProcessDoesNot() throws {
    try expectEqual(Self.remains(losingPower: false), [100])
    #expect(try Self.remains(losingPower: true).count > 3)
  }

  @Test func theSimulationsSeedDecidesWhatIsRefused() throws {
    let refusals = { (seed: UInt64) throws -> String in
      let report = try Simulation(seed: seed).run {
        let disk = SimulatedDisk(faultRate: 0.5)
        for _ in 0..<10 {
          do { _ = try disk.outboxStorage(at: "/box").open() } catch { Simulation.note("\(error)") }
          disk.restart(losingPower: true)
        }
      }
      return "\(report.diagram)"
    }
    let first = try refusals(1)
    try expectEqual(refusals(1), first)
    #expect(try Set((2..<8).map(refusals)).count > 1)
  }
}
