import Foundation
import Rebound
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
/// May be used from any thread. Unchecked, because the lock guards all that changes.
public final class SimulatedDisk: @unchecked Sendable {
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

  private let lock = Lock()
  private var names: [String: Node] = [:]
  private var syncedNames: [String: Node] = [:]
  private var locked: Set<String> = []
  private var random: SeededRandom
  private var rate: Double
  /// Counts the calls that change something.
  private var calls = 0
  private var powerLostAt: Int?
  private var refusals: Set<Int> = []
  private var isDead = false
  private var generation = 0

  /// Makes a disk without files.
  ///
  /// - Parameters:
  ///   - seed: What chance goes by; `nil` draws one, in a simulation by that of the simulation.
  ///   - faultRate: The probability that a call that changes something is refused, and a write torn.
  public init(seed: UInt64? = nil, faultRate: Double = 0) {
    random = SeededRandom(seed: seed ?? .random(in: .min ... .max))
    rate = faultRate
  }

  /// The probability that a call that changes something is refused, and a write torn.
  public var faultRate: Double {
    get { lock.withLock { rate } }
    set { lock.withLock { rate = newValue } }
  }

  /// The storage of an outbox in a file, for the process that runs now.
  ///
  /// It is a `FileOutboxStorage` that reads and writes this disk.
  public func outboxStorage(at path: String) -> any OutboxStorage {
    FileOutboxStorage(path: path, disk: DiskOfProcess(disk: self, generation: lock.withLock { generation }))
  }

  /// Lets power go in the middle of a call that changes something.
  ///
  /// - Parameter call: Which one, counted from now on; 1 is the next.
  public func losePower(inCall call: Int) {
    lock.withLock { powerLostAt = calls + call }
  }

  /// Has a call that changes something fail.
  ///
  /// - Parameter call: Which one, counted from now on; 1 is the next.
  public func refuse(call: Int) {
    lock.withLock { _ = refusals.insert(calls + call) }
  }

  /// The process ends, and another begins.
  ///
  /// - Parameter losingPower: Whether the machine's power was lost: what was not synced is there then or not, by chance.
  public func restart(losingPower: Bool) {
    lock.withLock {
      generation += 1
      locked = []
      powerLostAt = nil
      refusals = []
      isDead = false
      guard losingPower else { return }
      // The names of a folder that was not synced are the old ones or the new ones.
      if Bool.random(using: &random) { names = syncedNames }
      // By name, since what chance draws must not hang on the order of a dictionary.
      for (_, node) in names.sorted(by: { $0.key < $1.key }) {
        let isLonger = node.bytes.starts(with: node.synced)
        let extra = node.bytes.count - node.synced.count
        if isLonger {
          let kept = extra > 0 ? Int.random(in: 0...extra, using: &random) : 0
          node.bytes = Data(node.bytes.prefix(node.synced.count + kept))
        } else if Bool.random(using: &random) {
          node.bytes = node.synced
        }
        node.synced = node.bytes
      }
      syncedNames = names
    }
  }

  fileprivate func isRunning(_ process: Int) -> Bool { lock.withLock { generation == process } }
}

extension SimulatedDisk: OutboxDisk {
  // MARK: What a storage calls

  package func lock(_ path: String) throws -> (any OutboxDiskLock)? {
    try lock.withLock {
      guard !isDead else { throw Fault.powerLost }
      guard locked.insert(path).inserted else { return nil }
      return HeldLock(disk: self, path: path, generation: generation)
    }
  }

  package func read(_ path: String) throws -> Data? {
    try lock.withLock {
      guard !isDead else { throw Fault.powerLost }
      return names[path]?.bytes
    }
  }

  package func openForAppending(_ path: String) throws -> any OutboxDiskFile {
    try lock.withLock {
      guard !isDead, let node = names[path] else { throw Fault.powerLost }
      return OpenFile(disk: self, node: node, generation: generation)
    }
  }

  package func create(_ path: String) throws -> any OutboxDiskFile {
    try change { outcome in
      let node = Node()
      if outcome != .refused { names[path] = node }
      return OpenFile(disk: self, node: node, generation: generation)
    }
  }

  package func rename(_ path: String, to other: String) throws {
    try change { outcome in
      if outcome == .done || (outcome == .powerLost && Bool.random(using: &random)) {
        names[other] = names.removeValue(forKey: path)
      }
    }
  }

  package func syncFolder(of path: String) throws {
    try change { outcome in
      if outcome == .done || (outcome == .powerLost && Bool.random(using: &random)) { syncedNames = names }
    }
  }

  private enum Outcome { case done, refused, powerLost }

  /// Does something wholly, not at all, or half, and says so by what it throws.
  private func change<Result>(_ body: (Outcome) -> Result) throws -> Result {
    try lock.withLock {
      guard !isDead else { throw Fault.powerLost }
      calls += 1
      if calls == powerLostAt {
        isDead = true
        _ = body(.powerLost)
        throw Fault.powerLost
      }
      if refusals.contains(calls) || (rate > 0 && random.nextUnit() < rate) {
        _ = body(.refused)
        throw Fault.refused
      }
      return body(.done)
    }
  }

  // Unchecked, because nothing changes.
  private final class HeldLock: OutboxDiskLock, @unchecked Sendable {
    private let disk: SimulatedDisk
    private let path: String
    private let generation: Int

    init(disk: SimulatedDisk, path: String, generation: Int) {
      (self.disk, self.path, self.generation) = (disk, path, generation)
    }

    func unlock() {
      disk.lock.withLock { if disk.generation == generation { disk.locked.remove(path) } }
    }
  }

  // Unchecked, because the disk's lock guards the node.
  private final class OpenFile: OutboxDiskFile, @unchecked Sendable {
    private let disk: SimulatedDisk
    private let node: Node
    private let generation: Int

    init(disk: SimulatedDisk, node: Node, generation: Int) {
      (self.disk, self.node, self.generation) = (disk, node, generation)
    }

    func write(_ data: Data) throws {
      try change { outcome in
        let part = outcome == .done ? data.count : Int.random(in: 0...data.count, using: &disk.random)
        node.bytes += data.prefix(part)
      }
    }

    func sync() throws {
      try change { outcome in
        if outcome == .done || Bool.random(using: &disk.random) { node.synced = node.bytes }
      }
    }

    func truncate(to length: Int) throws {
      try change { outcome in
        if outcome == .done { node.bytes = Data(node.bytes.prefix(length)) }
      }
    }

    func close() {}

    /// A process that has ended writes nothing any more.
    private func change(_ body: (Outcome) -> Void) throws {
      guard disk.lock.withLock({ disk.generation == generation }) else { throw Fault.powerLost }
      try disk.change(body)
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
  func syncFolder(of path: String) throws { try whileRunning { try $0.syncFolder(of: path) } }

  private func whileRunning<Result>(_ body: (SimulatedDisk) throws -> Result) throws -> Result {
    guard disk.isRunning(generation) else { throw SimulatedDisk.Fault.powerLost }
    return try body(disk)
  }
}
