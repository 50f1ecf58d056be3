import StormSimulation
import Testing

@Suite("The report of a storm")
struct StormReportTests {
  private let scenario = Scenario(clients: 1_000)

  @Test("has a row for each policy, with all columns aligned")
  func table() throws {
    let policies = try ClientPolicy.ladder()
    let lines = StormTable(try StormResult.all(scenario, policies: policies)).text.split(separator: "\n")
    #expect(lines.count == policies.count + 2)
    #expect(Set(lines.map(\.count)).count == 1)
    for (line, policy) in zip(lines.dropFirst(2), policies) { #expect(line.hasPrefix("| \(policy.name) ")) }
    #expect(lines[2].hasPrefix("| no retry                   | 1.00 ×"))
  }

  @Test("has a picture that says in words what it shows")
  func plot() throws {
    let results = try StormResult.all(scenario, policies: ClientPolicy.ladder())
    let svg = StormPlot(results, scenario: scenario).svg
    #expect(svg == StormPlot(results, scenario: scenario).svg)
    #expect(svg.contains("<title id=\"title\">A server that is down for 60 s, and 1000 clients</title>"))
    #expect(svg.contains("no retry: at most 1.00 times the normal load in the outage and 1.00 times after it"))
    #expect(svg.contains("10 retries, at once: at most 11.00 times the normal load in the outage"))
    #expect(svg.components(separatedBy: "class=\"offered\"").count == results.count + 1)
    #expect(svg.contains("prefers-color-scheme: dark"))
  }
}

extension String {
  fileprivate func components(separatedBy separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}
