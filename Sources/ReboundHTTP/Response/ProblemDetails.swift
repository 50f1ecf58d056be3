import Foundation

/// What a server says about a problem in the common form (RFC 9457).
///
/// Members of the wrong type are passed over, as the standard asks for; whatever else there is is kept.
public struct ProblemDetails: Hashable, Sendable {
  /// What kind of problem it is, as an address; "about:blank" says no more than the status does.
  ///
  /// A relative address is resolved against that of the answer.
  public let type: String
  /// The kind in a few words.
  public let title: String?
  /// The status that the server meant; what a proxy on the way has made of it is in the answer.
  public let status: Int?
  /// This occurrence in words for people.
  public let detail: String?
  /// This occurrence as an address.
  public let instance: String?
  /// All other members.
  public let extensions: [String: JSONValue]

  /// Makes problem details of the members of a JSON object.
  ///
  /// - Parameters:
  ///   - members: The object's.
  ///   - url: The address of the answer.
  public init(members: [String: JSONValue], url: URL? = nil) {
    let absolute = { (text: String) in URL(string: text, relativeTo: url)?.absoluteString ?? text }
    type = members["type"]?.string.map { $0.isEmpty ? "about:blank" : absolute($0) } ?? "about:blank"
    title = members["title"]?.string
    status = members["status"]?.number.flatMap { Int(exactly: $0) }
    detail = members["detail"]?.string
    instance = members["instance"]?.string.map(absolute)
    extensions = members.filter { !["type", "title", "status", "detail", "instance"].contains($0.key) }
  }

  /// What the problem is in each field of a form: the extension `errors`; each text is one plain line.
  ///
  /// Understands an object of texts or lists of texts by field, and a list of objects with `detail` or `message` and
  /// `name`, `field` or `pointer`.
  public var fieldErrors: [String: [String]] {
    switch extensions["errors"] {
    case .object(let fields):
      return fields.compactMapValues { value in
        let texts = value.elements?.compactMap(\.string) ?? value.string.map { [$0] } ?? []
        return texts.isEmpty ? nil : texts.map { $0.plainLine(limit: 300) }
      }
    case .array(let entries):
      var errors: [String: [String]] = [:]
      for entry in entries {
        let pointer = entry["pointer"]?.string.map { String($0.drop { $0 == "#" || $0 == "/" }) }
        guard
          let field = entry["name"]?.string ?? entry["field"]?.string ?? pointer,
          let text = entry["detail"]?.string ?? entry["message"]?.string
        else { continue }
        errors[field, default: []].append(text.plainLine(limit: 300))
      }
      return errors
    default:
      return [:]
    }
  }
}
