import Expectations
import Foundation
import Testing

@testable import ReboundOutbox

@Suite("OutboxJournal")
struct OutboxJournalTests {
  private let records = [#"{"a":1}"#, "", #"{"text":"Größe"}"#].map { Data($0.utf8) }

  private var file: Data { records.reduce(OutboxJournal.preamble) { $0 + OutboxJournal.line(of: $1) } }

  @Test("the checksum is that of IEEE 802.3", arguments: [("", 0), ("123456789", 0xCBF4_3926), ("a", 0xE8B7_BE43)])
  func checksum(_ text: String, _ expected: UInt32) {
    expectEqual(CRC32.checksum(of: Data(text.utf8)), expected)
  }

  @Test("a line is the checksum, a space, the record")
  func line() {
    expectEqual(String(decoding: OutboxJournal.line(of: Data("123456789".utf8)), as: UTF8.self), "cbf43926 123456789\n")
    expectEqual(OutboxJournal.line(of: Data()).count, 10)
  }

  @Test("a checksum has eight digits: a sign in the place of a zero is damage")
  func sign() throws {
    let records = (0..<1_000).map { Data("\($0)".utf8) }
    let record = try #require(records.first { CRC32.checksum(of: $0) < 0x1000_0000 })
    let damaged = OutboxJournal.preamble + Data("+".utf8) + OutboxJournal.line(of: record).dropFirst()
    let reading = OutboxJournal.read(damaged)
    expectEqual(reading.records, [])
    expectEqual(reading.corruptLines, [2])
  }

  @Test("what was written is read")
  func roundTrip() {
    let reading = OutboxJournal.read(file)
    expectEqual(reading.records, records)
    expectEqual(reading.version, 1)
    #expect(reading.corruptLines.isEmpty)
    expectEqual(reading.tornBytes, 0)
  }

  @Test("a file that is cut off anywhere gives the records that are whole, and says how much is not")
  func torn() {
    let ends = file.indices.filter { file[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    for length in 0...file.count {
      let reading = OutboxJournal.read(file.prefix(length))
      let whole = ends.count { $0 <= length }
      expectEqual(reading.records, Array(records.prefix(max(whole - 1, 0))), "cut at \(length)")
      expectEqual(reading.tornBytes, length - (ends.last { $0 <= length } ?? 0), "cut at \(length)")
      #expect(reading.corruptLines.isEmpty, "cut at \(length)")
    }
  }

  @Test(
    "a last line whose line break is damaged is read, and noticed: it was whole, and may have said that something is sent"
  )
  func lastLineBreak() {
    for byte in [UInt8(0), 0x0B, 0x20, 0xFF] {
      let damaged = file.dropLast() + [byte]
      let reading = OutboxJournal.read(damaged)
      expectEqual(reading.records, records)
      #expect(reading.tornBytes > 0)
      // The first line alone is no journal.
      #expect(!OutboxJournal.read(OutboxJournal.preamble.dropLast() + [byte]).hasWholeLine)
    }
  }

  @Test("any byte that is changed costs the lines that it stands in, and no other, and is noticed")
  func corrupt() {
    for position in file.indices {
      for change in [UInt8(1), 0x20, 0x80, 0xFF] {
        var damaged = file
        damaged[position] ^= change
        let reading = OutboxJournal.read(damaged)
        let line = 1 + file[..<position].count { $0 == UInt8(ascii: "\n") }
        // Upper and lower case digits are the same checksum: then nothing is lost.
        let isHarmless = reading.records == records && reading.version == 1
        let isNoticed = !reading.corruptLines.isEmpty || reading.tornBytes > 0
        #expect(isHarmless || isNoticed, "byte \(position) ^ \(change)")
        // A line break that is gone makes one line of two.
        let touched = file[position] == UInt8(ascii: "\n") ? [line, line + 1] : [line]
        for (index, record) in records.enumerated() where !touched.contains(index + 2) {
          #expect(reading.records.contains(record), "byte \(position) ^ \(change) costs record \(index)")
        }
      }
    }
  }
}
