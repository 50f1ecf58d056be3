import Foundation

/// The few things that a cache needs of a folder, each as the system does it.
///
/// Behind a protocol, so that tests can let any of them fail, and end the process between any two of them. Names are those
/// of files right in the folder.
package protocol CacheFolder: Sendable {
  /// Makes the folder, unless it is there, for the user alone.
  func make() throws
  /// The names of all that is in it; none if it is not there.
  func names() throws -> [String]
  /// What is known about a file; `nil` if there is none.
  func file(_ name: String) throws -> CacheFile?
  /// The first bytes of a file, or all; `nil` if there is none, or if it is no plain file or has more bytes.
  ///
  /// - Parameters:
  ///   - name: The file's.
  ///   - limit: How many bytes it may have.
  ///   - count: How many are wanted.
  func read(_ name: String, limit: Int, count: Int) throws -> (bytes: Data, file: CacheFile)?
  /// Makes a file with these bytes, for the user alone; fails if there is one.
  ///
  /// - Parameter used: What is noted as the time of its last change, since the beginning of 1970.
  func create(_ name: String, _ bytes: Data, used: Duration) throws -> CacheFile
  /// Gives a file the name of another, which goes, at once.
  func rename(_ name: String, to other: String) throws
  /// Notes another time of the last change.
  func use(_ name: String, at time: Duration) throws
  /// Removes a file, or an empty folder; nothing happens if there is none.
  func remove(_ name: String) throws
}

/// What a folder knows about a file.
package struct CacheFile: Hashable, Sendable {
  /// What tells it from other files that are there, or were a moment ago.
  package var number: UInt64
  /// In bytes.
  package var size: Int
  /// The time of its last change, since the beginning of 1970.
  package var changed: Duration
  /// Whether it is neither a folder nor a link nor a device.
  package var isPlain: Bool

  /// Describes a file.
  package init(number: UInt64, size: Int, changed: Duration, isPlain: Bool = true) {
    (self.number, self.size, self.changed, self.isPlain) = (number, size, changed, isPlain)
  }

  /// What another file under the same name does not have, as a rule.
  ///
  /// File systems give away the number of a file that is gone, and some know the time of a change to a second or two.
  var version: String {
    let (seconds, attoseconds) = changed.components
    return "\(number).\(size).\(seconds).\(attoseconds / 1_000_000_000)"
  }
}

/// What a system has said about a file of a cache.
package struct CacheFolderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was to be done: "open", "rename".
  package let call: String
  /// The name of the file.
  package let name: String
  /// What the system has said.
  package let reason: String
  /// Whether there is no such file or folder.
  package let isMissing: Bool

  /// Describes what a system has said.
  package init(_ call: String, _ name: String, reason: String, isMissing: Bool) {
    (self.call, self.name, self.reason, self.isMissing) = (call, name, reason, isMissing)
  }

  /// Describes what Foundation has said.
  init(_ call: String, _ name: String, _ error: any Error) {
    let missing: [CocoaError.Code] = [.fileNoSuchFile, .fileReadNoSuchFile]
    let code = (error as? CocoaError)?.code
    self.init(call, name, reason: error.localizedDescription, isMissing: code.map(missing.contains) ?? false)
  }

  /// One line: "rename 3f…: No space left on device".
  package var description: String { "\(call) \(name): \(reason)" }
}
