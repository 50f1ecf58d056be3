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
  /// The service fails; with `retryAfter` it said when to come back.
  case server(retryAfter: Duration?)
  /// Anything else, in the words of the layer below.
  case other(NetworkFailure)

  /// Sorts what the network layer says into what this app can do about it.
  public init(_ failure: NetworkFailure) {
    switch failure.kind {
    case .notFound: self = .unknownCity
    case .unauthorised: self = .invalidKey
    case .transport(.offline), .transport(.dns), .transport(.connect): self = .offline
    // The breaker refuses because the service fails, and knows when to come back.
    case .serverError, .tooManyRequests, .circuitOpen: self = .server(retryAfter: failure.retryAfter)
    default: self = .other(failure)
    }
  }

  /// Whether the same request may succeed a little later, by itself.
  public var isTransient: Bool {
    switch self {
    case .server: true
    case .other(let failure): failure.isTransient
    case .unknownCity, .invalidKey, .offline: false
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
    case .server: "Server error"
    case .other(let failure): failure.errorDescription
    }
  }

  /// What to do about it.
  public var recoverySuggestion: String? {
    switch self {
    case .unknownCity: "Check how the city is written."
    case .invalidKey: "Type the API key that you were given; the weather follows by itself."
    case .offline: "Check your connection; the weather follows by itself as soon as the service answers."
    case .server: "Try again in a while."
    case .other(let failure): failure.recoverySuggestion
    }
  }
}

extension WeatherFailure: PresentableError, RetryAfterProviding {
  /// How long the service asked to wait.
  public var retryAfter: Duration? {
    switch self {
    case .server(let retryAfter): retryAfter
    case .other(let failure): failure.retryAfter
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

  /// Whether the answer has a form that this version does not know.
  public var mustUpdate: Bool {
    if case .other(let failure) = self { failure.kind == .decoding } else { false }
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
