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
  public init(name: String, repetition: CallRepetition = .harmless, stages: [StageDescriptor]) {
    self.name = name
    self.repetition = repetition
    self.stages = stages
  }

  /// The kinds of its stages, outermost first.
  public var kinds: [PolicyKind] { stages.map(\.kind) }
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
  /// One parameter of a stage.
  public struct Parameter: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Its value, in words.
    public let value: String

    /// Describes a parameter.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What it does.
  public let kind: PolicyKind
  /// The name of the object that it shares with others; `nil` if there is none, or it has no name.
  public let name: String?
  /// Its parameters, in a fixed order.
  public let parameters: [Parameter]

  /// Describes a stage.
  public init(_ kind: PolicyKind, name: String? = nil, parameters: [Parameter] = []) {
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
