import Expectations
import Rebound
import Testing

@testable import ReboundHTTP

@Suite("CacheFolderIndex")
struct CacheFolderIndexTests {
  private static func file(_ size: Int, _ seconds: Int) -> CacheFile {
    CacheFile(number: 1, size: size, changed: .seconds(seconds))
  }

  @Test(
    "sizes are rounded up to what a file system gives",
    arguments: [(0, 4_096), (1, 4_096), (4_096, 4_096), (4_097, 8_192)]
  )
  func room(size: Int, room: Int) {
    expectEqual(CacheFolderIndex.room(for: size), room)
  }

  @Test("a size beyond all numbers is one that there is no room for")
  func greatestRoom() {
    expectEqual(CacheFolderIndex.room(for: .max), .max)
    #expect(CacheFolderIndex(maxBytes: .max - 1, maxEntries: 1).overdue(for: .max, named: "a") == nil)
  }

  @Test("what was not used for the longest time goes first, and an eighth more than needed")
  func leastRecentlyUsed() {
    var index = CacheFolderIndex(maxBytes: .max, maxEntries: 16)
    for number in 0..<16 { index.add("\(number)", size: 1, at: .seconds(number)) }
    expectEqual(index.overdue(for: nil, named: nil), [])
    index.use("0", at: .seconds(100))
    index.use("unknown", at: .seconds(100))
    expectEqual(index.overdue(for: 1, named: "new"), ["1", "2", "3"])
    index.remove("5")
    expectEqual(index.overdue(for: 1, named: "new"), [])
  }

  @Test("bytes are bounded as well, and what is replaced makes room")
  func bytes() {
    var index = CacheFolderIndex(maxBytes: 8 * 4_096, maxEntries: 100)
    for number in 0..<8 { index.add("\(number)", size: 4_000, at: .seconds(number)) }
    expectEqual(index.bytes, 8 * 4_096)
    expectEqual(index.overdue(for: 4_000, named: "3"), [])
    expectEqual(index.overdue(for: 4_097, named: "0"), ["1", "2"])
    expectEqual(index.overdue(for: 1, named: "new"), ["0", "1"])
    expectEqual(index.overdue(for: 8 * 4_096, named: "new")?.count, 8)
    #expect(index.overdue(for: 8 * 4_096 + 1, named: "new") == nil)
    index.add("0", size: 1, at: .seconds(9))
    expectEqual(index.bytes, 8 * 4_096)
    index.remove("0")
    index.remove("0")
    expectEqual(index.bytes, 7 * 4_096)
  }

  @Test("with no room for any entry there is room for none")
  func nothingAllowed() {
    #expect(CacheFolderIndex(maxBytes: 1_000_000, maxEntries: 0).overdue(for: 1, named: "a") == nil)
    #expect(CacheFolderIndex(maxBytes: 0, maxEntries: 10).overdue(for: 1, named: "a") == nil)
  }

  @Test("a look at the folder says what is there, and what others have used since is used")
  func look() {
    var index = CacheFolderIndex(maxBytes: .max, maxEntries: 3)
    index.add("gone", size: 1, at: .seconds(1))
    index.add("own", size: 1, at: .seconds(50))
    let found = [("own", Self.file(1, 10)), ("other", Self.file(5_000, 20)), ("third", Self.file(1, 60))]
    index.look(at: found.map { (name: $0.0, file: $0.1) }, now: .seconds(100), slack: .seconds(60))
    expectEqual(index.count, 3)
    expectEqual(index.bytes, 4 * 4_096)
    // What was used here a moment ago was not noted there yet.
    expectEqual(index.overdue(for: 1, named: "new"), ["other"])
  }

  @Test("a file of the future is the first to go, or it would stay until then")
  func future() {
    var index = CacheFolderIndex(maxBytes: .max, maxEntries: 2)
    let found = [("old", Self.file(1, 10)), ("future", Self.file(1, 161)), ("near", Self.file(1, 160))]
    index.look(at: found.map { (name: $0.0, file: $0.1) }, now: .seconds(100), slack: .seconds(60))
    expectEqual(index.overdue(for: nil, named: nil), ["future"])
  }

  @Test("the folder is looked at again once an eighth of what is allowed was added")
  func due() {
    var entries = CacheFolderIndex(maxBytes: .max, maxEntries: 80)
    for number in 0..<10 { entries.add("\(number)", size: 1, at: .zero) }
    #expect(!entries.isDue)
    entries.add("10", size: 1, at: .zero)
    #expect(entries.isDue)
    entries.look(at: [], now: .zero, slack: .zero)
    #expect(!entries.isDue)
    var bytes = CacheFolderIndex(maxBytes: 80 * 4_096, maxEntries: .max)
    bytes.add("a", size: 10 * 4_096, at: .zero)
    #expect(!bytes.isDue)
    bytes.add("a", size: 1, at: .zero)
    #expect(bytes.isDue)
  }
}
