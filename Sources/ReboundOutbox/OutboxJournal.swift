import Foundation
import Rebound

/// How records stand in a file: one line for each, with its checksum in front.
///
/// ```text
/// 96a1b2c3 {"add":{"entry":{…},"replaces":[]}}
/// ```
///
/// A record is one line because JSON without layout has no line break. The first line names the format.
struct OutboxJournal {
  static let version = 1
  private static let newline = UInt8(ascii: "\n")
  private static let header = "rebound-outbox"

  /// The beginning of a file.
  static var preamble: Data { line(of: Data("{\"\(header)\":\(version)}".utf8)) }

  /// A record as it stands in the file.
  static func line(of record: Data) -> Data {
    Data((CRC32.checksum(of: record).hexadecimal + " ").utf8) + record + [newline]
  }

  /// What a file holds.
  struct Reading {
    var records: [Data] = []
    /// The numbers of the lines whose checksum is wrong, from 1.
    var corruptLines: [Int] = []
    var tornBytes = 0
    /// The version in the first line; `nil` if that line is none.
    var version: Int?
    /// Whether any line is what it was when it was written.
    var hasWholeLine: Bool { version != nil || !records.isEmpty }
  }

  /// Takes a file apart; whatever its bytes are, this does not fail.
  static func read(_ data: Data) -> Reading {
    var reading = Reading()
    var number = 0
    var start = data.startIndex
    while start < data.endIndex {
      guard let end = data[start...].firstIndex(of: newline) else {
        // A line that was being written has no byte behind its record: where one is, only the line break is damaged.
        if number > 0, let record = record(in: data[start..<data.endIndex - 1]) { reading.records.append(record) }
        reading.tornBytes = data.endIndex - start
        break
      }
      number += 1
      if let record = record(in: data[start..<end]) {
        if number == 1, let version = version(in: record) {
          reading.version = version
        } else {
          reading.records.append(record)
        }
      } else {
        reading.corruptLines.append(number)
      }
      start = end + 1
    }
    return reading
  }

  private static func record(in line: Data) -> Data? {
    let checksum = line.prefix(8)
    let rest = line.dropFirst(8)
    guard
      checksum.count == 8, rest.first == UInt8(ascii: " "),
      let expected = UInt32(hexadecimal: checksum)
    else { return nil }
    let record = Data(rest.dropFirst())
    return CRC32.checksum(of: record) == expected ? record : nil
  }

  private static func version(in record: Data) -> Int? {
    (try? JSONDecoder().decode([String: Int].self, from: record))?[header]
  }
}

/// The checksum of IEEE 802.3, with the polynomial 0xEDB88320 in its reflected form.
package enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 0 ? rest >> 1 : 0xEDB8_8320 ^ (rest >> 1) }
  }

  /// The checksum of all bytes.
  package static func checksum(of data: Data) -> UInt32 {
    ~data.reduce(UInt32.max) { rest, byte in table[Int(UInt8(truncatingIfNeeded: rest) ^ byte)] ^ (rest >> 8) }
  }
}
