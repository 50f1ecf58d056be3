import Foundation
import Rebound
import ReboundOutbox
import StreamSupport

/// A disk in memory that may fail at any call, tears what it writes, and loses what was not synced when power goes.
///
///     let disk = SimulatedDisk(faultRate: 0.1)
///     let storage = disk.outboxStorage(at: "/orders")
///     var outbox = Outbox("orders", storage: storage, delivering: deliver)
///     …
///     disk.restart(losingPower: true)   // the process ends, and another begins
///     outbox = Outbox("orders", storage: disk.outboxStorage(at: "/orders"), delivering: deliver)
///
/// Chance decides which call fails, how much of a write is there then, and what survives the loss of power: in a simulation,
/// its seed. A process that has ended can do nothing any more: what it still asks for is refused.
///
/// May be used from any thread.
public final class SimulatedDisk: Sendable {
  /// Why a call failed.
  public enum Fault: Error {
    /// The power is gone, or the process that asks has ended.
    case powerLost
    /// The call was told to fail, or chance had it fail.
    case refused
  }

  /// The bytes of a file, whatever its name.
  fileprivate final class Node {
    var bytes = Data()
    /// What survives the loss of power for certain.
    var synced = Data()
  }

  private struct State {
    var names: [String: Node] = [:]
    var syncedNames: [String: Node] = [:]
    var locked: Set<String> = []
    var random: SeededRandom
    var faultRate: Double
    /// Counts the calls that change something.
    var calls = 0
    var powerLostAt: Int?
    var refusals: Set<Int> = []
    var isDead = false
    var generation = 0

    /// Whether something that was under way when power went is there all the same.
    mutating func survives(_ outcome: Outcome) -> Bool {
      outcome == .done || (outcome == .powerLost && Bool.random(using: &random))
    }
  }

  private let state: Locked<State>

  /// Makes a disk without files.
  ///
  /// - Parameters:
  ///   - seed: What chance goes by; `nil` draws one, in a simulation by that of the simulation.
  ///   - faultRate: The probability that a call that changes something is refused, and a write torn.
  public init(seed: UInt64? = nil, faultRate: Double = 0) {
    let random = SeededRandom(seed: seed ?? .random(in: .min ... .max))
    state = Locked(State(random: random, faultRate: faultRate))
  }

  /// The probability that a call that changes something is refused, and a write torn.
  public var faultRate: Double {
    get { state.withLock { $0.faultRate } }
    set { state.withLock { $0.faultRate = newValue } }
  }

  /// The storage of an outbox in a file, for the process that runs now.
  ///
  /// It is a `FileOutboxStorage` that reads and writes this disk.
  public func outboxStorage(at path: String) -> any OutboxStorage {
    FileOutboxStorage(path: path, disk: DiskOfProcess(disk: self, generation: state.withLock { $0.generation }))
  }

  /// Lets power go in the middle of a call that changes something.
  ///
  /// - Parameter call: Which one, counted from now on; 1 is the next.
  public func losePower(inCall call: Int) {
    state.withLock { $0.powerLostAt = $0.calls + call }
  }

  /// Has a call that changes something fail.
  ///
  /// - Parameter call: Which one, counted from now on; 1 is the next.
  public func refuse(call: Int) {
    state.withLock { _ = $0.refusals.insert($0.calls + call) }
  }

  /// The process ends, and another begins.
  ///
  /// - Parameter losingPower: Whether the machine's power was lost: what was not synced is there then or not, by chance.
  public func restart(losingPower: Bool) {
    state.withLock { state in
      state.generation += 1
      state.locked = []
      state.powerLostAt = nil
      state.refusals = []
      state.isDead = false
      guard losingPower else { return }
      // The names of a folder that was not synced are the old ones or the new ones.
      if Bool.random(using: &state.random) { state.names = state.syncedNames }
      // By name, since what chance draws must not hang on the order of a dictionary.
      for (_, node) in state.names.sorted(by: { $0.key < $1.key }) {
        let isLonger = node.bytes.starts(with: node.synced)
        let extra = node.bytes.count - node.synced.count
        if isLonger {
          let kept = extra > 0 ? Int.random(in: 0...extra, using: &state.random) : 0
          node.bytes = Data(node.bytes.prefix(node.synced.count + kept))
        } else if Bool.random(using: &state.random) {
          node.bytes = node.synced
        }
        node.synced = node.bytes
      }
      state.syncedNames = state.names
    }
  }

  fileprivate func isRunning(_ process: Int) -> Bool { state.withLock { $0.generation == process } }
}

extension SimulatedDisk: OutboxDisk {
  // MARK: What a storage calls

  package func lock(_ path: String) throws -> (any OutboxDiskLock)? {
    try state.withLock { state in
      guard !state.isDead else { throw Fault.powerLost }
      guard state.locked.insert(path).inserted else { return nil }
      return HeldLock(disk: self, path: path, generation: state.generation)
    }
  }

