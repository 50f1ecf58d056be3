#if Redis
  import Foundation

  /// How much of a test is to be played: a little in every run of the tests, as much as is asked for by `scripts/fleet`, which is
  /// then told how far it is.
  struct LongRun {
    /// How many times.
    let count: Int
    private let isAskedFor: Bool

    /// - Parameters:
    ///   - variable: In the environment, how many times; see `scripts/fleet`.
    ///   - usual: How many times it is if nobody says so.
    init(_ variable: String, usual: Int) {
      let asked = ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
      (count, isAskedFor) = (asked ?? usual, asked != nil)
    }

    /// Says on standard error how far the run is, each time a twentieth is through.
    func note(_ done: Int) {
      guard isAskedFor, done.isMultiple(of: max(count / 20, 1)) else { return }
      FileHandle.standardError.write(Data("\(done) of \(count)\n".utf8))
    }
  }
#endif
