import Foundation
import ReboundStorm

func note(_ text: String) {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
}

/// Looks for policies, to the end, and keeps them where they are to be kept; or reads those that were kept.
func found(_ arguments: Arguments) throws -> SearchResult? {
  guard let tries = arguments.tries else { return try arguments.tuned.map(SearchResult.init(contentsOf:)) }
  let scenario = try arguments.scenario()
  let seen = arguments.file == nil ? Trials.seen : [scenario.with(seed: scenario.seed &+ 100)]
  let result = try SearchResult.search(tries: tries, seed: 1, on: seen) { tried in
    if tried % 10 == 0 { note("tried \(tried) of \(tries)") }
  }
  if let file = arguments.tuned { try result.write(to: file) }
  return result
}

func play(_ arguments: Arguments) throws {
  let scenario = try arguments.scenario()
  let known = Row.ladder + Row.presets
  var rows = known.filter { arguments.policy.isEmpty || $0.name.contains(arguments.policy) }
  // Here and below, before a search, which takes minutes.
  guard !rows.isEmpty else {
    throw Complaint("No row has \"\(arguments.policy)\" in its name: \(known.map(\.name).joined(separator: "; ")).")
  }
  let folder = arguments.folder.map { URL(fileURLWithPath: $0, isDirectory: true) }
  let kept = arguments.tries == nil ? nil : arguments.tuned.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
  for folder in [folder, kept].compactMap(\.self) {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }
  let result = try found(arguments)
  let tuned = result?.front.first
  if let tuned { rows.append(Row("tuned", tuned)) }
  var storms: [Storm] = []
  for (number, row) in rows.enumerated() {
    let start = Cost.processorSeconds
    storms.append(try row.play(scenario))
    let seconds = Int((Cost.processorSeconds - start).rounded())
    let memory = Cost.peakMebibytes.map { ", \($0) MiB at most so far" } ?? ""
    note("[\(number + 1)/\(rows.count)] \(row.name): \(seconds) s of one core\(memory)")
  }
  var text = """
    \(scenario.arrivals.rate) requests a second without any trouble; the service bears \(scenario.service.capacity). \
    Seed \(scenario.seed).

    \(StormTable(storms).text)

    """
  if let tuned, let result {
    let seen =
      switch (arguments.file, arguments.tries) {
      case (nil, _): "other scenarios and seeds"
      case (_?, nil): "what the search for it has seen"
      case (_?, _?): "the same scenario with another seed"
      }
    text += """

      The tuned policy, the best of \(result.front.count) that no other of \(result.tries) was better than, on \(seen):

      ```swift
      \(tuned.swiftSource)
      ```

      """
    if arguments.file == nil {
      note("judging the tuned policy by what the search has not seen")
      let others = Row.ladder + Row.presets
      let judgement = try Judgement(of: Row("tuned", tuned), against: others, on: Trials.unseen, noting: note)
      text += """

        On what the search has not seen, two seeds each. It is as good in all of given up, peak and recovery, and better \
        in one, in \(judgement.wins) of \(judgement.comparisons) comparisons:

        \(judgement.text)

        """
    }
  }
  if arguments.file == nil {
    note("playing the other comparisons")
    text += "\n" + (try Comparisons.text(seed: scenario.seed, noting: note))
  }
  var verdict: String?
  if arguments.judgesFront, let result {
    note("judging the \(result.front.count) policies of the front")
    let front = result.front.enumerated().map { Row("\($0.offset + 1)", $0.element) }
    let others = Row.ladder + Row.presets
    verdict = try Verdict(on: front, against: others, by: Trials.unseen, noting: note).text + "\n"
  }
  print([text, verdict].compactMap(\.self).joined(separator: "\n"))
  if let folder {
    try Data(text.utf8).write(to: folder.appendingPathComponent("storm.md"))
    try verdict.map { try Data($0.utf8).write(to: folder.appendingPathComponent("front.md")) }
    try Data(StormPlot(storms, scenario: scenario).svg.utf8).write(to: folder.appendingPathComponent("storm.svg"))
    try Data(StormPage(storms).html.utf8).write(to: folder.appendingPathComponent("storm.html"))
  }
}

do {
  try play(try Arguments(Array(CommandLine.arguments.dropFirst())))
} catch {
  note("storm: \(error)")
  exit(1)
}
