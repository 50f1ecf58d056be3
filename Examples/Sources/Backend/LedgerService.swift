import Foundation
import Signature
import WebServer

/// Takes entries of a ledger, each of which must be signed; an old address sends clients on to the new one.
final class LedgerService: Sendable {
  /// The key that clients sign with.
  static let key = Data("rebound ledger".utf8)
  private static let patience: Int64 = 300

  private struct Receipt: Encodable {
    let entries: Int
    let bytes: Int
  }

  private let date: @Sendable () -> Date
  private let entries = Locked(0)

  /// - Parameter date: The time of day; a signature is good for five minutes.
  init(date: @escaping @Sendable () -> Date) {
    self.date = date
  }

  func addRoutes(to router: inout Router) {
    router.on(.put, "/ledger/:entry") { [self] request in
      try check(request)
      let count = entries.withLock { count in
        count += 1
        return count
      }
      return try .json(Receipt(entries: count, bytes: request.body.count), status: 201)
    }
    router.on(.put, "/old-ledger/:entry") { [self] request in
      try check(request)
      return Response(status: 307, headers: ["Location": Self.newAddress(of: request)])
    }
  }

  private static func newAddress(of request: Request) -> String {
    let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    let entry = request.parameters["entry"]?.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    let query = String(request.target.unicodeScalars.prefix { $0 != "#" }.drop { $0 != "?" })
    return "/ledger/\(entry)\(query)"
  }

  private func check(_ request: Request) throws(HTTPError) {
    guard
      let date = request.headers[Signature.Field.date], let seconds = Int64(date),
      let digest = request.headers[Signature.Field.digest],
      let signature = request.headers[Signature.Field.signature]
    else { throw HTTPError(401, "The request must be signed") }
    var actual = BodyDigest()
    actual.take(request.body)
    guard digest == actual.text() else { throw HTTPError(400, "The body is not the one that was signed") }
    let expected = Signature(
      method: request.method.rawValue,
      path: request.target,
      date: date,
      digest: digest,
      key: Self.key
    )
    guard expected.isEqual(to: signature) else { throw HTTPError(401, "The signature is wrong") }
    let now = Int64(self.date().timeIntervalSince1970)
    guard seconds > now - Self.patience, seconds < now + Self.patience else {
      throw HTTPError(401, "The signature is too old, or the device's clock is wrong")
    }
  }
}
