import Foundation
import Rebound
import ReboundHTTP
import ReboundPresentation

/// Why there is no weather, with words for the person in front of it.
public enum WeatherFailure: Error {
  /// There is no such city.
  case unknownCity
  /// The service does not know the API key.
  case invalidKey
  /// The service can't be reached.
  case offline
  /// The service refuses the request for another reason: any other status from 400 to 499.
  case refused(NetworkFailure)
  /// Anything else: the service fails.
  case server(NetworkFailure)

  /// Sorts what the network layer says into what this app can do about it.
  public init(_ failure: NetworkFailure) {
    switch failure.kind {
    case .notFound: self = .unknownCity
    case .unauthorised: self = .invalidKey
    case .transport(.offline), .transport(.dns), .transport(.connect): self = .offline
    case .badRequest, .forbidden, .notAcceptable, .conflict, .gone, .unprocessable, .tooManyRequests, .clientError:
      self = .refused(failure)
    default: self = .server(failure)
    }
  }

  /// Whether the same request may succeed a little later, by itself.
  public var isTransient: Bool {
    switch self {
    case .refused(let failure): failure.isTransient
    case .server(let failure): failure.isInTrouble || failure.isTransient
    case .unknownCity, .invalidKey, .offline: false
    }
  }
}

extension NetworkFailure {
  /// Whether the service says that it fails, or has failed so often that the breaker refuses, which knows when to come back.
  fileprivate var isInTrouble: Bool {
    switch kind {
    case .serverError, .circuitOpen: true
    default: false
    }
  }
}

extension WeatherFailure: LocalizedError {
  /// What happened, in words for people.
  public var errorDescription: String? {
    switch self {
    case .unknownCity: "City Name is invalid"
    case .invalidKey: "Key is invalid"
    case .offline: "The weather service can't be reached."
    case .refused(let failure): failure.serverMessage ?? "Request is refused"
    case .server: "Server error"
    }
  }

  /// What to do about it.
  public var recoverySuggestion: String? {
    switch self {
    case .unknownCity: "Check how the city is written."
    case .invalidKey: "Type the API key that you were given; the weather follows by itself."
    case .offline: "Check your connection; the weather follows by itself as soon as the service answers."
    case .server(let failure) where failure.isInTrouble: "Try again in a while."
    case .refused(let failure), .server(let failure): failure.recoverySuggestion ?? "Try again in a while."
    }
  }
}

extension WeatherFailure: PresentableError, RetryAfterProviding {
  /// How long the service asked to wait.
  public var retryAfter: Duration? {
    switch self {
    case .refused(let failure), .server(let failure): failure.retryAfter
    case .unknownCity, .invalidKey, .offline: nil
    }
  }

  /// Whether the service can't be reached.
  public var isOffline: Bool {
    if case .offline = self { true } else { false }
  }

  /// A wrong city is told beside its field.
  public var fieldErrors: [FieldError] {
    if case .unknownCity = self { [FieldError(field: "city", message: "City Name is invalid")] } else { [] }
  }

  /// Whether another key helps.
  public var needsSignIn: Bool {
    if case .invalidKey = self { true } else { false }
  }

  /// Whether the service says that it is down.
  public var isMaintenance: Bool {
    if case .server(let failure) = self { failure.kind == .serverError(503) } else { false }
  }

  /// Whether the answer has a form that this version does not know.
  public var mustUpdate: Bool {
    if case .server(let failure) = self { failure.kind == .decoding } else { false }
  }
}

extension WeatherFailure {
  /// What a list of attempts says about the failure.
  var outcome: String {
    switch self {
    case .refused(let failure), .server(let failure): "\(localizedDescription) (\(failure.outcome))"
    case .unknownCity, .invalidKey, .offline: localizedDescription
    }
  }
}

extension RetryPolicy where Failure == WeatherFailure {
  /// When the weather is asked for again: four times at most, and after no pause that the service names of more than 4 s.
  ///
  /// - Parameter delays: How long to wait before each retry after a failure of the service.
  public static func weather(
    after delays: Backoff = .steps(.seconds(1), .seconds(3), .seconds(5), .seconds(10))
  ) -> RetryPolicy {
    RetryPolicy(clamping: 4, backoff: delays, maxHint: .seconds(4)).when(\.isTransient)
  }
}
