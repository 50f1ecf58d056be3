/// How soon an answer is wanted, beside the others that the same client waits for (RFC 9218).
///
///     struct Avatar: Request {
///       var path: RequestPath { "avatar" }
///       var priority: HTTPPriority? { .background }
///       typealias Response = Data
///     }
///
/// It is a hint. It goes along as the header field `Priority`, whatever the transport and the version of HTTP; servers
/// and proxies that know RFC 9218 send urgent answers first. Where the system has a setting of its own, that is made,
/// too: the task's priority with URLSession, the stream's weight in HTTP/2 with libcurl.
public struct HTTPPriority: Hashable, Sendable {
  /// From 0, the most urgent, to 7; 3 is what everything has that says nothing.
  public let urgency: Int
  /// Whether parts of the answer are of use before the rest has come, as those of a picture that is drawn meanwhile.
  public let isIncremental: Bool

  /// Makes a priority.
  ///
  /// - Parameters:
  ///   - urgency: From 0, the most urgent, to 7. A request with any other is not sent:
  ///     ``InvalidRequest/Reason-swift.enum/priority(_:)``.
  ///   - isIncremental: Whether parts of the answer are of use before the rest has come.
  public init(urgency: Int = HTTPPriority.usualUrgency, isIncremental: Bool = false) {
    self.urgency = urgency
    self.isIncremental = isIncremental
  }

  /// The urgency of everything that says nothing (RFC 9218 §4.1).
  public static let usualUrgency = 3
  /// What somebody waits for at this moment.
  public static let urgent = HTTPPriority(urgency: 1)
  /// What nobody waits for: a prefetch, a backup (RFC 9218 §4.1).
  public static let background = HTTPPriority(urgency: 7)

  /// Whether the urgency is one.
  public var isValid: Bool { (0...7).contains(urgency) }

  /// The value of the header field: `u=1`, or `u=1, i`.
  public var field: String { isIncremental ? "u=\(urgency), i" : "u=\(urgency)" }

  /// Reads the value of the header field.
  ///
  /// What it does not say has its usual value, and so has what makes no sense (RFC 9218 §4).
  ///
  /// - Parameter field: The value.
  public init(field: String) {
    var (urgency, isIncremental) = (HTTPPriority.usualUrgency, false)
    for member in FieldParameter.all(in: field, apartBy: ",") {
      // Behind a semicolon are parameters, of which none is defined.
      let name = member.name.split(separator: ";").first.map(String.init) ?? ""
      let value = member.value.map { String($0.prefix { $0 != ";" && $0 != " " }) }
      switch (name, value) {
      case ("u", let value?): urgency = Int(value).flatMap { (0...7).contains($0) ? $0 : nil } ?? urgency
      case ("i", nil), ("i", "?1"): isIncremental = true
      case ("i", "?0"): isIncremental = false
      default: break
      }
    }
    self.init(urgency: urgency, isIncremental: isIncremental)
  }

  /// As URLSession has it: from 0 to 1, and 0.5 for what says nothing.
  var taskPriority: Float {
    let distance = Float(HTTPPriority.usualUrgency - urgency)
    return 0.5 + distance / (distance > 0 ? 6 : 8)
  }

  /// As HTTP/2 had it (RFC 7540 §5.3.2): from 1 to 256, and 16 for what says nothing.
  ///
  /// Each step is twice the weight.
  var streamWeight: Int { 1 << (7 - min(max(urgency, 0), 7)) }
}

extension TransportRequest {
  /// What its header field `Priority` says; `nil` if it has none.
  public var priority: HTTPPriority? { headers["Priority"].map { HTTPPriority(field: $0) } }
}
