/// Something that reads bytes which others have written.
struct FuzzTarget: Sendable {
  let name: String
  /// Inputs to begin with, which reach most of the code.
  let seeds: [[UInt8]]
  /// Words that mean something to the parser.
  let words: [String]
  /// Reads one input, and stops the process where something is not as it must be.
  let run: @Sendable (inout FuzzInput) -> Void

  init(_ name: String, seeds: [String], words: [String] = [], run: @escaping @Sendable (inout FuzzInput) -> Void) {
    self.init(name, seeds: seeds.map { Array($0.utf8) }, words: words, run: run)
  }

  init(_ name: String, seeds: [[UInt8]], words: [String] = [], run: @escaping @Sendable (inout FuzzInput) -> Void) {
    (self.name, self.seeds, self.words, self.run) = (name, seeds, words, run)
  }

  static let all: [FuzzTarget] = [
    dates, caching, problems, answers, events, traces, redirects, redaction, shell, metrics, archives, journal, outbox,
    stored, copies, addresses, multipart, heads, proxies, pins, interfaces,
  ]
}

/// Ends the process if something is not as it must be: the driver keeps the input and prints where it was.
func expect(_ holds: Bool, _ message: @autoclosure () -> String, line: Int = #line, file: String = #fileID) {
  // A find is to be seen by the driver, which watches for the end of the process.
  if !holds { fatalError("\(file):\(line): \(message())") }
}

/// As ``expect(_:_:line:file:)``, for two values that must be equal.
func expectEqual<Value: Equatable>(
  _ found: Value,
  _ wanted: Value,
  _ message: @autoclosure () -> String = "",
  line: Int = #line,
  file: String = #fileID
) {
  expect(found == wanted, "\(message()): found \(found), and should be \(wanted)", line: line, file: file)
}
