import Combine
import Foundation

extension Publisher {
  /// Notes in every failure that it came by here, and where "here" is.
  ///
  ///     request
  ///       .decode(type: Forecast.self, decoder: JSONDecoder())
  ///       .checkpoint("forecast")
  ///     // TracedError: dataCorrupted(…), by way of forecast (Weather/Client.swift:42)
  ///
  /// An error says what went wrong, but the stack at that moment is that of a scheduler; which pipeline it was is known
  /// where that was written. Several checkpoints on the way are noted in order.
  ///
  /// The error is wrapped, so put it below the operators that ask what the error is. A cancel is not wrapped.
  ///
  /// - Parameters:
  ///   - name: What this part of the pipeline is; `nil` if the place says enough.
  ///   - fileID: The place, given by the compiler.
  ///   - line: The place, given by the compiler.
  ///
  /// - Demand: Passes up.
  /// - Failure: ``TracedError``, with the upstream's in it.
  /// - Threads: Where the upstream sends.
  public func checkpoint(
    _ name: String,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Publishers.MapError<Self, any Error> {
    mapError { TracedError.wrap($0, at: Checkpoint(name: name, fileID: fileID, line: line)) }
  }

  /// Notes in every failure that it came by here: ``Combine/Publisher/checkpoint(_:fileID:line:)`` without a name.
  ///
  /// - Parameters:
  ///   - fileID: The place, given by the compiler.
  ///   - line: The place, given by the compiler.
  public func traced(
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Publishers.MapError<Self, any Error> {
    mapError { TracedError.wrap($0, at: Checkpoint(name: nil, fileID: fileID, line: line)) }
  }
}

/// A place in the source by which an error came.
public struct Checkpoint: Sendable {
  /// What the place is called; `nil` if it has no name.
  public let name: String?
  /// The module and the file.
  public let fileID: StaticString
  /// The line in the file.
  public let line: UInt

  /// Describes a place in the source.
  public init(name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line) {
    self.name = name
    self.fileID = fileID
    self.line = line
  }

  /// Runs an asynchronous function, and notes in what it throws that it came by here.
  ///
  ///     try await Checkpoint(name: "forecast").run { try await client.forecast(for: city) }
  ///
  /// - Parameters:
  ///   - operation: The call.
  /// - Throws: ``TracedError``, with what the function throws in it; a cancel as it is.
  public nonisolated(nonsending) func run<Value>(
    _ operation: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    do { return try await operation() } catch { throw TracedError.wrap(error, at: self) }
  }
}

extension Checkpoint: CustomStringConvertible {
  /// The place: "forecast (Weather/Client.swift:42)".
  public var description: String {
    name.map { "\($0) (\(fileID):\(line))" } ?? "\(fileID):\(line)"
  }
}

/// An error, and the checkpoints that it came by.
public struct TracedError: RetryAfterProviding {
  /// The error as it was; never a traced one.
  public let underlying: any Error
  /// The checkpoints, from the origin of the error downwards.
  public let trace: [Checkpoint]

  static func wrap(_ error: any Error, at checkpoint: Checkpoint) -> any Error {
    if error is CancellationError { return error }
    let known = error as? TracedError
    return TracedError(underlying: known?.underlying ?? error, trace: (known?.trace ?? []) + [checkpoint])
  }

  /// The pause that the error asked for.
  public var retryAfter: Duration? { (underlying as? any RetryAfterProviding)?.retryAfter }
  /// Whether the underlying error is a refusal.
  public var isRefusal: Bool { (underlying as? any RetryAfterProviding)?.isRefusal ?? false }
  /// Whether the underlying error lets the call be made again.
  public var mayBeRepeated: Bool { (underlying as? any RetryAfterProviding)?.mayBeRepeated ?? true }
}

extension TracedError: CustomStringConvertible {
  /// The error, and the checkpoints in order.
  public var description: String {
    "\(underlying), by way of \(trace.map(\.description).joined(separator: ", then "))"
  }
}

extension TracedError: LocalizedError {
  /// What happened, in the words for people of the error itself; `nil` if it has none.
  public var errorDescription: String? { (underlying as? any LocalizedError)?.errorDescription }
  /// Why, in those words.
  public var failureReason: String? { (underlying as? any LocalizedError)?.failureReason }
  /// What to do next, in those words.
  public var recoverySuggestion: String? { (underlying as? any LocalizedError)?.recoverySuggestion }
}

extension Error {
  /// The error as it was before checkpoints were noted in it.
  public var withoutTrace: any Error { (self as? TracedError)?.underlying ?? self }
}
