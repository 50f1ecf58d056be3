/// Names and values for a query or a form, in their order.
///
///     ["q": city, "days": 3, "units": units, "tag": ["a", "b"]]   // a nil is left out, a list repeats its name
///
/// All of it is data: whatever the characters, they arrive as they are here, percent-encoded exactly once on the way.
public struct Parameters: Hashable, Sendable {
  /// One name with one value.
  public struct Pair: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: String

    /// Makes a pair.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The pairs, in order.
  public private(set) var pairs: [Pair]

  /// Makes parameters of these pairs.
  public init(_ pairs: some Sequence<Pair> = []) {
    self.pairs = Array(pairs)
  }

  /// Whether there are none.
  public var isEmpty: Bool { pairs.isEmpty }

  /// Adds the values of a name behind the others.
  public mutating func add(_ name: String, _ value: any ParameterConvertible) {
    pairs += value.parameterValues.map { Pair(name, $0) }
  }

  /// The parameters as a query: `q=S%C3%A3o%20Paulo&sum=1%2B1`.
  ///
  /// Only the unreserved characters of RFC 3986 §2.3 stand for themselves, so a `+` can be misread by nobody.
  public var queryEncoded: String {
    if pairs.isEmpty { return "" }
    return pairs.map { "\(PercentEncoding.value($0.name))=\(PercentEncoding.value($0.value))" }.joined(separator: "&")
  }

  /// The parameters as `application/x-www-form-urlencoded`, in which a space is a `+`.
  public var formEncoded: String {
    queryEncoded.replacingOccurrences(of: "%20", with: "+")
  }
}

extension Parameters: ExpressibleByDictionaryLiteral {
  /// Makes parameters of these names and values, in this order; a `nil` is left out.
  public init(dictionaryLiteral elements: (String, (any ParameterConvertible)?)...) {
    pairs = elements.flatMap { name, value in (value?.parameterValues ?? []).map { Pair(name, $0) } }
  }
}

/// Something that can be the value of a parameter.
public protocol ParameterConvertible {
  /// The values: one for most types, none or several for a list.
  var parameterValues: [String] { get }
}

extension ParameterConvertible where Self: CustomStringConvertible {
  /// The description.
  public var parameterValues: [String] { [description] }
}

extension ParameterConvertible where Self: RawRepresentable, RawValue: ParameterConvertible {
  /// The values of the raw value.
  public var parameterValues: [String] { rawValue.parameterValues }
}

extension String: ParameterConvertible {}
extension Substring: ParameterConvertible {}
extension Int: ParameterConvertible {}
extension Int64: ParameterConvertible {}
extension Double: ParameterConvertible {}
extension Bool: ParameterConvertible {}

extension Array: ParameterConvertible where Element: ParameterConvertible {
  /// The values of all elements, in order.
  public var parameterValues: [String] { flatMap(\.parameterValues) }
}