  package func read(_ path: String) throws -> Data? {
    try state.withLock { state in
      guard !state.isDead else { throw Fault.powerLost }
      return state.names[path]?.bytes
    }
  }

  package func openForAppending(_ path: String) throws -> any OutboxDiskFile {
    try state.withLock { state in
      guard !state.isDead, let node = state.names[path] else { throw Fault.powerLost }
      return OpenFile(disk: self, node: node, generation: state.generation)
    }
  }

  package func create(_ path: String) throws -> any OutboxDiskFile {
    try change { state, outcome in
      let node = Node()
      if outcome != .refused { state.names[path] = node }
      return OpenFile(disk: self, node: node, generation: state.generation)
    }
  }

  package func rename(_ path: String, to other: String) throws {
    try change { state, outcome in
      if state.survives(outcome) { state.names[other] = state.names.removeValue(forKey: path) }
    }
  }

  package func remove(_ path: String) throws {
    try change { state, outcome in
      if state.survives(outcome) { state.names[path] = nil }
    }
  }

  package func syncFolder(of path: String) throws {
    try change { state, outcome in
      if state.survives(outcome) { state.syncedNames = state.names }
    }
  }

  private enum Outcome { case done, refused, powerLost }

  /// Does something wholly, not at all, or half, and says so by what it throws.
  private func change<Result>(_ body: (inout State, Outcome) -> Result) throws -> Result {
    try state.withLock { state in
      guard !state.isDead else { throw Fault.powerLost }
      state.calls += 1
      if state.calls == state.powerLostAt {
        state.isDead = true
        _ = body(&state, .powerLost)
        throw Fault.powerLost
      }
      let isRefused = state.refusals.contains(state.calls)
      if isRefused || (state.faultRate > 0 && state.random.nextUnit() < state.faultRate) {
        _ = body(&state, .refused)
        throw Fault.refused
      }
      return body(&state, .done)
    }
  }

  private final class HeldLock: OutboxDiskLock {
    private let disk: SimulatedDisk
    private let path: String
    private let generation: Int

    init(disk: SimulatedDisk, path: String, generation: Int) {
      (self.disk, self.path, self.generation) = (disk, path, generation)
    }

    func unlock() {
      disk.state.withLock { if $0.generation == generation { $0.locked.remove(path) } }
    }
  }

  private final class OpenFile: OutboxDiskFile {
    private let disk: SimulatedDisk
    /// Used under the disk's lock only.
    private let node: Confined<Node>
    private let generation: Int

    init(disk: SimulatedDisk, node: Node, generation: Int) {
      (self.disk, self.node, self.generation) = (disk, Confined(node), generation)
    }

    func write(_ data: Data) throws {
      try change { state, node, outcome in
        let part = outcome == .done ? data.count : Int.random(in: 0...data.count, using: &state.random)
        node.bytes += data.prefix(part)
      }
    }

    func sync() throws {
      try change { state, node, outcome in
        if outcome == .done || Bool.random(using: &state.random) { node.synced = node.bytes }
      }
    }

    func truncate(to length: Int) throws {
      try change { _, node, outcome in
        if outcome == .done { node.bytes = Data(node.bytes.prefix(length)) }
      }
    }

    func close() {}

    /// A process that has ended writes nothing any more.
    private func change(_ body: (inout State, Node, Outcome) -> Void) throws {
      guard disk.isRunning(generation) else { throw Fault.powerLost }
      try disk.change { state, outcome in body(&state, node.value, outcome) }
    }
  }
}

/// The disk as one process sees it: it ends with the process.
private struct DiskOfProcess: OutboxDisk {
  let disk: SimulatedDisk
  let generation: Int

  func lock(_ path: String) throws -> (any OutboxDiskLock)? { try whileRunning { try $0.lock(path) } }
  func read(_ path: String) throws -> Data? { try whileRunning { try $0.read(path) } }
  func openForAppending(_ path: String) throws -> any OutboxDiskFile {
    try whileRunning { try $0.openForAppending(path) }
  }
  func create(_ path: String) throws -> any OutboxDiskFile { try whileRunning { try $0.create(path) } }
  func rename(_ path: String, to other: String) throws { try whileRunning { try $0.rename(path, to: other) } }
  func remove(_ path: String) throws { try whileRunning { try $0.remove(path) } }
  func syncFolder(of path: String) throws { try whileRunning { try $0.syncFolder(of: path) } }

  private func whileRunning<Result>(_ body: (SimulatedDisk) throws -> Result) throws -> Result {
    guard disk.isRunning(generation) else { throw SimulatedDisk.Fault.powerLost }
    return try body(disk)
  }
}

extension SimulatedDisk.Fault: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    switch self {
    case .powerLost: "The disk has no power, or the process has ended. Call restart(), and open the file again."
    case .refused: "The disk refused the call, as it was told or by chance. Let what is tested cope with it."
    }
  }
}
