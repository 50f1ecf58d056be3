import Foundation
import ReboundStorm
import Testing

@Suite("The scenarios that come as files")
struct ScenarioFileTests {
  private var files: [URL] {
    get throws {
      let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      let folder = tests.appendingPathComponent("../../Scenarios").standardizedFileURL
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }
  }

  @Test func areReadAndPlayed() throws {
    let files = try files
    #expect(files.map(\.lastPathComponent).contains("brownout.json"))
    for file in files {
      let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: file))
      let storm = try PolicySettings().play(scenario)
      #expect(storm.trouble.count > 0, "\(file)")
      #expect(storm.givenUpShare > 0.05 && storm.recovers(within: .seconds(10)), "\(file): \(storm)")
    }
  }
}
