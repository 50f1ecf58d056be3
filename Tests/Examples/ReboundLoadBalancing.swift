import Combine
import Rebound
import ReboundLoadBalancing

// What the examples in the doc comments of ReboundLoadBalancing take for granted, besides those of the policies.
// With Rebound.

enum LoadBalancerExamples {
  static let weather: Pipeline<Forecast> = given()
  static func fetch(from host: String) async throws -> Forecast { given() }
  static func forecastPublisher(from host: String) -> AnyPublisher<Forecast, any Error> { given() }
}

enum BalancedCallExamples {
  static let weather: Pipeline<Forecast> = given()
  static let replicas: LoadBalancer<String> = given()
  static func fetch(from host: String) async throws -> Forecast { given() }
  static func forecastPublisher(from host: String) -> AnyPublisher<Forecast, any Error> { given() }
}
