/// How a queue of presentations merges and clears.
public struct PresentationQueuePolicy: Hashable, Sendable {
  /// For how long something that says the same is not shown again, counted from its last coming.
  public let mergeWindow: Duration
  /// For how long a toast is shown.
  public let toastDuration: Duration

  /// Makes a policy; negative lengths of time count as none.
  ///
  /// - Parameters:
  ///   - mergeWindow: For how long something that says the same is not shown again.
  ///   - toastDuration: For how long a toast is shown.
  public init(mergeWindow: Duration = .seconds(5), toastDuration: Duration = .seconds(6)) {
    self.mergeWindow = max(mergeWindow, .zero)
    self.toastDuration = max(toastDuration, .zero)
  }

  /// Five seconds to merge, six for a toast.
  public static let standard = PresentationQueuePolicy()
}
