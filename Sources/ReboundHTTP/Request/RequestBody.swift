import Foundation
import Rebound

/// What a request sends along, and how it is written down.
///
///     RequestBody.json(order)
///     RequestBody.form(["user": name, "password": password])
///     RequestBody.multipart([.field("title", title), .file("photo", photo)])
///
/// It is made when the request is sent; what goes wrong then is a failure of the call, ``InvalidRequest``.
public struct RequestBody: Sendable {
  let contentType: String?
  let isEmpty: Bool
  private let makeBody: @Sendable (RandomSource) throws -> (body: TransportBody, contentType: String?)

  private init(contentType: String?, _ make: @escaping @Sendable () throws -> TransportBody) {
    self.contentType = contentType
    isEmpty = false
    makeBody = { _ in (try make(), contentType) }
  }

  private init(empty: ()) {
    contentType = nil
    isEmpty = true
    makeBody = { _ in (.none, nil) }
  }

  private init(multipart parts: [MultipartPart]) {
    contentType = nil
    isEmpty = false
    makeBody = { random in
      let multipart = try Multipart(parts, random: random)
      return (multipart.body, multipart.contentType)
    }
  }

  /// Nothing.
  public static let none = RequestBody(empty: ())

  /// A value as JSON.
  ///
  /// - Parameters:
  ///   - value: What to send.
  ///   - encoder: Writes it down.
  public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> RequestBody {
    RequestBody(contentType: "application/json") { .data(try encoder.encode(value)) }
  }

  /// Parameters as an HTML form sends them.
  public static func form(_ parameters: Parameters) -> RequestBody {
    RequestBody(contentType: "application/x-www-form-urlencoded") { .data(Data(parameters.formEncoded.utf8)) }
  }

  /// Bytes.
  ///
  /// - Parameters:
  ///   - data: What to send.
  ///   - contentType: What it is.
  public static func data(_ data: Data, contentType: String) -> RequestBody {
    RequestBody(contentType: contentType) { .data(data) }
  }

  /// The content of a file, which is read while it is sent.
  ///
  /// - Parameters:
  ///   - url: Where the file is.
  ///   - contentType: What it is.
  public static func file(_ url: URL, contentType: String = "application/octet-stream") -> RequestBody {
    RequestBody(contentType: contentType) {
      // Found out now, not in the middle of the exchange.
      _ = try FileReader(url)
      return .file(url)
    }
  }

  /// What a stream gives, which is read while it is sent.
  ///
  /// A request whose stream can be read only once is never sent twice, neither by a retry, nor after a refresh of the
  /// credential, nor after a redirect that would repeat it.
  ///
  /// - Parameters:
  ///   - stream: What to send.
  ///   - contentType: What it is.
  public static func stream(_ stream: BodyStream, contentType: String) -> RequestBody {
    RequestBody(contentType: contentType) { .stream(stream) }
  }

  /// Several parts, as a form with files sends them; files are read while they are sent (RFC 7578).
  public static func multipart(_ parts: [MultipartPart]) -> RequestBody {
    RequestBody(multipart: parts)
  }

  func make(random: RandomSource) throws(InvalidRequest.Reason) -> (body: TransportBody, contentType: String?) {
    do {
      return try makeBody(random)
    } catch let reason as InvalidRequest.Reason {
      throw reason
    } catch {
      throw .body(error)
    }
  }
}
