import Foundation

/// Takes the body of an answer piece by piece, in place of memory, over as many attempts as it takes.
///
/// One attempt at a time: each is prepared, and then at most one answer of it begins.
protocol BodyDestination: AnyObject, Sendable {
  /// Whether it takes more without a queue growing.
  var isReady: Bool { get }
  /// What has come so far, over all attempts.
  var progress: BodyProgress { get }

  /// Has a request ask for what is missing.
  ///
  /// - Parameter done: Told the request that does, or why there is none; before this returns, where no disk is asked.
  func prepare(_ message: TransportRequest, _ done: @escaping @Sendable (Result<TransportRequest, any Error>) -> Void)
  /// What an answer with this head is good for.
  func use(of head: ResponseHead) -> BodyUse
  /// What is there is of no use to go on from: the next request asks for all of it.
  func startAnew()
  /// Gets ready for the body of an answer.
  ///
  /// - Parameter changed: Called when this is ready again, or has failed.
  func begin(_ head: ResponseHead, changed: @escaping @Sendable (BodyDestinationChange) -> Void) throws
  /// Takes a piece; no matter whether it is ready.
  func receive(_ chunk: Data)
  /// The answer is complete.
  ///
  /// - Parameter done: Told once all of it is where it belongs, or why it is not.
  func finish(_ done: @escaping @Sendable (Result<Void, any Error>) -> Void)
  /// The attempt has failed, or is no longer wanted.
  ///
  /// - Parameter done: Told once all that came is kept, and another may go on with it.
  func interrupt(_ done: @escaping @Sendable () -> Void)
}

/// What an answer is good for to those who want its body.
enum BodyUse: Hashable, Sendable {
  /// Its body is the one, or the missing part of it.
  case body
  /// Its body says why not.
  case refusal
  /// The server cannot go on from there, and is to be asked for the whole.
  case startAnew
}

enum BodyDestinationChange: Sendable {
  case ready
  case failed(any Error)
}

/// How much of a body has come, of how much if that is known.
struct BodyProgress: Hashable, Sendable {
  var count: Int64
  var total: Int64?
}

extension BodyProgress {
  /// How many bytes may wait in memory before the network is paused.
  ///
  /// With what libcurl hands on at once, 16 KiB at most, that makes 64 KiB: as much as is lost when the process is killed.
  static let readAhead = 49_152
}
