import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundOutbox
import ReboundTelemetry
import ReboundTesting
import Testing

// What the examples in the doc comments of ReboundHTTP take for granted. No target: scripts/check-examples compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct Place: Codable, Sendable {
  static let empty = Place()
}

struct PlaceList: Codable, Sendable {
  let places: [Place]
}

struct Forecast: Request {
  let city: String
  var path: RequestPath { "forecast" }
  typealias Response = Place
}

struct Prices: Request {
  var path: RequestPath { "prices" }
  typealias Response = Data
}

struct Cart: Codable, Sendable {}

struct PlaceOrder: Request {
  init(_: Cart) {}
  var path: RequestPath { "orders" }
  typealias Response = Place
}

struct Orders: Request {
  struct Page: Codable, Sendable {
    let next: String?
  }
  let cursor: String?
  var path: RequestPath { "orders" }
  typealias Response = Page
}

struct Token: Sendable {
  var accessToken = ""
}

let service = URL(fileURLWithPath: "")
let uploads = URL(fileURLWithPath: "")
let file = URL(fileURLWithPath: "")
let key = ""
let name = ""
let request = Forecast(city: "Rome")
let cart = Cart()
let cookies = Cookies()
let spans = SpanLog()
var transport: any Transport { given() }
var client: WebAPIClient { given() }
var session: TokenRefresher<Token> { given() }
var failure: NetworkFailure { given() }
var budget: RetryBudget { given() }
var limiter: RateLimiter { given() }
var forecast: AnyPublisher<Place, NetworkFailure> { given() }
var subscriptions: Set<AnyCancellable> {
  get { [] }
  set {}
}

// MARK: What only the examples of one file take for granted

enum HTTPEventExamples {
  struct Log: Sendable {
    func debug(_: String) {}
  }
  static let log = Log()
}

enum TransportTimingsExamples {
  struct Log: Sendable {
    func debug(_: String) {}
  }
  static let log = Log()
}

enum HTTPCacheExamples {
  struct Log: Sendable {
    func notice(_: String) {}
  }
  static let log = Log()
  static let caches = URL(fileURLWithPath: "")
}

enum WebAPIClient_responsesExamples {
  enum Shown {
    case savedCopy(Place)
    case upToDate(Place)
  }
}

enum NetworkFailure_TextsExamples {
  static let bundle = Bundle.main
}

enum NetworkFailureExamples {
  static func banner(_: String) {}
  static func empty() {}
  static func alert(_: String?, _: String?) {}
}

enum Publisher_retryOnKindExamples {
  struct Session: Sendable {
    func refresh() -> Empty<Void, NetworkFailure> { Empty() }
  }
  static let session = Session()
}

enum HTTPDateExamples {
  static var time: TimeSource { given() }
}

enum RetryAfterExamples {
  static var now: HTTPDate { given() }
}

enum TransportRequest_curlExamples {
  static var request: TransportRequest { given() }
}

enum TransportExamples {
  static var request: TransportRequest { given() }
}

enum HedgingExamples {
  static var recorder: LatencyRecorder { given() }
}

enum ReachabilityExamples {
  static var reachability: any Reachability { given() }
}

enum ParametersExamples {
  // Examples: func example() -> Parameters {%}
  static let city = ""
  static let units: String? = nil
}

enum RequestBodyExamples {
  static let order = Cart()
  static let password = ""
  static let title = ""
  static var photo: URL { given() }
}

enum ResponseParserExamples {
  static var decoder: JSONDecoder { given() }
}

enum ErrorParserExamples {
  struct SignUpError: Error, Decodable {}
}

#if Curl
  extension CurlConfigurationExamples {
    static var current: PublicKeyPin { given() }
    static var reserve: PublicKeyPin { given() }
  }
#endif

enum BodyPiecesExamples {
  struct Connection: Sendable {
    func announce(_: Int64?) async throws {}
    func send(_: Data) async throws {}
  }
  static let connection: Connection = given()
  static let request: TransportRequest = given()
  static let exchange: OngoingExchange = given()
}

enum TaskCarrierExamples {
  struct Answer {
    let head: ResponseHead
    let pieces: AsyncThrowingStream<Data, any Error>
  }
  struct Client: Sendable {
    func send(_: TransportRequest) async throws -> Answer { given() }
  }
  static let client: Client = given()
  static let request: TransportRequest = given()
  static let deadlines: ExchangeDeadlines = given()
  static let receiver: @Sendable (TransportEvent) -> Void = given()
}

enum Pipeline_foreignClientExamples {
  struct Answer: Sendable {
    let head: ResponseHead
  }
  struct Client: Sendable {
    func get(_: URL) async throws -> Answer { given() }
  }
  static let client: Client = given()
  static let url = URL(fileURLWithPath: "")
  static let pipeline: Pipeline<Answer> = given()
  static let call = NetworkFailure.Call()
  static let answer: HTTPResponse = given()
}

enum OngoingExchangeExamples {
  static let request: TransportRequest = given()
  static let deadlines: ExchangeDeadlines = given()
  static let receiver: @Sendable (TransportEvent) -> Void = given()

  final class MyCarrier: ExchangeCarrier {
    init(_: TransportRequest, _: OngoingExchange) {}
    func start() {}
    func stop() {}
    func pause() {}
    func resume() {}
  }
}
