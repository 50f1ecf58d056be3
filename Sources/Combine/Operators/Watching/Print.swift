import StreamSupport

extension Publisher {
  /// Prints a line for each event, and passes it on.
  ///
  /// - Parameters:
  ///   - prefix: stands before each line, with a colon and a space; nothing does if it is empty.
  ///   - stream: where to print; nil means standard output. It gets one line at a time, whatever threads events come
  ///     from. A stream that is a value is copied for each subscriber.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: lines are printed where the events come from, before they pass on.
  @inlinable @inline(__always)
  public func print(_ prefix: String = "", to stream: (any TextOutputStream)? = nil) -> Publishers.Print<Self> {
    Publishers.Print(upstream: self, prefix: prefix, to: stream)
  }
}

extension Publishers {
  /// A publisher that prints what passes between its upstream and its subscriber.
  public struct Print<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// Stands before each line.
    public let prefix: String

    /// The publisher to watch.
    public let upstream: Upstream

    /// Where to print; nil means standard output.
    public let stream: (any TextOutputStream)?

    /// Makes a publisher that prints what passes between another and its subscribers.
    @inlinable @inline(__always)
    public init(upstream: Upstream, prefix: String, to stream: (any TextOutputStream)? = nil) {
      self.upstream = upstream
      self.prefix = prefix
      self.stream = stream
    }

    /// Attaches a subscriber to the upstream, with printing between them.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(PrintSubscriber(prefix, to: stream, then: subscriber))
    }
  }
}

/// Prints events and passes them on; values and completions in any state.
@usableFromInline
final class PrintSubscriber<Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let transcript: Transcript
  @usableFromInline let downstream: Downstream

  @usableFromInline
  init(_ prefix: String, to stream: (any TextOutputStream)?, then downstream: Downstream) {
    transcript = Transcript(prefix, to: stream)
    self.downstream = downstream
    super.init()
  }

  @usableFromInline
  func receive(subscription: any Subscription) {
    transcript.write("receive subscription: (\(subscription))")
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    transcript.write("receive value: (\(input))")
    let more = downstream.receive(input)
    if more != .none { transcript.write("\(Self.text(for: more)) (synchronous)") }
    return more
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished: transcript.write("receive finished")
    case .failure(let error): transcript.write("receive error: (\(error))")
    }
    // What it held is over; events go on whether it was held or not.
    withExtendedLifetime(end()) {}
    downstream.receive(completion: completion)
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    transcript.write(Self.text(for: demand))
    held?.request(demand)
  }

  @usableFromInline
  override func cancel() {
    transcript.write("receive cancel")
    super.cancel()
  }

  @usableFromInline
  static func text(for demand: Subscribers.Demand) -> String {
    demand.max.map { "request max: (\($0))" } ?? "request unlimited"
  }

  @usableFromInline override var name: String { "Print" }
}

/// Writes lines to a stream one at a time, also when events come from several threads or from inside the stream.
///
/// Who finds another writing leaves the line to it, so that no lock is held while the stream works.
@usableFromInline
final class Transcript {
  private let prefix: String
  private let isStandardOutput: Bool
  private let lock = Lock()
  // All guarded by `lock`. The stream is moved out while it works.
  @exclusivity(unchecked) private var stream: AnyStream?
  @exclusivity(unchecked) private var lines: [String] = []
  @exclusivity(unchecked) private var isWriting = false

  /// A stream of any type, as one that has a type.
  private struct AnyStream: TextOutputStream {
    var base: any TextOutputStream

    mutating func write(_ text: String) { base.write(text) }
  }

  @usableFromInline
  init(_ prefix: String, to stream: (any TextOutputStream)?) {
    self.prefix = prefix.isEmpty ? "" : "\(prefix): "
    self.stream = stream.map { AnyStream(base: $0) }
    isStandardOutput = stream == nil
  }

  @usableFromInline
  func write(_ text: String) {
    let line = prefix + text
    guard !isStandardOutput else {
      Swift.print(line)
      return
    }
    lock.lock()
    lines.append(line)
    let isBusy = isWriting
    isWriting = true
    lock.unlock()
    if !isBusy { writeAll() }
  }

  private func writeAll() {
    while let (batch, current) = takeBatch() {
      var current = current
      for line in batch { Swift.print(line, to: &current) }
      lock.withLock { stream = current }
    }
  }

  private func takeBatch() -> ([String], AnyStream)? {
    lock.lock()
    defer { lock.unlock() }
    guard !lines.isEmpty, let current = stream else {
      isWriting = false
      return nil
    }
    let batch = lines
    lines = []
    stream = nil
    return (batch, current)
  }
}
