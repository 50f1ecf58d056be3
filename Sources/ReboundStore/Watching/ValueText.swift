/// Values in words, each in one line.
///
/// The language writes the parts of a value by their `debugDescription`, which may show what their `description` hides: so
/// what does not describe itself is put together here, from parts that do.
enum ValueText {
  /// What is made of itself has to come to an end.
  private static let maximumDepth = 64

  /// Whether a value has words of its own.
  static func isOwn(of value: Any) -> Bool {
    value is any CustomStringConvertible || value is any CustomDebugStringConvertible
  }

  /// A value in one line: text in quotation marks, `nil` as such, an optional as its value.
  static func of(_ value: Any) -> String { text(value, depth: 0) }

  private static func text(_ value: Any, depth: Int) -> String {
    // It describes what it holds in the language's way.
    if type(of: value) == AnyHashable.self, let hashable = value as? AnyHashable {
      return text(hashable.base, depth: depth + 1)
    }
    let mirror = Mirror(reflecting: value)
    func part(_ child: Mirror.Child) -> String { text(child.value, depth: depth + 1) }
    let style = mirror.displayStyle
    if style == .optional { return mirror.children.first.map(part) ?? "nil" }
    if value is any StringProtocol { return String(reflecting: value) }
    // The words of a list are the language's, with each element's `debugDescription`.
    let isList = [.collection, .set, .dictionary].contains(style)
    if type(of: value) is AnyClass || isOwn(of: value) && !isList { return own(of: value) }
    guard depth < maximumDepth else { return "…" }
    switch style {
    case .collection: return "[\(mirror.children.map(part).joined(separator: ", "))]"
    case .set: return "[\(mirror.children.map(part).sorted().joined(separator: ", "))]"
    case .dictionary:
      let pairs = mirror.children.map { Mirror(reflecting: $0.value).children.map(part).joined(separator: ": ") }
      return pairs.isEmpty ? "[:]" : "[\(pairs.sorted().joined(separator: ", "))]"
    case .tuple: return "(\(fields(of: mirror, part)))"
    case .struct: return "\(mirror.subjectType)(\(fields(of: mirror, part)))"
    case .enum:
      guard let payload = mirror.children.first else { return own(of: value) }
      let name = payload.label ?? "\(mirror.subjectType)"
      // Several values of a case are a tuple, which has its parentheses.
      return Mirror(reflecting: payload.value).displayStyle == .tuple
        ? name + part(payload) : "\(name)(\(part(payload)))"
    default: return own(of: value)
    }
  }

  private static func fields(of mirror: Mirror, _ part: (Mirror.Child) -> String) -> String {
    mirror.children.map { child in
      // What has no name in a tuple is called by its place.
      guard let label = child.label, !label.hasPrefix(".") else { return part(child) }
      return "\(label): \(part(child))"
    }
    .joined(separator: ", ")
  }

  private static func own(of value: Any) -> String {
    (value as? any CustomStringConvertible)?.description ?? String(describing: value)
  }
}
