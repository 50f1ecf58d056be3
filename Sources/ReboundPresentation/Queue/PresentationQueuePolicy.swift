/// How a queue of presentations merges and clears.
public struct PresentationQueuePolicy: Hashable, Sendable {
  /// For how long something that says the same is not shown again, counted from when it went.
  public let mergeWindow: Duration
  /// For how long a toast is shown.
  public let toastDuration: Duration
  /// How many may wait behind the one that is shown, on each surface.
  public let maximumWaiting: Int

  /// Makes a policy; negative numbers and lengths of time count as none.
  ///
  /// - Parameters:
  ///   - mergeWindow: For how long something that says the same is not shown again, counted from when it went.
  ///   - toastDuration: For how long a toast is shown.
  ///   - maximumWaiting: How many may wait behind the one that is shown, on each surface. What is too much is dropped: the
  ///     latest of the least important, which goes to ``PresentationQueue/onDrop``.
  public init(
    mergeWindow: Duration = .seconds(5),
    toastDuration: Duration = .seconds(6),
    maximumWaiting: Int = 100
  ) {
    self.mergeWindow = max(mergeWindow, .zero)
    self.toastDuration = max(toastDuration, .zero)
    self.maximumWaiting = max(maximumWaiting, 0)
  }

  /// Five seconds to merge, six for a toast, a hundred in line.
  public static let standard = PresentationQueuePolicy()
}
