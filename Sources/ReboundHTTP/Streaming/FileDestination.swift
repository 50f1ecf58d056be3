import Dispatch
import Foundation
import StreamSupport

/// Puts a body into a file, on a queue for that place: neither the network's thread nor the caller's waits for the disk.
///
/// The part file is used by that queue alone.
final class FileDestination: BodyDestination, Sendable {
  private struct State {
    var partial = PartialBody()
    /// How many bytes wait to be written.
    var waiting = 0
    var failure: (any Error)?
    var changed: (@Sendable (BodyDestinationChange) -> Void)?
  }

  private final class QueueState {
    var file: PartFile?
    var address = ""
  }

  private let target: URL
  private let checksum: Checksum?
  /// Used by the work of the queue only, which runs one at a time.
  private let onQueue = Confined(QueueState())
  /// Goes behind the part file, so that no other queue for the place begins while that is open.
  private let place: DestinationQueue
  /// Apart from the other, because who is told of something goes on with the call there: what a caller does takes its time.
  private let telling = DispatchQueue(label: "rebound.download-told")
  private let state = Locked(State())

  init(_ target: URL, verifying checksum: Checksum?) {
    self.target = target
    self.checksum = checksum
    place = DestinationQueue(target)
  }

  private var queue: DispatchQueue { place.queue }

  var isReady: Bool { state.withLock { $0.waiting < BodyProgress.readAhead } }
  var progress: BodyProgress { state.withLock { $0.partial.progress } }

  func prepare(_ message: TransportRequest, _ done: @escaping @Sendable (Result<TransportRequest, any Error>) -> Void) {
    // Once all is written that came before: the part says what is missing, also after a failure to write.
    queue.async { [self] in
      let result = Result { try prepared(message) }
      telling.async { done(result) }
    }
  }

  /// On the queue.
  private func prepared(_ message: TransportRequest) throws -> TransportRequest {
    let address = message.url.absoluteString
    let file = try onQueue.value.file ?? PartFile(for: target)
    (onQueue.value.file, onQueue.value.address) = (file, address)
    let partial = try file.partial(of: address)
    var prepared = message
    state.withLock { state in
      let mustStartAnew = state.partial.mustStartAnew
      (state.partial, state.failure, state.changed) = (partial, nil, nil)
      if mustStartAnew { state.partial.startAnew() }
      state.partial.prepare(&prepared)
    }
    return prepared
  }

  func use(of head: ResponseHead) -> BodyUse { state.withLock { $0.partial }.use(of: head) }

  func startAnew() {
    state.withLock { $0.partial.startAnew() }
  }

  func begin(_ head: ResponseHead, changed: @escaping @Sendable (BodyDestinationChange) -> Void) throws {
    let (partial, offset) = state.withLock { state in
      let offset = state.partial.begin(head)
      state.partial.count = offset
      state.changed = changed
      return (state.partial, offset)
    }
    write { file, address in
      if offset == 0 { try file.begin(partial, of: address) } else { try file.cut(at: offset) }
    }
  }

  func receive(_ chunk: Data) {
    let belongs = state.withLock { state in
      state.waiting += chunk.count
      return state.partial.add(chunk.count)
    }
    write { file, _ in
      guard belongs else {
        // No later download is to go on with it, either.
        try file.empty()
        throw TransportFailure(.protocol, detail: "more came than the range has")
      }
      try file.append(chunk)
    } then: { [self] in
      let changed: (@Sendable (BodyDestinationChange) -> Void)? = state.withLock { state in
        let wasReady = state.waiting < BodyProgress.readAhead
        state.waiting -= chunk.count
        return !wasReady && state.waiting < BodyProgress.readAhead ? state.changed : nil
      }
      changed?(.ready)
    }
  }

  func finish(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    queue.async { [self] in
      let (partial, failure) = state.withLock { ($0.partial, $0.failure) }
      let result = Result {
        if let failure { throw failure }
        if partial.isShort { throw TransportFailure(.truncated) }
        try onQueue.value.file?.complete(verifying: checksum)
        onQueue.value.file = nil
      }
      telling.async { done(result) }
    }
  }

  func interrupt(_ done: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      onQueue.value.file = nil
      telling.async(execute: done)
    }
  }

  /// Does some work on the file, unless something has failed before.
  private func write(
    _ work: @escaping @Sendable (PartFile, _ address: String) throws -> Void,
    then: @escaping @Sendable () -> Void = {}
  ) {
    queue.async { [self] in
      if let file = onQueue.value.file, state.withLock({ $0.failure == nil }) {
        do {
          try work(file, onQueue.value.address)
        } catch {
          let changed = state.withLock { state in
            state.failure = error
            return state.changed
          }
          telling.async { changed?(.failed(error)) }
        }
      }
      then()
    }
  }
}

/// The queue for what is done at one place, the same for all downloads of this process that go there: what one that was
/// cancelled still has to do is done before the next one looks at the part.
private final class DestinationQueue: Sendable {
  private struct Entry {
    let queue: DispatchQueue
    var users = 0
  }

  private static let entries = Locked<[String: Entry]>([:])

  let queue: DispatchQueue
  private let path: String

  init(_ target: URL) {
    let (path, new) = (target.standardized.path, DispatchQueue(label: "rebound.download"))
    self.path = path
    queue = DestinationQueue.entries.withLock { entries in
      var entry = entries[path] ?? Entry(queue: new)
      entry.users += 1
      entries[path] = entry
      return entry.queue
    }
  }

  deinit {
    let last = DestinationQueue.entries.withLock { entries in
      guard let users = entries[path]?.users, users == 1 else {
        entries[path]?.users -= 1
        return nil as Entry?
      }
      return entries.removeValue(forKey: path)
    }
    withExtendedLifetime(last) {}
  }
}
