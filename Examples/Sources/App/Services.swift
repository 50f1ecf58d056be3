import Animals
import Foundation
import FoundationNetworking
import Rebound
import ReboundHTTP
import SignUp
import Weather

/// What the apps ask, shared by all sessions.
struct Services: Sendable {
  let backend: URL
  let transport: any Transport
  let savedWeather: LastGood<Place, Weather>
  let authentication: AuthenticationService
  let animals: AnimalService

  /// Makes the services that a backend offers.
  init(backend: URL) throws {
    self.backend = backend
    transport = URLSessionTransport()
    savedWeather = try LastGood(capacity: 200)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 15
    let session = URLSession(configuration: configuration)
    authentication = AuthenticationService(baseURL: backend, session: session)
    animals = AnimalService(baseURL: backend, session: session)
  }
}
