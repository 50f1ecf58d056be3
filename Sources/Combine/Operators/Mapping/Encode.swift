extension Publisher where Output: Encodable {
  /// Publishes each value encoded, and fails if the encoder throws.
  ///
  /// - Demand: passes as it is.
  /// - Failure: an error of the encoder cancels the upstream and ends the stream, as it was thrown.
  /// - Threads: values are encoded where the upstream sends.
  @inlinable @inline(__always)
  public func encode<Coder>(encoder: Coder) -> Publishers.Encode<Self, Coder> where Coder: TopLevelEncoder {
    Publishers.Encode(upstream: self, encoder: encoder)
  }
}

extension Publishers {
  /// A publisher of the upstream values, encoded.
  public struct Encode<Upstream: Publisher, Coder: TopLevelEncoder>: Publisher where Upstream.Output: Encodable {
    /// The kind of data that the encoder makes.
    public typealias Output = Coder.Output
    /// Fails as its upstream does, or as the encoder throws.
    public typealias Failure = any Error

    /// The publisher of the values to encode.
    public let upstream: Upstream

    @usableFromInline let encoder: Coder

    /// Makes a publisher that encodes the values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, encoder: Coder) {
      self.upstream = upstream
      self.encoder = encoder
    }

    /// Attaches a subscriber to the upstream, through the encoder.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Coder.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(
          EncodeMachine<Upstream.Output, Coder, Upstream.Failure>(encoder),
          remembering: (),
          to: subscriber
        )
      )
    }
  }
}

@usableFromInline
struct EncodeMachine<Input: Encodable, Coder: TopLevelEncoder, UpstreamFailure: Error>: Machine {
  @usableFromInline typealias Failures = Partial<UpstreamFailure>
  @usableFromInline let encoder: Coder

  @inlinable @inline(__always)
  init(_ encoder: Coder) {
    self.encoder = encoder
  }

  @inlinable static var caution: Caution { .untilEnd }

  @inlinable @inline(__always)
  func step(_ memory: Void, _ input: Input) throws -> (Step<Coder.Output>, Void) {
    (.emit(try encoder.encode(input)), ())
  }

  @usableFromInline var name: String { "Encode" }
}
