extension Publisher {
  /// Stops the process if the upstream fails, and otherwise publishes what it publishes.
  ///
  /// Use it where a failure can only be a mistake of the program; in release builds, too, it stops the process.
  ///
  /// - Parameters:
  ///   - prefix: stands before the error in the message, with a colon and a space; nothing does if it is empty.
  ///   - file: the file named in the message.
  ///   - line: the line named in the message.
  /// - Demand: passes as it is.
  /// - Failure: stops the process.
  /// - Threads: values pass where the upstream sends.
  @inlinable @inline(__always)
  public func assertNoFailure(
    _ prefix: String = "",
    file: StaticString = #file,
    line: UInt = #line
  ) -> Publishers.AssertNoFailure<Self> {
    Publishers.AssertNoFailure(upstream: self, prefix: prefix, file: file, line: line)
  }
}

extension Publishers {
  /// A publisher that stops the process when its upstream fails.
  public struct AssertNoFailure<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// It can't fail.
    public typealias Failure = Never

    /// The publisher that must not fail.
    public let upstream: Upstream

    /// The file named in the message.
    public let file: StaticString

    /// The line named in the message.
    public let line: UInt

    /// Stands before the error in the message.
    public let prefix: String

    /// Makes a publisher that stops the process when another fails.
    @inlinable @inline(__always)
    public init(upstream: Upstream, prefix: String, file: StaticString, line: UInt) {
      self.upstream = upstream
      self.prefix = prefix
      self.file = file
      self.line = line
    }

    /// Attaches a subscriber to the upstream.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == Never {
      upstream.subscribe(
        PassThroughSubscriber(
          AssertNoFailureMachine<Output, Upstream.Failure>(prefix, file: file, line: line),
          to: subscriber
        )
      )
    }
  }
}

@usableFromInline
struct AssertNoFailureMachine<Input, Failure: Error>: PassThroughMachine {
  @usableFromInline let prefix: String
  @usableFromInline let file: StaticString
  @usableFromInline let line: UInt

  @inlinable @inline(__always)
  init(_ prefix: String, file: StaticString, line: UInt) {
    self.prefix = prefix
    self.file = file
    self.line = line
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Input> { .emit(input) }

  @usableFromInline
  func convert(_ failure: Failure) -> Never {
    // The caller promised that this publisher does not fail, and asked for this.
    fatalError(prefix.isEmpty ? "\(failure)" : "\(prefix): \(failure)", file: file, line: line)
  }

  @usableFromInline var name: String { "AssertNoFailure" }
  @usableFromInline
  var children: [(label: String?, value: Any)] { [("file", file), ("line", line), ("prefix", prefix)] }
}
