import Testing

@testable import WebServer

@Suite("OriginPolicy")
struct OriginPolicyTests {
  private let policy = OriginPolicy(
    port: 8080,
    hosts: ["localhost", "127.0.0.1", "[::1]"],
    allowedOrigins: ["https://app.example"]
  )

  @Test(
    "the machine's own names pass, with the right port",
    arguments: ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"]
  )
  func ownHost(name: String) {
    #expect(policy.refusal(method: .get, authority: nil, headers: ["Host": "\(name):8080"]) == nil)
  }

  @Test(
    "any other host is refused",
    arguments: ["evil.example", "evil.example:8080", "localhost", "localhost:80", "127.0.0.1.evil.example:8080", ""]
  )
  func foreignHost(host: String) {
    #expect(policy.refusal(method: .get, authority: nil, headers: ["Host": host])?.status == 403)
  }

  @Test("on port 80 the port may be left out")
  func defaultPort() {
    let policy = OriginPolicy(port: 80, hosts: ["localhost"], allowedOrigins: [])
    #expect(policy.refusal(method: .get, authority: nil, headers: ["Host": "localhost"]) == nil)
    #expect(policy.refusal(method: .get, authority: nil, headers: ["Host": "localhost:80"]) == nil)
  }

  @Test("a missing or repeated Host is a bad request")
  func hostCount() {
    #expect(policy.refusal(method: .get, authority: nil, headers: [:])?.status == 400)
    #expect(
      policy.refusal(method: .get, authority: nil, headers: ["Host": "localhost:8080", "host": "localhost:8080"])?
        .status == 400
    )
  }

  @Test("the authority of a target in absolute form counts instead of Host")
  func absoluteForm() {
    #expect(policy.refusal(method: .get, authority: "evil.example", headers: ["Host": "localhost:8080"])?.status == 403)
    #expect(policy.refusal(method: .get, authority: "localhost:8080", headers: ["Host": "evil.example"]) == nil)
  }

  @Test(
    "own and allowed origins pass",
    arguments: ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080", "https://app.example"]
  )
  func ownOrigin(origin: String) {
    #expect(policy.refusal(method: .get, authority: nil, headers: ["Host": "localhost:8080", "Origin": origin]) == nil)
  }

  @Test(
    "any other origin is refused",
    arguments: [
      "http://evil.example", "null", "http://localhost:9000", "https://localhost:8080", "http://app.example",
      "https://app.example.evil.example",
    ]
  )
  func foreignOrigin(origin: String) {
    #expect(
      policy.refusal(method: .get, authority: nil, headers: ["Host": "localhost:8080", "Origin": origin])?.status == 403
    )
  }

  @Test("a repeated Origin is refused even if one of them is allowed")
  func repeatedOrigin() {
    let headers: Headers = [
      "Host": "localhost:8080", "Origin": "https://app.example", "origin": "https://evil.example",
    ]
    #expect(policy.refusal(method: .get, authority: nil, headers: headers)?.status == 403)
  }

  @Test("only pages of an allowed foreign origin get headers that let them read the answer")
  func sharing() {
    #expect(
      policy.sharingHeaders(for: ["Origin": "https://app.example"], allowedMethods: nil)
        == ["Access-Control-Allow-Origin": "https://app.example", "Vary": "Origin"]
    )
    #expect(policy.sharingHeaders(for: ["Origin": "http://localhost:8080"], allowedMethods: nil) == [:])
    let preflight: Headers = [
      "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type",
    ]
    let answer = policy.sharingHeaders(for: preflight, allowedMethods: "OPTIONS, POST")
    #expect(answer["Access-Control-Allow-Methods"] == "OPTIONS, POST")
    #expect(answer["Access-Control-Allow-Headers"] == "content-type")
  }

  @Test(
    "what changes something and has no Origin is refused if a page of another site sent it",
    arguments: ["cross-site", "same-site", "Cross-Site", "unheard-of"]
  )
  func foreignSite(site: String) {
    let headers: Headers = ["Host": "localhost:8080", "Sec-Fetch-Site": site]
    for method in [HTTPMethod.post, .put, .delete, HTTPMethod(rawValue: "PATCH")] {
      #expect(policy.refusal(method: method, authority: nil, headers: headers)?.status == 403)
    }
    #expect(policy.refusal(method: .get, authority: nil, headers: headers) == nil)
    let twice: Headers = ["Host": "localhost:8080", "Sec-Fetch-Site": "none", "sec-fetch-site": site]
    #expect(policy.refusal(method: .post, authority: nil, headers: twice)?.status == 403)
  }

  @Test("the own page, a person, and a page whose origin is allowed may change something")
  func ownSite() {
    for site in ["same-origin", "none"] {
      let headers: Headers = ["Host": "localhost:8080", "Sec-Fetch-Site": site]
      #expect(policy.refusal(method: .post, authority: nil, headers: headers) == nil)
    }
    let allowed: Headers = [
      "Host": "localhost:8080", "Origin": "https://app.example", "Sec-Fetch-Site": "cross-site",
    ]
    #expect(policy.refusal(method: .post, authority: nil, headers: allowed) == nil)
  }
}
