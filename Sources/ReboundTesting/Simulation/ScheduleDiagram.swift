/// Who ran when, as a text: a row for each task and each actor, a column for each step.
public struct ScheduleDiagram: Sendable {
  struct Step: Sendable {
    let lane: Int
    let time: Int
    var notes: [String]
  }

  /// How many of the last steps it shows.
  private static let width = 64

  let names: [String]
  let steps: [Step]
}

extension ScheduleDiagram: CustomStringConvertible {
  /// The rows; then each note and each jump of time with the number of its step.
  public var description: String {
    let first = max(0, steps.count - Self.width)
    let shown = steps[first...]
    let lanes = Set(shown.map(\.lane)).sorted()
    let width = lanes.map { names[$0].count }.max() ?? 0
    let rows = lanes.map { lane in
      let name = names[lane]
      return name + String(repeating: " ", count: width - name.count + 2)
        + shown.map { $0.lane == lane ? "█" : "·" }.joined()
    }
    var time = 0
    var lines: [String] = first > 0 ? ["(the last \(shown.count) of \(steps.count) steps)"] : []
    lines += rows
    for (number, step) in shown.enumerated() {
      if step.time != time {
        time = step.time
        lines.append("step \(number + 1): the time is \(Duration.nanoseconds(time))")
      }
      for note in step.notes { lines.append("step \(number + 1), \(names[step.lane]): \(note)") }
    }
    return lines.joined(separator: "\n")
  }
}
