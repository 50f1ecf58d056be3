/// Keeps what it is told, in order, with a line of text for each.
typealias EventLog = Log

extension Log {
  var events: [Entry] { entries }
  var lines: [String] { entries.map { "\($0)" } }
}
