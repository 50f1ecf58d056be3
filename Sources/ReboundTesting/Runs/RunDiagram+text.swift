extension RunDiagram {
  /// The run in rows of text, at most 61 columns of time, and each attempt in words below them.
  ///
  /// Where more happens in a column than it has room for, the last thing is shown. The words are exact: they tell of all attempts
  /// and waits, and where the output or the breaker has more than is shown, of all of that, too.
  public var text: String {
    let scale = TimeScale(end, columns: 60)
    let wide = scale.column(end) + 1
    var rows = [("time", ruler(scale, wide)), ("attempts", attemptRow(scale, wide))]
    if !waits.isEmpty { rows.append(("waits", waitRow(scale, wide))) }
    rows.append(("output", marbleRow(scale, wide)))
    if !phases.isEmpty { rows.append(("breaker", phaseRow(scale, wide))) }
    let width = (rows.map(\.0.count).max() ?? 0) + 2
    let lines = rows.map { label, row in
      (label + String(repeating: " ", count: width - label.count) + row).trimmedRight
    }
    return ([title] + lines + attemptWords + hiddenWords(marbles, scale.column)).joined(separator: "\n")
  }

  /// In words, the output and the states of the breaker, if one of them hides another in the picture.
  ///
  /// - Parameters:
  ///   - marbles: Of the output, what may hide one another.
  ///   - place: Where the picture shows a moment.
  func hiddenWords(_ marbles: [Marble], _ place: (Duration) -> Int) -> [String] {
    func words(_ row: String, _ things: [(name: String, time: Duration)]) -> String? {
      guard Set(things.map { place($0.time) }).count < things.count else { return nil }
      let shown = things.prefix(100).map { "\($0.name) at \($0.time.text)" }.joined(separator: ", ")
      return "\(row): \(shown)" + (things.count > 100 ? " and \(things.count - 100) more" : "")
    }
    return [
      words("output", marbles.map { ($0.kind.name, $0.time) }),
      words("breaker", phases.map { ($0.state.text, $0.start) }),
    ].compactMap(\.self)
  }

  /// Each attempt in words.
  var attemptWords: [String] {
    attempts.map { attempt in
      let time = "\(attempt.number): \(attempt.start.text) to \(attempt.end.text), "
      switch attempt.outcome {
      case .finished: return time + "finished"
      case .cancelled: return time + "cancelled"
      case .running: return time + "still running"
      case .failed(let error):
        if let wait = waits.first(where: { $0.attempt == attempt.number }) {
          return time + "failed (\(error)), then waited \((wait.end - wait.start).text) (\(wait.source))"
        }
        if attempt == attempts.last, let stopReason { return time + "failed (\(error)), stopped: \(stopReason)" }
        return time + "failed (\(error))"
      }
    }
  }

  private func ruler(_ scale: TimeScale, _ width: Int) -> String {
    var row = Row(width)
    row.write("0 s", at: 0)
    let label = end.text
    if scale.column(end) > 4 { row.write(label, at: max(scale.column(end) - label.count + 1, 4)) }
    return row.text
  }

  private func attemptRow(_ scale: TimeScale, _ width: Int) -> String {
    var row = Row(width)
    for attempt in attempts {
      let (start, end) = (scale.column(attempt.start), scale.column(attempt.end))
      row.fill("=", from: start, upTo: end)
      switch attempt.outcome {
      case .failed: row.write("#", at: end)
      case .finished: row.write("|", at: end)
      case .cancelled: row.write("!", at: end)
      case .running: row.write("=", at: end)
      }
      if start < end || attempts.count == 1 { row.write("\(attempt.number)", at: start) }
    }
    return row.text
  }

  private func waitRow(_ scale: TimeScale, _ width: Int) -> String {
    var row = Row(width)
    for wait in waits {
      let (start, end) = (scale.column(wait.start), scale.column(wait.end))
      row.fill(".", from: start, upTo: max(end, start + 1))
      if wait.source.count < end - start { row.write(wait.source, at: start) }
    }
    return row.text
  }

  private func marbleRow(_ scale: TimeScale, _ width: Int) -> String {
    var row = Row(width)
    row.fill("-", from: 0, upTo: width)
    for marble in marbles { row.write(String(marble.character), at: scale.column(marble.time)) }
    return row.text
  }

  private func phaseRow(_ scale: TimeScale, _ width: Int) -> String {
    var row = Row(width)
    for (index, phase) in phases.enumerated() {
      let start = scale.column(phase.start)
      let next = index + 1 < phases.count ? scale.column(phases[index + 1].start) : width
      row.fill("_", from: start, upTo: next)
      row.write(String(phase.state.text.prefix(max(next - start, 1))), at: start)
    }
    return row.text
  }

  /// Columns that are written over one another.
  private struct Row {
    private var columns: [Character]

    init(_ width: Int) {
      columns = Array(repeating: " ", count: width)
    }

    var text: String { String(columns) }

    mutating func fill(_ character: Character, from start: Int, upTo end: Int) {
      for column in columns.indices where column >= start && column < end { columns[column] = character }
    }

    mutating func write(_ text: String, at start: Int) {
      for (offset, character) in text.enumerated() where columns.indices.contains(start + offset) {
        columns[start + offset] = character
      }
    }
  }
}

/// How much time a column stands for: 1, 2 or 5 of a power of ten, so that the whole fits.
struct TimeScale {
  private let nanosecondsPerColumn: Int

  init(_ end: Duration, columns: Int) {
    let total = max(VirtualTime.Stride(end).nanoseconds, 1)
    var power = 1
    var step = 1
    while total / step > columns {
      // From 1 to 2, from 2 to 5, from 5 to 10.
      switch step / power {
      case 1: step = 2 * power
      case 2: step = 5 * power
      default:
        power *= 10
        step = power
      }
    }
    nanosecondsPerColumn = step
  }

  func column(_ time: Duration) -> Int {
    VirtualTime.Stride(time).nanoseconds / nanosecondsPerColumn
  }

  var step: Duration { .nanoseconds(nanosecondsPerColumn) }
}

extension String {
  var trimmedRight: String {
    String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
  }
}
