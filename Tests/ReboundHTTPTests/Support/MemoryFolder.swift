import Foundation
import Rebound
import StreamSupport

@testable import ReboundHTTP

/// A folder in memory, some of whose calls fail, or which a process leaves in the middle of a call.
final class MemoryFolder: CacheFolder, Sendable {
  /// The disk says no.
  static let refusal = CacheFolderError("do", "it", reason: "No space left on device", isMissing: false)
  /// The process has ended: nothing that it asks for is done any more.
  static let end = CacheFolderError("do", "it", reason: "the process has ended", isMissing: false)

  struct Entry {
    var bytes = Data()
    var changed: Duration
    var number: UInt64
    var isPlain = true
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var isThere = false
    var lastNumber: UInt64 = 0
    /// What has been asked for, in order: "create", "rename".
    var calls: [String] = []
    var refused: Set<String> = []
    /// After how many changes the process ends, and how much of a write that it is in gets there.
    var end: (after: Int, written: Int)?
  }

  private let state = Locked(State())

  // MARK: What a test sees and does

  var entries: [String: Entry] { state.withLock { $0.entries } }
  var calls: [String] { state.withLock { $0.calls } }

  func put(_ name: String, _ entry: Entry) { state.withLock { $0.entries[name] = entry } }

  func change(_ name: String, _ body: (inout Data) -> Void) {
    state.withLock { state in
      guard var entry = state.entries[name] else { return }
      body(&entry.bytes)
      // Whoever damages a file changes it.
      entry.changed += .nanoseconds(1)
      state.entries[name] = entry
    }
  }

  /// The folder is removed with all that is in it.
  func vanish() { state.withLock { ($0.entries, $0.isThere) = ([:], false) } }

  /// Has calls of these names fail from now on.
  func refuse(_ calls: Set<String>) { state.withLock { $0.refused = calls } }

  /// The process ends with the change behind so many, and begins anew with `nil`.
  func end(after changes: Int?, written: Int = 0) {
    state.withLock { $0.end = changes.map { ($0, written) } }
  }

  // MARK: What a cache does

  func make() throws { try change("make") { $0.isThere = true } }

  func names() throws -> [String] { try look("names") { $0.entries.keys.sorted() } }

  func file(_ name: String) throws -> CacheFile? { try look("file") { $0.entries[name].map(Self.file) } }

  func read(_ name: String, limit: Int, count: Int) throws -> (bytes: Data, file: CacheFile)? {
    try look(count == .max ? "read" : "peek") { state in
      guard let entry = state.entries[name], entry.isPlain, entry.bytes.count <= limit else { return nil }
      return (Data(entry.bytes.prefix(count)), Self.file(entry))
    }
  }

  func create(_ name: String, _ bytes: Data, used: Duration) throws -> CacheFile {
    let before = state.withLock { $0.end }
    return try change(
      "create",
      torn: { state in
        guard state.isThere else { return }
        state.lastNumber += 1
        let part = Data(bytes.prefix(before?.written ?? 0))
        state.entries[name] = Entry(bytes: part, changed: used, number: state.lastNumber)
      }
    ) { state in
      guard state.isThere else { throw Self.missing }
      guard state.entries[name] == nil else { throw Self.refusal }
      state.lastNumber += 1
      let entry = Entry(bytes: bytes, changed: used, number: state.lastNumber)
      state.entries[name] = entry
      return Self.file(entry)
    }
  }

  func rename(_ name: String, to other: String) throws {
    try change("rename") { state in
      guard state.entries[other]?.isPlain != false else { throw Self.refusal }
      guard let entry = state.entries.removeValue(forKey: name) else { throw Self.missing }
      state.entries[other] = entry
    }
  }

  func use(_ name: String, at time: Duration) throws {
    try change("use") { state in
      guard state.entries[name] != nil else { throw Self.missing }
      state.entries[name]?.changed = time
    }
  }

  func remove(_ name: String) throws { try change("remove") { $0.entries[name] = nil } }

  private static let missing = CacheFolderError("do", "it", reason: "No such file or directory", isMissing: true)

  private static func file(_ entry: Entry) -> CacheFile {
    CacheFile(number: entry.number, size: entry.bytes.count, changed: entry.changed, isPlain: entry.isPlain)
  }

  private func look<Result>(_ call: String, _ body: (State) throws -> Result) throws -> Result {
    try state.withLock { state in
      state.calls.append(call)
      if state.refused.contains(call) { throw Self.refusal }
      if let end = state.end, end.after < 0 { throw Self.end }
      return try body(state)
    }
  }

  private func change<Result>(
    _ call: String,
    torn: (inout State) -> Void = { _ in },
    _ body: (inout State) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      state.calls.append(call)
      if state.refused.contains(call) { throw Self.refusal }
      if let end = state.end {
        if end.after == 0 { torn(&state) }
        state.end = (end.after - 1, end.written)
        if end.after <= 0 { throw Self.end }
      }
      return try body(&state)
    }
  }
}
