import Backend
import ServerTesting

extension BackendServer {
  /// Has animals come at once, without a failure, and the same ones each time.
  func calmAnimals() async throws {
    _ = try await LoopbackClient.post(
      #"{"seed":3,"failures":0,"longestDelayMilliseconds":0}"#,
      to: "/control/animals",
      port: port
    )
  }
}
