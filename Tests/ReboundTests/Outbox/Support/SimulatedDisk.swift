import Foundation
import Rebound
import ReboundTesting
import StreamSupport

/// A disk in memory that may fail at any call, and loses what was not synced when power goes.
///
/// Unchecked, because the lock guards all that changes.
final class SimulatedDisk: OutboxDisk, @unchecked Sendable {
  /// The power is gone; or a call was told to fail.
  enum Fault: Error { case powerLost, refused }

  /// The bytes of a file, whatever its name.
  final class Node {
    var bytes = Data()
    /// What survives the loss of power for certain.
    var synced = Data()
  }

  private let lock = Lock()
  private var names: [String: Node] = [:]
  private var syncedNames: [String: Node] = [:]
  private var locked: Set<String> = []
  private var random: SeededRandom
  /// Counts the calls that change something.
  private var calls = 0
  private var powerLostAt: Int?
  private var refusals: Set<Int> = []
  private var isDead = false
  private var generation = 0

  init(seed: UInt64 = 0) {
    random = SeededRandom(seed: seed)
  }

  var callCount: Int { lock.withLock { calls } }
  var fileNames: [String] { lock.withLock { names.keys.sorted() } }

  /// Puts bytes there, as if they had always been.
  func place(_ bytes: Data, at path: String) {
    lock.withLock {
      let node = Node()
      (node.bytes, node.synced) = (bytes, bytes)
      names[path] = node
      syncedNames[path] = node
    }
  }

  func bytes(at path: String) -> Data? { lock.withLock { names[path]?.bytes } }

  /// Lets power go in the middle of this call, counted from now on.
  func losePower(inCall call: Int) {
    lock.withLock { powerLostAt = calls + call }
  }

  /// Has this call fail, counted from now on.
  func refuse(call: Int) {
    lock.withLock { _ = refusals.insert(calls + call) }
  }

  /// The process ends, and another begins: with power lost, what was not synced is there or not, by chance.
  func restart(losingPower: Bool) {
    lock.withLock {
      generation += 1
      locked = []
      powerLostAt = nil
      refusals = []
      isDead = false
      guard losingPower else { return }
      // The names of a folder that was not synced are the old ones or the new ones.
      if Bool.random(using: &random) { names = syncedNames }
      for node in names.values {
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

  // MARK: What the storage calls

  func lock(_ path: String) throws -> (any OutboxDiskLock)? {
    try lock.withLock {
      guard !isDead else { throw Fault.powerLost }
      guard locked.insert(path).inserted else { return nil }
      return HeldLock(disk: self, path: path, generation: generation)
    }
  }

  func read(_ path: String) throws -> Data? {
    try lock.withLock {
      guard !isDead else { throw Fault.powerLost }
      return names[path]?.bytes
    }
  }

  func openForAppending(_ path: String) throws -> any OutboxDiskFile {
    try lock.withLock {
      guard !isDead, let node = names[path] else { throw Fault.powerLost }
      return OpenFile(disk: self, node: node, generation: generation)
    }
  }

  func create(_ path: String) throws -> any OutboxDiskFile {
    try change { outcome in
      let node = Node()
      if outcome != .refused { names[path] = node }
      return OpenFile(disk: self, node: node, generation: generation)
    }
  }

  func rename(_ path: String, to other: String) throws {
    try change { outcome in
      if outcome == .done || (outcome == .powerLost && Bool.random(using: &random)) {
        names[other] = names.removeValue(forKey: path)
      }
    }
  }

  func syncFolder(of path: String) throws {
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
      if refusals.contains(calls) {
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
