import Foundation
import FoundationNetworking
import WebServer

/// Passes orders to fail on to the backend.
struct FaultControl: Sendable {
  private let url: URL

  init(backend: URL) {
    url = backend.appendingPathComponent("control/faults")
  }

  func add(_ order: FaultOrder) async throws {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(order)
    try await send(request)
  }

  func clear() async throws {
    var request = URLRequest(url: url)
    request.httpMethod = "DELETE"
    try await send(request)
  }

  private func send(_ request: URLRequest) async throws {
    let data: Data
    let response: URLResponse
    do {
      (data, response) = try await URLSession.shared.data(for: request)
    } catch {
      throw HTTPError(502, "The backend can't be told to fail: it does not answer.")
    }
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard 200...299 ~= status else {
      throw HTTPError(422, "The backend refused this fault: \(String(decoding: data, as: UTF8.self))")
    }
  }
}
