import Combine
import Foundation
import ReboundHTTP
import Signature

/// Signs what goes over the wire: each attempt with its own date, and each request that a redirect makes.
///
/// A body is read once for its digest and again to be sent, without ever being in memory as a whole.
public struct Signing: HTTPMiddleware {
  private let key: Data

  /// Signs with a key that the server knows.
  public init(key: Data) {
    self.key = key
  }

  /// Behind all that changes a request.
  public var place: MiddlewarePlace { .signing }

  /// Adds date, digest and signature; to no other origin than the one that the request was made for.
  public func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    guard !request.hasLeftOrigin else { return next(request) }
    var signed = request
    do {
      let date = "\(HTTPDate(since1970: request.time.wallClock).secondsSinceEpoch)"
      let digest = try digest(of: request.message.body)
      let url = request.message.url
      let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
      let signature = Signature(
        method: request.message.method.rawValue,
        path: url.path(percentEncoded: true) + query,
        date: date,
        digest: digest,
        key: key
      )
      signed.message.headers[Signature.Field.date] = date
      signed.message.headers[Signature.Field.digest] = digest
      signed.message.headers[Signature.Field.signature] = signature.text
    } catch {
      return Fail(error: request.failure(.invalidRequest, underlying: error)).eraseToAnyPublisher()
    }
    return next(signed)
  }

  private func digest(of body: TransportBody) throws -> String {
    guard body.isReplayable else { throw BodyCannotBeSigned() }
    let reader = try body.open()
    var digest = BodyDigest()
    while case let piece = try reader.read(upTo: 65_536), !piece.isEmpty { digest.take(piece) }
    return digest.text()
  }
}

/// A body that can be read once would be gone when it has been signed.
public struct BodyCannotBeSigned: Error, CustomStringConvertible {
  /// What to do instead.
  public var description: String {
    "A body that can be read once cannot be signed: give a closure that opens it anew, or a file."
  }
}
