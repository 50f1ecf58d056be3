import Foundation
import WebServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Passes orders to fail on to the backend.
struct FaultControl: Sendable {
  /// What the backend says when it refuses something.
  private struct Refusal: Decodable {
    let reason: String
  }

  private let control: URL

  init(backend: URL) {
    control = backend.appendingPathComponent("control")
  }

  func add(_ order: FaultOrder) async throws {
    try await send("POST", "faults", body: order)
  }

  func clear() async throws {
    try await send("POST", "reset", body: [String: String]())
  }

  func give(_ order: ServiceOrder) async throws {
    switch order {
    case .revokeKey: try await send("POST", "key", body: ["key": "new-key"])
    case .expireTokens: try await send("DELETE", "tokens", body: [String: String]())
    }
  }

  private func send(_ method: String, _ path: String, body: some Encodable) async throws {
    var request = URLRequest(url: control.appendingPathComponent(path))
    request.httpMethod = method
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(body)
    let data: Data
    let response: URLResponse
    do {
      (data, response) = try await URLSession.shared.data(for: request)
    } catch {
      throw HTTPError(502, "The backend can't be told to fail: it does not answer.")
    }
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard 200...299 ~= status else {
      let reason = (try? JSONDecoder().decode(Refusal.self, from: data))?.reason
      throw HTTPError(422, "The backend refused this fault: \(reason ?? "it did not say why (\(status))")")
    }
  }
}
