import Expectations
import ReboundTesting
import Testing

@Suite("CodeLocation")
struct CodeLocationTests {
  @Test("names the file without its folders, and the line")
  func description() {
    let location = CodeLocation(fileID: "SearchTests/TypingTests.swift", filePath: #filePath, line: 12, column: 3)
    expectEqual("\(location)", "TypingTests.swift:12")
  }
}
