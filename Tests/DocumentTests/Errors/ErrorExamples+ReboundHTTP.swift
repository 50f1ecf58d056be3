import Foundation

@testable import ReboundHTTP

extension ErrorExamples {
  static let http = ErrorExamples(module: "ReboundHTTP", errors: [calls, files, outbox, cache, curl].flatMap { $0 })

  private static let calls: [(row: String, error: any Error)] = [
    (
      "``NetworkFailure``",
      NetworkFailure(.notFound, call: NetworkFailure.Call(operation: "Forecast", method: .get))
    ),
    ("``TransportFailure``", TransportFailure(.connect, detail: "Connection refused")),
    ("``InvalidRequest``", InvalidRequest(operation: "PlaceOrder", reason: .noBaseURL)),
    ("``InvalidRequest/Reason``", InvalidRequest.Reason.path("..")),
    ("``BodyStream/AlreadyRead``", BodyStream.AlreadyRead()),
    ("``RedirectRefused``", refusedRedirect),
  ]

  private static var refusedRedirect: RedirectRefused {
    RedirectRefused(307, to: URL(string: "https://other.example/orders") ?? URL(fileURLWithPath: "/"))
  }

  private static let files: [(row: String, error: any Error)] = [
    ("``ChecksumMismatch``", ChecksumMismatch(expected: "a0b1", found: "c2d3")),
    ("``BodyChanged``", BodyChanged(count: 900)),
    ("``DownloadUnderWay``", DownloadUnderWay(part: URL(fileURLWithPath: "/orders.part"))),
  ]

  private static let outbox: [(row: String, error: any Error)] = [
    ("``MayHaveArrived``", MayHaveArrived(setback: nil)),
    ("``RequestBodyTooLarge``", RequestBodyTooLarge(limit: 1_000)),
    ("``RequestWithCredential``", RequestWithCredential(operation: "PlaceOrder", place: "the header field 'X-Key'")),
  ]

  private static let cache: [(row: String, error: any Error)] = [
    ("``HTTPCacheStorageFailure``: finding", cacheFailure(.finding)), ("… storing", cacheFailure(.storing)),
    ("… removing", cacheFailure(.removing)), ("… damaged", cacheFailure(.damaged)), ("… slow", cacheFailure(.slow)),
    ("… busy", cacheFailure(.busy)),
  ]

  private static func cacheFailure(_ kind: HTTPCacheStorageFailure.Kind) -> HTTPCacheStorageFailure {
    HTTPCacheStorageFailure(kind, name: HTTPCacheEntryName(address: "a0b1", copy: "c2d3"))
  }

  #if Curl
    private static let curl: [(row: String, error: any Error)] = [
      ("`CurlError`", CurlError(code: 7, text: "Couldn't connect to server")),
      ("`InvalidCertificateFile`", InvalidCertificateFile.unreadable(path: "/etc/ca.pem")),
      ("`InvalidPin`", InvalidPin.noPins(host: "api.example")),
      ("`InvalidProxy`", InvalidProxy(host: "proxy", port: 0)),
    ]
  #else
    private static let curl: [(row: String, error: any Error)] = []
  #endif
}
