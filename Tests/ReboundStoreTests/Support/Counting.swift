import ReboundStore
import StreamSupport

/// A small feature that most of these tests use.
enum CountAction: Hashable, Codable, Sendable {
  case add(Int)
  case begin(String)
  case answered(String)
  case failed(String)
}

struct CountState: Hashable, Codable, Sendable {
  var count = 0
  var answers: [String] = []
}

extension Reducer where State == CountState, Action == CountAction {
  static let counting = Reducer { state, action in
    switch action {
    case .add(let number): state.count += number
    case .begin: break
    case .answered(let answer): state.answers.append(answer)
    case .failed(let reason): state.answers.append("failed: \(reason)")
    }
  }
}

struct Broken: Error, Hashable {
  var isTransient = true
}

/// Text that is written down from any thread.
final class Notes: @unchecked Sendable {
  // Unchecked, because the lock guards the lines.
  private let lock = Lock()
  private var written: [String] = []

  var lines: [String] { lock.withLock { written } }

  func write(_ line: String) {
    lock.withLock { written.append(line) }
  }
}
