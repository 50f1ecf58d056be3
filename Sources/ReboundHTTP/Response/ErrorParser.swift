import Foundation

/// What a server says about an error.
public struct ServerMessage: Sendable {
  /// The server's words, as they came; ``NetworkFailure/serverMessage`` has what is fit to be shown to people.
  public var text: String?
  /// The server's problem details.
  public var problem: ProblemDetails?
  /// The error in the terms of the program.
  public var error: (any Error)?

  /// Makes a message.
  ///
  /// - Parameters:
  ///   - text: The server's words.
  ///   - problem: The server's problem details.
  ///   - error: The error in the terms of the program.
  public init(text: String? = nil, problem: ProblemDetails? = nil, error: (any Error)? = nil) {
    self.text = text
    self.problem = problem
    self.error = error
  }
}

/// Reads what a server says about an error, from an answer whose status is not valid.
///
///     var errorParser: ErrorParser { .json(SignUpError.self) }
///
/// It cannot fail: what it does not understand it passes over, and the ``NetworkFailure`` keeps status and body.
public struct ErrorParser: Sendable {
  private let parseAnswer: @Sendable (HTTPResponse) -> ServerMessage?

  /// Makes a parser.
  ///
  /// - Parameter parse: Reads the answer; `nil` if it says nothing that is understood.
  public init(_ parse: @escaping @Sendable (HTTPResponse) -> ServerMessage?) {
    parseAnswer = parse
  }

  /// Reads what the server says.
  public func parse(_ answer: HTTPResponse) -> ServerMessage? { parseAnswer(answer) }

  /// Problem details (RFC 9457), or else the first text among the members `message`, `reason`, `error`,
  /// `error_description`, `detail` and `title` of a JSON object.
  ///
  /// An object in `error` is looked into, too.
  public static let standard = ErrorParser { answer in
    guard !answer.isWebPage, let members = (try? JSONDecoder().decodeAnswer(JSONValue.self, from: answer.body))?.members
    else { return nil }
    if answer.mediaType == "application/problem+json" {
      let problem = ProblemDetails(members: members, url: answer.head.url)
      return ServerMessage(text: problem.detail ?? problem.title, problem: problem)
    }
    return text(in: members).map { ServerMessage(text: $0) }
  }

  /// An error type of the program, decoded from JSON; what cannot be decoded is read by ``standard``.
  ///
  /// The message to people is the error's own, if it is a `LocalizedError`.
  ///
  /// - Parameters:
  ///   - type: What the JSON is.
  ///   - decoder: Its strategies.
  public static func json<Failure: Error & Decodable>(
    _ type: Failure.Type,
    decoder: JSONDecoder = JSONDecoder()
  ) -> ErrorParser {
    ErrorParser { answer in
      let common = standard.parse(answer)
      guard let error = try? decoder.decodeAnswer(type, from: answer.body) else { return common }
      let text = (error as? any LocalizedError)?.errorDescription ?? common?.text
      return ServerMessage(text: text, problem: common?.problem, error: error)
    }
  }

  private static func text(in members: [String: JSONValue]) -> String? {
    for name in ["message", "reason", "error", "error_description", "detail", "title"] {
      if let text = members[name]?.string, !text.isEmpty { return text }
      if name == "error", let inner = members[name]?.members, let text = text(in: inner) { return text }
    }
    return nil
  }
}
