import Combine
import Foundation
import Rebound
import StreamSupport

extension WebAPIClient {
  /// Downloads the answer of a request into a file.
  ///
  ///     try await client.download(Prices(), to: file, verifying: .sha256("9f86d081…"))
  ///
  /// The body goes into "name.part" beside the file, never into memory, and takes the file's place once it is complete: at
  /// any moment there is the old file or the new one, whole. A download that breaks goes on where it was, each time that
  /// ``Retrying`` tries again, and so does the next call for the same address and file, in this process or a later one: with
  /// Range and If-Range (RFC 9110 §13.1.5), if the server has given a strong entity tag, or a date of change that is old
  /// enough. What it is a part of stands in "name.part.json". A server that does not go on gives all of it, and it begins
  /// anew.
  ///
  /// Cache and coalescing have no part in it. After a loss of power a part may hold what was never written: only a checksum
  /// tells.
  ///
  /// - Parameters:
  ///   - request: What to ask for; its parser is not asked. Without limits of its own, as much may come as the disk holds.
  ///   - file: Where to put it. Its folder is there.
  ///   - checksum: Says whether it is the file that was meant; if not, nothing of it is kept.
  ///   - progress: Told how much is there, in bytes, what had come before included; on the transport's thread.
  /// - Returns: The file, with the head of the last answer; its body is empty.
  /// - Throws: ``NetworkFailure/Kind-swift.enum/storage`` if the disk fails,
  ///   ``NetworkFailure/Kind-swift.enum/mismatch`` for another checksum, and all else that a call can fail with.
  @discardableResult
  public nonisolated(nonsending) func download<R: Request>(
    _ request: R,
    to file: URL,
    verifying checksum: Checksum? = nil,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(NetworkFailure) -> ParsedResponse<URL> {
    try await firstValue(from: downloadCalls(request, file, checksum, progress), of: request.operation)
  }

  /// Downloads the answer of a request into a file, for each subscriber; see ``download(_:to:verifying:progress:)``.
  ///
  /// A cancel keeps the part, for a later download to go on with.
  ///
  /// - Demand: Nothing is sent before a value is requested.
  /// - Threads: As ``publisher(for:)``.
  public func publisher<R: Request>(
    downloading request: R,
    to file: URL,
    verifying checksum: Checksum? = nil,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> AnyPublisher<ParsedResponse<URL>, NetworkFailure> {
    delivered(downloadCalls(request, file, checksum, progress))
  }

  private func downloadCalls<R: Request>(
    _ request: R,
    _ file: URL,
    _ checksum: Checksum?,
    _ progress: (@Sendable (TransferProgress) -> Void)?
  ) -> CallPublisher<ParsedResponse<URL>> {
    CallPublisher { () throws(NetworkFailure) in
      let call = try begin(
        RequestParts(request, request.parser),
        observer(adding: progress),
        into: FileDestination(file, verifying: checksum)
      )
      return Call(call) { ParsedResponse(value: file, answer: $0) }
    }
  }

  /// The body of a request's answer, piece by piece, as it is asked for.
  ///
  ///     client.chunks(for: Prices()).sink { print($0) } receiveValue: { print($0.count) }
  ///
  /// While no piece is asked for, at most 64 KiB wait in memory, and the transport is paused, so that the server waits; where
  /// a transport cannot pause, its own documentation says what happens. An attempt of ``Retrying`` goes on where the one
  /// before has broken, as in ``download(_:to:verifying:progress:)``; each byte comes once, in order.
  ///
  /// - Parameters:
  ///   - request: What to ask for; its parser is not asked. Without limits of its own, any amount may come.
  ///   - progress: Told how much has come, in bytes, on the transport's thread.
  ///
  /// - Demand: Nothing is sent before a piece is requested; each request is for so many pieces, of up to some 16 KiB as the
  ///   network gives them.
  /// - Failure: As ``publisher(for:)``; ``NetworkFailure/Kind-swift.enum/mismatch`` if the body has become another after its
  ///   first pieces had come, or if a part of it that was asked for has more bytes than its head says.
  /// - Threads: As ``publisher(for:)``; its `values` wait for that, too, and ``chunkSequence(of:progress:)`` does not.
  public func chunks<R: Request>(
    for request: R,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> AnyPublisher<Data, NetworkFailure> {
    scheduled(undeliveredChunks(for: request, progress))
  }

  /// The body of a request's answer, piece by piece, for an asynchronous function; see ``chunks(for:progress:)``.
  ///
  ///     for try await chunk in client.chunkSequence(of: Prices()) { print(chunk.count) }
  ///
  /// While a piece is worked on, at most 64 KiB wait in memory, and then the server does.
  ///
  /// - Parameters:
  ///   - request: What to ask for; its parser is not asked. Without limits of its own, any amount may come.
  ///   - progress: Told how much has come, in bytes, on the transport's thread.
  ///
  /// - Demand: Nothing is sent before the first piece is awaited.
  /// - Failure: As ``chunks(for:progress:)``, and ``NetworkFailure/Kind-swift.enum/cancelled`` if the task is cancelled.
  /// - Threads: It waits for no queue, and the function goes on where it was.
  public func chunkSequence<R: Request>(
    of request: R,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> ResponseSequence<Data> {
    ResponseSequence(of: request.operation) { undeliveredChunks(for: request, progress).eraseToAnyPublisher() }
  }

  private func undeliveredChunks<R: Request>(
    for request: R,
    _ progress: (@Sendable (TransferProgress) -> Void)?
  ) -> ChunkPublisher {
    ChunkPublisher { destination in
      CallPublisher { () throws(NetworkFailure) in
        let call = try begin(RequestParts(request, request.parser), observer(adding: progress), into: destination)
        return Call(call) { _ in () }
      }
    }
  }
}

/// Publishes the body of one call for each subscriber.
private struct ChunkPublisher: Publisher {
  typealias Output = Data
  typealias Failure = NetworkFailure

  let call: (ChunkDestination) -> CallPublisher<Void>

  func receive<S: Subscriber>(subscriber: S) where S.Input == Data, S.Failure == NetworkFailure {
    let destination = ChunkDestination(
      .init(receive: { subscriber.receive($0) }, end: { subscriber.receive(completion: $0) })
    )
    let subscription = ChunkSubscription(destination, call(destination))
    subscriber.receive(subscription: subscription)
  }
}

/// Begins the call with the first demand, and ends it with a cancel.
///
/// The lock guards what changes.
private final class ChunkSubscription: Subscription, CustomStringConvertible {
  private enum Phase {
    case ready(CallPublisher<Void>)
    case running(AnyCancellable?)
    case over
  }

  private let destination: ChunkDestination
  private let lock = Lock()
  private var phase: Phase

  init(_ destination: ChunkDestination, _ call: CallPublisher<Void>) {
    self.destination = destination
    phase = .ready(call)
  }

  var description: String { "Chunks" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    destination.ask(for: demand)
    let call: CallPublisher<Void>? = lock.withLock {
      guard case .ready(let call) = phase else { return nil }
      phase = .running(nil)
      return call
    }
    guard let call else { return }
    let running = call.sink { [destination] in
      destination.end($0)
    } receiveValue: { _ in
    }
    let isWanted = lock.withLock {
      guard case .running = phase else { return false }
      phase = .running(running)
      return true
    }
    if !isWanted { running.cancel() }
  }

  func cancel() {
    let last = lock.withLock {
      let last = phase
      phase = .over
      return last
    }
    destination.cancel()
    if case .running(let call) = last { call?.cancel() }
  }
}
