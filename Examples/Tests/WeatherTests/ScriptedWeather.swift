import Combine
import Weather

/// A service that answers what it is told to, in turn.
final class ScriptedWeather: WeatherProviding {
  var answers: [Result<Weather, WeatherFailure>] = []
  /// What comes when there are no more answers.
  var late = PassthroughSubject<Weather, WeatherFailure>()
  private(set) var asked: [Place] = []
  private(set) var keys: [String] = []
  let reachable = PassthroughSubject<Never, Never>()
  private(set) var probes = 0

  func weather(at place: Place) -> AnyPublisher<Weather, WeatherFailure> {
    Deferred { [self] in
      asked.append(place)
      guard !answers.isEmpty else { return late.eraseToAnyPublisher() }
      return answers.removeFirst().publisher.eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }

  func untilReachable() -> AnyPublisher<Never, Never> {
    probes += 1
    return reachable.eraseToAnyPublisher()
  }

  func use(key: String) {
    keys.append(key)
  }
}
