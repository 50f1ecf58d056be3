/// What a ``Pipeline`` is made of, outermost first.
///
///     #expect(weather.descriptor.kinds == [.fallback, .timeout, .retry, .circuitBreaker, .timeout])
public struct PipelineDescriptor: Hashable, Sendable {
  /// What the pipeline protects.
  public let name: String
  /// Whether its calls may be made twice.
  public let repetition: CallRepetition
  /// Its stages, outermost first.
  public let stages: [StageDescriptor]

  /// Describes a pipeline.
  ///
  /// - Parameters:
  ///   - name: What the pipeline protects.
  ///   - repetition: Whether its calls may be made twice.
  ///   - stages: Its stages, outermost first.
  public init(name: String, repetition: CallRepetition = .harmless, stages: [StageDescriptor]) {
    self.name = name
    self.repetition = repetition
    self.stages = stages
  }

  /// The kinds of its stages, outermost first.
  public var kinds: [StageDescriptor.Kind] { stages.map(\.kind) }
}

extension PipelineDescriptor: CustomStringConvertible {
  /// The name, and one line for each stage.
  public var description: String {
    let title = repetition == .harmful ? "\(name) (calls must not be repeated)" : name
    return ([title] + stages.map { "  \($0)" }).joined(separator: "\n")
  }
}

/// What one stage of a ``Pipeline`` is, with its parameters.
public struct StageDescriptor: Hashable, Sendable {
  /// What a stage does.
  ///
  /// Later versions may add kinds.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind in words.
    public let description: String

    /// A kind of one's own.
    ///
    /// - Parameter description: The kind in words: "throttle".
    public init(_ description: String) {
      self.description = description
    }

    /// A ``Retry``.
    public static let retry = Kind("retry")
    /// A ``Timeout``.
    public static let timeout = Kind("timeout")
    /// A ``Hedge``.
    public static let hedge = Kind("hedge")
    /// A ``Fallback``.
    public static let fallback = Kind("fallback")
    /// A ``CircuitBreaker``.
    public static let circuitBreaker = Kind("circuit breaker")
    /// A ``Bulkhead``.
    public static let bulkhead = Kind("bulkhead")
    /// A ``RateLimiter``.
    public static let rateLimiter = Kind("rate limiter")
    /// A ``CacheFirst``.
    public static let cache = Kind("cache")
    /// A ``SingleFlight``.
    public static let coalescing = Kind("coalescing")
    /// An ``Authentication``.
    public static let authentication = Kind("authentication")
    /// A ``Chaos``.
    public static let chaos = Kind("chaos")
  }

  /// One parameter of a stage.
  public struct Parameter: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Its value, in words.
    public let value: String

    /// Describes a parameter.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - value: Its value, in words.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What it does.
  public let kind: Kind
  /// The name of the object that it shares with others; `nil` if there is none, or it has no name.
  public let name: String?
  /// Its parameters, in a fixed order.
  public let parameters: [Parameter]

  /// Describes a stage.
  ///
  /// - Parameters:
  ///   - kind: What it does.
  ///   - name: The name of the object that it shares with others.
  ///   - parameters: Its parameters.
  public init(_ kind: Kind, name: String? = nil, parameters: [Parameter] = []) {
    self.kind = kind
    self.name = name
    self.parameters = parameters
  }
}

extension StageDescriptor: CustomStringConvertible {
  /// One line: "retry (maxRetries: 2, backoff: constant 1.0 seconds)".
  public var description: String {
    let title = name.map { "\(kind) \"\($0)\"" } ?? kind.description
    guard !parameters.isEmpty else { return title }
    return "\(title) (\(parameters.map { "\($0.name): \($0.value)" }.joined(separator: ", ")))"
  }
}
