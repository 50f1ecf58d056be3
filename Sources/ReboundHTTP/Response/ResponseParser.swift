import Foundation

/// Makes the response of an answer.
///
///     ResponseParser<Place>.json(decoder: decoder)
///     ResponseParser<[Place]>.json(PlaceList.self) { $0.places }
///
/// It is asked only for answers with a valid status. What it throws becomes a ``NetworkFailure`` that keeps the error,
/// the status and the beginning of the body.
public struct ResponseParser<Output: Sendable>: Sendable {
  /// What the Accept field of the request says.
  public let accept: String?
  /// Whether a page for a browser may be an answer.
  ///
  /// If not, one that cannot be parsed comes from a captive portal.
  @usableFromInline let takesWebPages: Bool
  @usableFromInline let parseAnswer: @Sendable (HTTPResponse) throws -> Output

  /// Makes a parser.
  ///
  /// - Parameters:
  ///   - accept: What the Accept field of the request says.
  ///   - takesWebPages: Whether a page for a browser may be an answer.
  ///   - parse: Makes the response, or throws.
  public init(
    accept: String? = nil,
    takesWebPages: Bool = true,
    _ parse: @escaping @Sendable (HTTPResponse) throws -> Output
  ) {
    self.accept = accept
    self.takesWebPages = takesWebPages
    parseAnswer = parse
  }

  /// Makes the response of an answer.
  public func parse(_ answer: HTTPResponse) throws -> Output { try parseAnswer(answer) }

  /// A parser that makes something else of the response.
  public func map<Other: Sendable>(_ transform: @escaping @Sendable (Output) throws -> Other) -> ResponseParser<Other> {
    ResponseParser<Other>(accept: accept, takesWebPages: takesWebPages) { try transform(parse($0)) }
  }

  /// The same parser, for these media types only; any other is ``NetworkFailure/Kind-swift.enum/unexpectedContentType``.
  public func requiring(_ mediaTypes: String...) -> ResponseParser {
    let allowed = Set(mediaTypes.map { $0.lowercased() })
    return ResponseParser(accept: mediaTypes.joined(separator: ", "), takesWebPages: takesWebPages) { answer in
      guard let type = answer.mediaType, allowed.contains(type) else {
        throw UnexpectedContentType(found: answer.mediaType, allowed: mediaTypes)
      }
      return try parse(answer)
    }
  }
}

extension ResponseParser where Output: Decodable {
  /// Decodes JSON.
  ///
  /// The name of a member that is not plain ASCII may have 1,024 bytes as it is written. A longer one is
  /// `DecodingError.dataCorrupted`, since a decoder would take seconds for it; a decoder that allows JSON5 is not kept
  /// from it.
  ///
  /// - Parameter decoder: Its strategies.
  public static func json(decoder: JSONDecoder = JSONDecoder()) -> ResponseParser {
    ResponseParser(accept: "application/json", takesWebPages: false) { answer in
      guard !answer.body.isEmpty else { throw NoData() }
      return try decoder.decodeAnswer(Output.self, from: answer.body)
    }
  }
}

extension ResponseParser {
  /// Decodes JSON of a type that is then made into the response.
  ///
  /// - Parameters:
  ///   - type: What the JSON is.
  ///   - decoder: Its strategies.
  ///   - transform: Makes the response of it.
  public static func json<Wire: Decodable & Sendable>(
    _ type: Wire.Type,
    decoder: JSONDecoder = JSONDecoder(),
    _ transform: @escaping @Sendable (Wire) throws -> Output
  ) -> ResponseParser {
    ResponseParser<Wire>.json(decoder: decoder).map(transform)
  }

  /// Decodes JSON, or is `nil` where nothing was sent, as with status 204.
  ///
  /// - Parameter decoder: Its strategies.
  public static func jsonIfAny<Wrapped: Decodable & Sendable>(
    decoder: JSONDecoder = JSONDecoder()
  ) -> ResponseParser where Output == Wrapped? {
    ResponseParser(accept: "application/json", takesWebPages: false) { answer in
      answer.body.isEmpty ? nil : try decoder.decodeAnswer(Wrapped.self, from: answer.body)
    }
  }
}

extension ResponseParser<Data> {
  /// The bytes as they come.
  public static var data: ResponseParser { ResponseParser { $0.body } }
}

extension ResponseParser<String> {
  /// The text as it comes, in UTF-8; anything else is refused.
  public static var text: ResponseParser {
    ResponseParser(accept: "text/plain, text/*;q=0.9, */*;q=0.1") { answer in
      guard let text = String(validating: answer.body, as: UTF8.self) else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The text is not UTF-8."))
      }
      return text
    }
  }
}

extension ResponseParser<NoContent> {
  /// Whatever comes is passed over: the status is the answer.
  public static var noContent: ResponseParser { ResponseParser { _ in NoContent() } }
}

/// There is nothing to parse.
struct NoData: Error {}

/// What came is not what was asked for.
struct UnexpectedContentType: Error, CustomStringConvertible {
  let found: String?
  let allowed: [String]

  var description: String { "\(found ?? "no content type") in place of \(allowed.joined(separator: " or "))" }
}
