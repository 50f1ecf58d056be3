/// What the run-time library says about a job in its first words.
///
/// Source: the layout of `Job` and of `JobFlags` in the run-time library's <ABI/Task.h> and <ABI/MetadataValues.h>.
enum JobKind {
  /// A part of a task, up to its next suspension.
  case task(UnsafeRawPointer)
  /// An actor that works on its mailbox.
  case actor(UnsafeRawPointer)
  /// The end of a pause: of a yield or a sleep.
  case continuation
  /// Anything else, such as the end of an object that is isolated to the main actor.
  case other
}

extension UnownedJob {
  var address: UnsafeRawPointer {
    // A job is one word: its address.
    unsafeBitCast(self, to: UnsafeRawPointer.self)
  }

  private var flags: UInt32 { address.load(fromByteOffset: 32, as: UInt32.self) }

  var kind: JobKind {
    switch flags & 0xFF {
    case 0: .task(address)
    // Made for each time that the actor has work, and may be where another one was: the actor stands behind the words of a job.
    case 193: .actor(address.load(fromByteOffset: 64, as: UnsafeRawPointer.self))
    case 195: .continuation
    default: .other
    }
  }

  var task: UnsafeRawPointer? { if case .task(let task) = kind { task } else { nil } }

  /// Whether it is a part of another task, which waits for it.
  var isChildTask: Bool { flags & 1 << 24 != 0 }
}

/// The tasks of a run that are nobody's children and may not have ended.
struct TaskTable {
  private var lanes: [UnsafeRawPointer: Int] = [:]

  /// Takes hold of a task.
  mutating func insert(_ task: UnsafeRawPointer, lane: Int) {
    guard lanes.updateValue(lane, forKey: task) == nil else { return }
    RuntimeSymbols.retain(task)
  }

  /// Lets go of a task that nobody else holds: it has ended, for a task that has not holds itself.
  mutating func forget(ifEnded task: UnsafeRawPointer) {
    guard lanes[task] != nil, RuntimeSymbols.holders(of: task) == 1 else { return }
    lanes[task] = nil
    RuntimeSymbols.release(task)
  }

  /// Those that others hold, with their lanes, in the order of these.
  var left: [(task: UnsafeRawPointer, lane: Int)] {
    lanes.filter { RuntimeSymbols.holders(of: $0.key) > 1 }.map { ($0.key, $0.value) }.sorted { $0.lane < $1.lane }
  }

  /// Lets go of all.
  mutating func close() {
    for task in lanes.keys { RuntimeSymbols.release(task) }
    lanes = [:]
  }
}
