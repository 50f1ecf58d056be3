import Foundation

/// Where an ``HTTPCache`` keeps copies besides its memory, so that they outlive the process and others find them.
///
/// ``FileHTTPCacheStorage`` is one in a folder. One of one's own keeps bytes under names, and needs to know nothing of what
/// they mean: the cache sees by itself what comes back torn or damaged, and uses none of it. A storage that encrypts, for
/// instance, is one around another.
///
/// A cache calls its storage on a queue of its own, one call at a time, and never on the thread of a request; a call may
/// block. Several caches, of this process or others, may have the same storage: then calls come on any thread. What a call
/// throws fails no request: the cache reports it (``HTTPCacheStorageFailure``) and goes on with what is in memory.
public protocol HTTPCacheStorage: Sendable {
  /// Finds what is kept under a name.
  ///
  /// - Parameters:
  ///   - name: What it was kept under.
  ///   - version: The version that the caller has in memory: if that is what is kept, its bytes need not be read.
  ///   - limit: How many bytes the caller can take; of something larger, there is nothing to be found.
  func find(_ name: HTTPCacheEntryName, known version: String?, limit: Int) throws -> HTTPCacheFinding

  /// Keeps bytes under a name, in place of what was there, so that others find the old or the new and never a part.
  ///
  /// - Parameters:
  ///   - bytes: What to keep.
  ///   - name: What to keep it under.
  /// - Returns: Its version; `nil` if it is not kept, since there is no room for it or somebody has forgotten its address
  ///   meanwhile: then the cache does not keep it in memory, either.
  func store(_ bytes: Data, as name: HTTPCacheEntryName) throws -> String?

  /// Forgets what is kept under a name; nothing happens if nothing is.
  func remove(_ name: HTTPCacheEntryName) throws

  /// Forgets all that is kept of an address.
  ///
  /// - Parameter address: As in ``HTTPCacheEntryName/address``.
  func removeAll(ofAddress address: String) throws

  /// Forgets everything.
  func removeAll() throws
}

/// What a copy is kept under in an ``HTTPCacheStorage``: digests, so that no name gives an address or a user away.
public struct HTTPCacheEntryName: Hashable, Sendable, CustomStringConvertible {
  /// 32 hexadecimal digits, the same for all copies of an address, whoever has asked for them.
  public let address: String
  /// 32 hexadecimal digits that tell a copy from the others of its address.
  public let copy: String

  /// Makes a name.
  ///
  /// - Parameters:
  ///   - address: What all copies of an address have in common.
  ///   - copy: What tells a copy from the others of its address.
  public init(address: String, copy: String) {
    (self.address, self.copy) = (address, copy)
  }

  /// Both with a hyphen between them: the name of a file.
  public var description: String { "\(address)-\(copy)" }
}

/// What an ``HTTPCacheStorage`` has under a name.
public enum HTTPCacheFinding: Hashable, Sendable {
  /// Nothing.
  case nothing
  /// What the caller knows already; under which version it is known from now on.
  case unchanged(version: String)
  /// These bytes, of this version.
  ///
  /// A version names these very bytes: others that are kept under the same name later have another.
  case bytes(Data, version: String)
}

/// A storage of an ``HTTPCache`` has not done what it was to do; the cache goes on in memory.
public struct HTTPCacheStorageFailure: Error, Sendable, CustomStringConvertible {
  /// What was to be done.
  ///
  /// Later versions may add cases.
  public enum Kind: Hashable, Sendable {
    /// To find a copy. The request went on without it.
    case finding
    /// To store a copy. It is in memory alone.
    case storing
    /// To forget copies. Nothing of the same address is read from the storage before it is done.
    case removing
    /// A copy was torn or damaged, or none at all. It is removed, and the request went on without it.
    case damaged
    /// To answer within a second, or at all while a thousand others wait for it. The request went on without it.
    case slow
    /// To keep up: more waits to be stored than the cache may have in memory. The copy is in memory alone.
    case busy
  }

  /// What was to be done.
  public let kind: Kind
  /// Which copy it is about; `nil` if about several.
  public let name: HTTPCacheEntryName?
  /// What the storage says.
  public let underlying: (any Error)?

  /// Describes a failure.
  ///
  /// - Parameters:
  ///   - kind: What was to be done.
  ///   - name: Which copy it is about.
  ///   - underlying: What the storage says.
  public init(_ kind: Kind, name: HTTPCacheEntryName? = nil, underlying: (any Error)? = nil) {
    (self.kind, self.name, self.underlying) = (kind, name, underlying)
  }

  /// What happened, what the cache does about it, and what to look at.
  public var description: String {
    "HTTPCache: \(text)\(underlying.map { " (\($0))" } ?? ""). \(advice)"
  }

  private var text: String {
    let copy = name.map { "the copy \($0)" } ?? "copies"
    switch kind {
    case .finding: return "the storage could not look for \(copy); the request went on without it"
    case .storing: return "the storage could not keep \(copy), which is in memory alone"
    case .removing:
      return "the storage could not forget \(copy); what it has of the same address is not used until it can"
    case .damaged: return "\(copy) is damaged or none, and was removed"
    case .slow: return "the storage took too long to look for \(copy); the request went on without it"
    case .busy: return "the storage does not keep up; \(copy) is in memory alone"
    }
  }

  private var advice: String {
    switch kind {
    case .finding, .storing, .removing: "Look at its space and its permissions."
    case .damaged: "If that comes again, look at what else writes there."
    case .slow, .busy: "Look at its load."
    }
  }
}

extension HTTPCacheStorageFailure: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? {
    switch kind {
    case .finding, .slow, .damaged: "A saved copy could not be read."
    case .storing, .busy: "A copy could not be saved."
    case .removing: "A saved copy could not be removed."
    }
  }
  /// What to do next, for people.
  public var recoverySuggestion: String? {
    switch kind {
    case .finding, .storing, .removing: "Make some space, and try again."
    case .slow, .damaged, .busy: "Try again; nothing is lost."
    }
  }
}
