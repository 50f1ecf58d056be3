import Rebound

/// How a queue of presentations merges and clears.
public struct PresentationQueuePolicy: Hashable, Sendable {
  /// For how long something that says the same is not shown again, counted from when it went.
  public let mergeWindow: Duration
  /// For how long a toast is shown.
  public let toastDuration: Duration
  /// How many may wait behind the one that is shown, on each surface.
  public let maxWaiting: Int

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - mergeWindow: For how long something that says the same is not shown again, counted from when it went.
  ///   - toastDuration: For how long a toast is shown.
  ///   - maxWaiting: How many may wait behind the one that is shown, on each surface. What is too much is dropped: the
  ///     latest of the least important, which goes to ``PresentationQueue/onDrop``.
  /// - Throws: `InvalidPolicy`, with the number that makes no sense.
  public init(
    mergeWindow: Duration = .seconds(5),
    toastDuration: Duration = .seconds(6),
    maxWaiting: Int = 100
  ) throws(InvalidPolicy) {
    let kind = PolicyKind("presentation queue")
    try kind.require("mergeWindow", mergeWindow, "Give zero to merge nothing, or a positive duration.") { $0 >= .zero }
    try kind.require("toastDuration", toastDuration, "Give a positive duration.") { $0 > .zero }
    try kind.require("maxWaiting", maxWaiting, "Give 0 to drop what would wait, or more.") { $0 >= 0 }
    self.init(clamping: mergeWindow, toastDuration: toastDuration, maxWaiting: maxWaiting)
  }

  /// Makes a policy, and counts negative numbers and lengths of time as none.
  ///
  /// - Parameters:
  ///   - mergeWindow: For how long something that says the same is not shown again, counted from when it went.
  ///   - toastDuration: For how long a toast is shown.
  ///   - maxWaiting: How many may wait behind the one that is shown, on each surface.
  public init(
    clamping mergeWindow: Duration,
    toastDuration: Duration = .seconds(6),
    maxWaiting: Int = 100
  ) {
    self.mergeWindow = mergeWindow.clampedToDelay
    self.toastDuration = toastDuration.clampedToDelay
    self.maxWaiting = max(maxWaiting, 0)
  }

  /// Five seconds to merge, six for a toast, a hundred in line.
  public static let standard = valid { () throws(InvalidPolicy) in try PresentationQueuePolicy() }
}
