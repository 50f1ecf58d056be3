import Combine
import StreamSupport

extension Publisher {
  /// The next values, for publishers that get them from tasks or threads: the caller's task sleeps, no thread blocks.
  ///
  ///     let values = try await store.states.nextValues(3)
  ///
  /// There is no time limit here: the test's own one holds, and cancels this.
  ///
  /// - Parameters:
  ///   - count: How many values; no more are requested.
  ///   - isolation: The caller's.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if fewer come, `CancellationError` when the task is cancelled.
  public func nextValues(
    _ count: Int,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) async throws -> [Output] {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let count = Swift.max(count, 0)
    let values = try await awaitValues(atMost: count)
    guard values.count >= count else { throw missing("\(count) values", values, location) }
    // A publisher that sends beyond the demand may have sent more meanwhile.
    return Array(values.prefix(count))
  }

  /// The first value, for publishers that get it from a task or a thread; then it cancels.
  ///
  /// - Parameters:
  ///   - isolation: The caller's.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if none comes, `CancellationError` when the task is cancelled.
  public func firstValue(
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) async throws -> Output {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let values = try await awaitValues(atMost: 1)
    guard let first = values.first else { throw missing("a value", values, location) }
    return first
  }

  /// The last value before the finish, for publishers that get it from a task or a thread.
  ///
  /// - Parameters:
  ///   - isolation: The caller's.
  ///   - fileID: The caller's module and file.
  ///   - filePath: The caller's file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MissingValues`` if none comes, the publisher's error if it fails, `CancellationError` when the task is
  ///   cancelled.
  public func lastValue(
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: StaticString = #filePath,
    line: Int = #line,
    column: Int = #column
  ) async throws -> Output {
    let location = CodeLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let values = try await awaitValues(atMost: nil)
    guard let last = values.last else { throw missing("a last value", values, location) }
    return last
  }

  private func missing(_ expectation: String, _ values: [Output], _ location: CodeLocation) -> MissingValues {
    let came = values.count == 1 ? "1 value came" : "\(values.count) values came"
    return MissingValues(expectation: expectation, outcome: "\(came) and then the finish", location: location)
  }

  private func awaitValues(
    atMost count: Int?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Output] {
    let waker = Waker()
    let recorder = Recorder<Output, Failure>(
      requesting: count.map { .max($0) } ?? .unlimited,
      answering: { _, recorder in
        if let count, recorder.demand.delivered >= count { waker.wake() }
        return .none
      },
      whenCompleted: waker.wake
    )
    subscribe(recorder)
    if count == 0 { waker.wake() }
    await withTaskCancellationHandler {
      await waker.wait()
    } onCancel: {
      waker.wake()
    }
    let values = recorder.values
    recorder.cancel()
    if let count, values.count >= count { return values }
    try Task.checkCancellation()
    if let failure = recorder.failure { throw failure }
    return values
  }
}

/// Puts one task to sleep until it is woken, be it before it sleeps.
private final class Waker: Sendable {
  private struct State {
    var isAwake = false
    var sleeper: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func wake() {
    let sleeper = state.withLock { state in
      state.isAwake = true
      let sleeper = state.sleeper
      state.sleeper = nil
      return sleeper
    }
    sleeper?.resume()
  }

  func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if !state.isAwake { state.sleeper = continuation }
        return state.isAwake
      }
      if goesOn { continuation.resume() }
    }
  }
}
