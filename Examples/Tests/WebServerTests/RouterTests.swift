import Foundation
import ServerTesting
import Testing
import WebServer

@Suite("Router")
struct RouterTests {
  private func text(_ response: Response) -> String {
    guard case .data(let data) = response.content else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  private func plain(_ text: String) -> Response {
    Response(contentType: "text/plain", body: Data(text.utf8))
  }

  private func router() -> Router {
    var router = Router { error, _ in Issue.record("unexpected: \(error)") }
    router.on(.get, "/sessions/:id/events") { plain("events of \($0.parameters["id"] ?? "nobody")") }
    router.on(.get, "/sessions/new/events") { _ in plain("new") }
    router.on(.get, "/thing") { _ in plain("got") }
    router.on(.post, "/thing") { _ in plain("posted") }
    return router
  }

  @Test(
    "a request finds its route",
    arguments: [
      (HTTPMethod.get, "/thing", "got"), (.head, "/thing", "got"), (.post, "/thing", "posted"),
      (.get, "/thing?a=b", "got"), (.get, "/sessions/7/events", "events of 7"),
      (.get, "/sessions/a%2Fb/events", "events of a/b"), (.get, "/sessions/new/events", "new"),
    ]
  )
  func found(method: HTTPMethod, target: String, body: String) async throws {
    let response = await router().respond(to: try Request(method, target))
    #expect(response.status == 200)
    #expect(text(response) == body)
  }

  @Test(
    "an unknown path is not found",
    arguments: ["/", "/Thing", "/thing/", "//thing", "/sessions//events", "/sessions/7", "/sessions/7/events/8"]
  )
  func notFound(target: String) async throws {
    let response = await router().respond(to: try Request(.get, target))
    #expect(response.status == 404)
    #expect(text(response).hasPrefix(#"{"error":true,"reason":"#))
  }

  @Test("a known path with another method names those that there are")
  func wrongMethod() async throws {
    let response = await router().respond(to: try Request(.delete, "/thing"))
    #expect(response.status == 405)
    #expect(response.headers["Allow"] == "GET, HEAD, OPTIONS, POST")
  }

  @Test("OPTIONS is answered with the methods that there are")
  func options() async throws {
    let response = await router().respond(to: try Request(.options, "/thing"))
    #expect(response.status == 204)
    #expect(response.headers["Allow"] == "GET, HEAD, OPTIONS, POST")
  }

  @Test("a thrown HTTPError is the answer; any other error is reported, and the client learns only that it failed")
  func errors() async throws {
    struct Secret: Error {}
    let reported = Locked<[String]>([])
    var router = Router { error, request in reported.withLock { $0.append("\(type(of: error)) at \(request.path)") } }
    router.on(.get, "/refused") { _ in throw HTTPError(418, "No coffee") }
    router.on(.get, "/failed") { _ in throw Secret() }

    let refused = await router.respond(to: try Request(.get, "/refused"))
    #expect(refused.status == 418)
    #expect(text(refused) == #"{"error":true,"reason":"No coffee"}"#)
    let failed = await router.respond(to: try Request(.get, "/failed"))
    #expect(failed.status == 500)
    #expect(text(failed) == #"{"error":true,"reason":"The server failed to answer this request"}"#)
    #expect(reported.withLock { $0 } == ["Secret at /failed"])
  }

  @Test("a handler that calls back answers once; later answers are ignored")
  func callback() async throws {
    var router = Router { error, _ in Issue.record("unexpected: \(error)") }
    let results = Locked<[Bool]>([])
    router.on(
      .get,
      "/",
      callback: { _, responder in
        let first = responder.respond(Response(status: 201))
        let second = responder.respond(Response(status: 202))
        results.withLock { $0 = [first, second] }
      }
    )
    #expect(await router.respond(to: try Request(.get, "/")).status == 201)
    #expect(results.withLock { $0 } == [true, false])
  }

  @Test("a handler that lets go of its responder without answering has answered with 500")
  func forgotten() async throws {
    var router = Router { error, _ in Issue.record("unexpected: \(error)") }
    router.on(.get, "/", callback: { _, _ in })
    #expect(await router.respond(to: try Request(.get, "/")).status == 500)
  }
}
