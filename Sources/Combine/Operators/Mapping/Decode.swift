extension Publisher {
  /// Publishes what a decoder reads from each value, and fails if it throws.
  ///
  /// - Demand: passes as it is.
  /// - Failure: an error of the decoder cancels the upstream and ends the stream, as it was thrown.
  /// - Threads: values are decoded where the upstream sends.
  @inlinable @inline(__always)
  public func decode<Item, Coder>(type: Item.Type, decoder: Coder) -> Publishers.Decode<Self, Item, Coder>
  where Item: Decodable, Coder: TopLevelDecoder, Output == Coder.Input {
    Publishers.Decode(upstream: self, decoder: decoder)
  }
}

extension Publishers {
  /// A publisher of what a decoder reads from the upstream values.
  public struct Decode<Upstream: Publisher, Output: Decodable, Coder: TopLevelDecoder>: Publisher
  where Upstream.Output == Coder.Input {
    /// Fails as its upstream does, or as the decoder throws.
    public typealias Failure = any Error

    /// The publisher of the data to decode.
    public let upstream: Upstream

    @usableFromInline let decoder: Coder

    /// Makes a publisher that decodes the values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, decoder: Coder) {
      self.upstream = upstream
      self.decoder = decoder
    }

    /// Attaches a subscriber to the upstream, through the decoder.
    @inlinable
    public func receive<S>(subscriber: consuming S) where Output == S.Input, S: Subscriber, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(DecodeMachine<Output, Coder, Upstream.Failure>(decoder), remembering: (), to: subscriber)
      )
    }
  }
}

@usableFromInline
struct DecodeMachine<Output: Decodable, Coder: TopLevelDecoder, UpstreamFailure: Error>: Machine {
  @usableFromInline typealias Failures = Partial<UpstreamFailure>
  @usableFromInline let decoder: Coder

  @inlinable @inline(__always)
  init(_ decoder: Coder) {
    self.decoder = decoder
  }

  @inlinable static var caution: Caution { .untilEnd }

  @inlinable @inline(__always)
  func step(_ memory: Void, _ input: Coder.Input) throws -> (Step<Output>, Void) {
    (.emit(try decoder.decode(Output.self, from: input)), ())
  }

  @usableFromInline var name: String { "Decode" }
}
