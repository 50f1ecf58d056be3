import Combine
import Foundation

/// Runs what has a key once: the first to come with a key wins, and the others get its answer, or wait for it.
///
///     let orders = try IdempotencyKeys<Receipt>(keptFor: .seconds(86_400))
///     let receipt = try await orders.run(request.idempotencyKey) { try await shop.place(order) }
///
/// Only answers are kept. After a failure or a cancel the key is free, and one of those who wait is next. In memory the
/// promise holds for one process. With a shared ``CacheStorage`` it holds for all that share it, but for those whose claim is
/// over before their call is: give the call a time limit that is shorter. A process that dies between the work and its
/// answer leaves the key free when its claim is over, and a call that is cut off or fails there leaves it free at once. So
/// what is called should know the key, too.
public final class IdempotencyKeys<Value: Sendable>: Sendable {
  private let storage: any CacheStorage<String, Value>
  let lifetime: CacheLifetime
  private let runsAlone: Bool

  /// Keeps answers in memory, for this process.
  ///
  /// - Parameters:
  ///   - keptFor: How long an answer stands for its key.
  ///   - capacity: How many answers are kept at most; the one whose last use is the longest ago goes first.
  ///   - time: Measures how long they are kept.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public convenience init(
    keptFor: Duration,
    capacity: Int = 10_000,
    time: TimeSource = .current
  ) throws(InvalidPolicy) {
    // Whoever has a claim lives as long as the storage does.
    let storage = try InMemoryCacheStorage<String, Value>(claimsLast: .longestDelay, capacity: capacity, time: time)
    try self.init(keptFor: keptFor, storage: storage)
  }

  /// Keeps answers where others find them.
  ///
  /// - Parameters:
  ///   - keptFor: How long an answer stands for its key.
  ///   - storage: Where the answers are.
  ///   - runsAlone: Whether a call is made while the storage is of no help, and so perhaps for the second time. If not, it
  ///     fails with ``IdempotencyKeyUnknown``.
  /// - Throws: ``InvalidPolicy`` if nothing would be kept.
  public init(
    keptFor: Duration,
    storage: any CacheStorage<String, Value>,
    runsAlone: Bool = false
  ) throws(InvalidPolicy) {
    try PolicyKind.cache.require("keptFor", keptFor, "Give a positive duration.") { $0 > .zero }
    lifetime = CacheLifetime(fresh: keptFor)
    (self.storage, self.runsAlone) = (storage, runsAlone)
  }

  /// Forgets the answer of a key; the next one to come runs.
  public func forget(_ key: String) {
    storage.remove(key)
  }

  /// Runs an asynchronous function, unless the key has its answer already.
  ///
  /// - Parameters:
  ///   - key: Names what is done; the same for each attempt to do it.
  ///   - operation: The call.
  /// - Returns: What the function returns, or returned to the first one who came with the key.
  /// - Throws: What the function throws; ``IdempotencyKeyUnknown``; ``TimedOut`` if ``Deadline/current`` is over
  ///   while it waits for another's answer; `CancellationError` if the task was cancelled before, or is then.
  public nonisolated(nonsending) func run(
    _ key: String,
    _ operation: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    switch try await begin(key) {
    case .answered(let value): return value
    case .runs(let claim):
      do {
        let value = try await operation()
        claim?.store(value, lifetime: lifetime)
        return value
      } catch {
        claim?.giveUp()
        throw error
      }
    }
  }

  enum Beginning: Sendable {
    case answered(Value)
    case runs(ClaimGuard<String, Value>?)
  }

  func begin(_ key: String) async throws -> Beginning {
    try Task.checkCancellation()
    let limit = Deadline.current?.remaining ?? .zero
    let finding = await storage.look(key)
    let claim = finding.claim.map { ClaimGuard($0, of: key, in: storage) }
    guard !Task.isCancelled else {
      claim?.giveUp()
      throw CancellationError()
    }
    if let stored = finding.stored, stored.isFresh { return .answered(stored.value) }
    // Whoever has no more time has not waited for the answer of who has the key. A timer that is early by its tolerance has cut
    // the wait short when by the clock there is some left.
    if claim == nil, let deadline = Deadline.current, finding.isCutShort || deadline.isOver {
      throw TimedOut(waitingUntil: deadline, limit: limit)
    }
    guard claim != nil || runsAlone else { throw IdempotencyKeyUnknown(key: key) }
    return .runs(claim)
  }
}

/// Nobody can say now whether a key has its answer already; nothing was done.
public struct IdempotencyKeyUnknown: Error, Hashable, Sendable, CustomStringConvertible {
  /// The key.
  public let key: String

  /// Describes a key of which nothing is known.
  public init(key: String) {
    self.key = key
  }

  /// What happened, and what to do about it.
  public var description: String {
    "Whether \(key) was done already is not known now, since the storage does not answer. Try again with the same key."
  }
}

extension IdempotencyKeyUnknown: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "It is not known whether this was done already." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Try again later; it will not be done twice." }
}
