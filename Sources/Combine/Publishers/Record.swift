/// A publisher of values written down before, and of an end.
public struct Record<Output, Failure: Error>: Publisher {
  /// The values and the end to publish.
  public let recording: Recording

  /// Makes a publisher of what a closure writes down.
  ///
  /// - Parameter record: runs at once; without a completion from it, the end is a normal one.
  public init(record: (inout Recording) -> Void) {
    var recording = Recording()
    record(&recording)
    self.init(recording: recording)
  }

  /// Makes a publisher of a recording.
  public init(recording: Recording) {
    self.recording = recording
  }

  /// Makes a publisher of values and an end.
  public init(output: [Output], completion: Subscribers.Completion<Failure>) {
    self.init(recording: Recording(output: output, completion: completion))
  }

  /// Attaches a subscriber, which gets the values as it asks for them, and the end right after the last.
  @inlinable
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    SequenceSubscription.subscribe(subscriber, to: recording.output, ending: recording.completion, as: .record)
  }

  /// Values and an end, written down one by one or all at once.
  public struct Recording {
    /// The kind of values written down.
    public typealias Input = Output

    /// The values so far.
    public private(set) var output: [Output]

    /// The end; a normal one unless another is written down.
    public private(set) var completion: Subscribers.Completion<Failure>

    private var isOpen: Bool

    /// Makes an empty recording, which can be written to.
    public init() {
      output = []
      completion = .finished
      isOpen = true
    }

    /// Makes a recording that is complete.
    public init(output: [Output], completion: Subscribers.Completion<Failure> = .finished) {
      self.output = output
      self.completion = completion
      isOpen = false
    }

    /// Writes down a value.
    ///
    /// The process stops if the end is written down already.
    ///
    /// - Complexity: O(1), amortised.
    public mutating func receive(_ input: Input) {
      mustBeOpen("was given a value")
      output.append(input)
    }

    /// Writes down the end.
    ///
    /// The process stops if it is written down already.
    public mutating func receive(completion: Subscribers.Completion<Failure>) {
      mustBeOpen("was given a second completion")
      self.completion = completion
      isOpen = false
    }

    private func mustBeOpen(_ event: String) {
      if !isOpen {
        violation(
          "Record.Recording",
          "\(event) after its completion",
          advice: "Write into a new Recording(); one made of output and completion, or decoded, is complete."
        )
      }
    }
  }
}

extension Record: Codable where Output: Codable, Failure: Codable {
  private enum CodingKeys: String, CodingKey {
    case recording
  }

  /// Reads `{"recording": …}`.
  public init(from decoder: any Decoder) throws {
    self.init(recording: try decoder.container(keyedBy: CodingKeys.self).decode(Recording.self, forKey: .recording))
  }

  /// Writes `{"recording": …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(recording, forKey: .recording)
  }
}

extension Record.Recording: Codable where Output: Codable, Failure: Codable {
  private enum CodingKeys: String, CodingKey {
    case output, completion
  }

  /// Reads `{"output": […], "completion": …}`; what is read is complete.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      output: try container.decode([Output].self, forKey: .output),
      completion: try container.decode(Subscribers.Completion<Failure>.self, forKey: .completion)
    )
  }

  /// Writes `{"output": […], "completion": …}`.
  public func encode(into encoder: any Encoder) throws {
    try encode(to: encoder)
  }

  /// Writes `{"output": […], "completion": …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(output, forKey: .output)
    try container.encode(completion, forKey: .completion)
  }
}
