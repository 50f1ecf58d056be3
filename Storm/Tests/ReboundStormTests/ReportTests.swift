import ReboundStorm
import Testing

@Suite("The report of a storm")
struct ReportTests {
  private let scenario = Scenario.minuteOfOutage(clients: 500)

  private func storms() throws -> [Storm] {
    try NamedPolicy.ladder.prefix(3).map { try $0.settings.play(scenario, name: $0.name) }
  }

  @Test func hasARowForEachPolicyWithAllColumnsAligned() throws {
    let storms = try storms()
    let lines = StormTable(storms).text.split(separator: "\n")
    #expect(lines.count == storms.count + 2)
    #expect(Set(lines.map(\.count)).count == 1)
    for (line, storm) in zip(lines.dropFirst(2), storms) { #expect(line.hasPrefix("| \(storm.name) ")) }
    #expect(lines[2].hasPrefix("| no retry              | 1.00 ×"))
    #expect(lines[3].contains("| never "))
  }

  @Test func hasACellForEachNameWhateverIsInIt() throws {
    let storms = try ["retry | budget", "two\nlines"].map { try PolicySettings().play(scenario, name: $0) }
    let lines = StormTable(storms).text.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(Set(lines.map(\.count)).count == 1)
    #expect(lines[2].hasPrefix("| retry \\| budget | 1.00 ×"))
    #expect(lines[3].hasPrefix("| two lines       | 1.00 ×"))
  }

  @Test func hasAPictureThatSaysInWordsWhatItShows() throws {
    let storms = try storms()
    let svg = StormPlot(storms, scenario: scenario).svg
    #expect(svg == StormPlot(storms, scenario: scenario).svg)
    #expect(svg.contains("<title id=\"title\">A fault of 60 s, and 25 requests a second</title>"))
    #expect(svg.contains("no retry: at most 1.00 times the normal load in the fault and 1.00 times after it"))
    #expect(svg.contains("prefers-color-scheme: dark"))
  }

  @Test func saysOfNobodyWhoWasAnsweredHowLongItTook() throws {
    var lost = scenario
    lost.faults = [.packetLoss(share: 1, from: 0, to: 180)]
    let storm = try PolicySettings().play(lost)
    #expect(StormTable([storm]).text.hasSuffix("| none |"))
    #expect(StormPage([storm]).html.contains("<td>none</td></tr>"))
    #expect(storm.description.contains("p99 none\n"))
  }

  @Test func namesAPictureByItsFaultsAndItsLoad() throws {
    var scenario = Scenario(arrivals: .poisson(perSecond: 0.3), service: Service(concurrency: 1, time: .constant(0.1)))
    #expect(StormPlot([], scenario: scenario).svg.contains(">No fault, and 0.3 requests a second<"))
    scenario.faults = [.outage(from: 20, to: 20.5)]
    #expect(StormPlot([], scenario: scenario).svg.contains(">A fault of 0.5 s, and 0.3 requests a second<"))
    scenario.faults.append(.brownout(factor: 2, from: 30, to: 60))
    #expect(StormPlot([], scenario: scenario).svg.contains(">Faults over 40 s, and 0.3 requests a second<"))
  }

  @Test func hasAPageWhosePicturesAreDescribedWhateverIsInTheName() throws {
    let storm = try PolicySettings().play(scenario, name: "two\nlines")
    #expect(StormPage([storm]).html.contains("aria-label=\"two\nlines: recovered after 0 s, load"))
  }

  /// All that stands behind a letter of the paths of a class.
  private func heights(_ picture: String, _ name: String, after letter: Character) -> [Double] {
    let paths = picture.split(separator: "\n").filter { $0.hasPrefix("<path class=\"\(name)\"") }
    return paths.flatMap { $0.split(separator: letter).dropFirst() }
      .compactMap { $0.split(whereSeparator: { " H".contains($0) }).dropFirst().first.flatMap { Double($0) } }
  }

  @Test func hasPicturesThatReachToTheMostThatWasAnswered() throws {
    let service = Service(concurrency: 15, time: .constant(0.1))
    let backlog = Scenario(
      arrivals: .constant(perSecond: 100),
      service: service,
      faults: [.brownout(factor: 10, from: 20, to: 40)]
    )
    let storm = try Storm.playCalls(backlog)
    #expect(storm.series.served.max() == 150)
    #expect(storm.peakAfterTrouble < 1.1)
    let svg = StormPlot([storm], scenario: backlog).svg
    // From 76 on the picture's panel reaches down.
    #expect(heights(svg, "served", after: "L").min() == 76)
    #expect(svg.contains(">1.5 ×</text>"))
    #expect(heights(StormPage([storm]).html, "served", after: "L").min() == 0)
  }

  @Test func hasPicturesThatGoByTheLoadThatWasMeasured() throws {
    let service = Service(concurrency: 100, time: .constant(1))
    var closed = Scenario(arrivals: .closed(clients: 100, thinkTime: .exponential(mean: 1)), service: service)
    closed.faults = [.outage(from: 20, to: 40)]
    let storm = try Storm.playCalls(closed)
    // Half as much as if answers took no time.
    #expect(storm.normalLoad < 60)
    let svg = StormPlot([storm], scenario: closed).svg
    #expect(heights(svg, "offered", after: "L").min() == 76)
  }

  @Test(arguments: [("a < b & \"c\"", "a &lt; b &amp; &quot;c&quot;"), ("<\u{301}b>", "&lt;\u{301}b&gt;")])
  func hasPicturesThatTakeNamesAsText(name: String, text: String) throws {
    let storm = try PolicySettings().play(scenario, name: name)
    let svg = StormPlot([storm], scenario: scenario).svg
    #expect(svg.contains("<desc id=\"description\">\(text): at most"))
    #expect(svg.contains("font-weight=\"bold\">\(text)</text>"))
    #expect(StormPage([storm]).html.contains("<figcaption>\(text)</figcaption>"))
  }

  @Test func hasAPageThatNeedsNothingFromOutsideAndTakesNamesAsText() throws {
    let storm = try PolicySettings(maxRetries: 10).play(scenario, name: "<b>10 retries</b> & more")
    let html = StormPage([storm]).html
    #expect(html.contains("&lt;b&gt;10 retries&lt;/b&gt; &amp; more"))
    #expect(!html.contains("<b>10 retries"))
    for word in ["http:", "https:", "src=", "url(", "import "] { #expect(!html.contains(word), "\(word)") }
    #expect(html.contains("Change stage 1, retry"))
    #expect(html.contains("\"offered\":[25, 25,"))
  }
}
