import Foundation

/// The few things that a journal needs of a file system, each as the system does it.
///
/// Behind a protocol, so that tests can let any of them fail, and end the process between any two of them.
package protocol OutboxDisk: Sendable {
  /// Takes a lock that ends with the process at the latest; `nil` if somebody else has it.
  func lock(_ path: String) throws -> (any OutboxDiskLock)?
  /// All bytes of a file; `nil` if there is none.
  func read(_ path: String) throws -> Data?
  /// Opens a file that is there to write behind its end.
  func openForAppending(_ path: String) throws -> any OutboxDiskFile
  /// Makes an empty file, in the place of one that is there.
  func create(_ path: String) throws -> any OutboxDiskFile
  /// Gives a file the name of another, which goes, at once.
  func rename(_ path: String, to other: String) throws
  /// Takes a file's name away; what it held gives its room back once nobody has it open.
  func remove(_ path: String) throws
  /// Makes the names in the folder of a file survive the loss of power.
  func syncFolder(of path: String) throws
}

/// A lock of another file's name.
package protocol OutboxDiskLock: AnyObject, Sendable {
  /// Lets others have it.
  func unlock()
}

/// A file that is open for writing.
package protocol OutboxDiskFile: AnyObject, Sendable {
  /// Writes all of it behind the end.
  func write(_ data: Data) throws
  /// Makes what was written survive the loss of power.
  func sync() throws
  /// Cuts it off.
  func truncate(to length: Int) throws
  /// Closes it; after the first time, nothing happens.
  func close()
}
