import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("cURL text")
struct CurlTests {
  @Test("is quoted for a shell, and shows no secret")
  func golden() throws {
    let request = Anything(
      path: "login",
      method: .post,
      headers: ["Authorization": "Bearer s3cret", "X-Name": "it's"],
      query: ["api_key": "s3cret", "q": "a b"],
      body: .json(["password": "s3cret"])
    )
    let message = try request.message(base: .service)
    #expect(
      message.curl() == #"""
        curl -X 'POST' 'https://api.example/v1/login?api_key=…&q=a%20b' -H 'Content-Type: application/json' \#
        -H 'Authorization: …' -H 'X-Name: it'\''s' --data-raw '{"password":"…"}'
        """#
    )
  }

  @Test("a field without a value is there: with a colon and nothing behind it, curl would leave it out")
  func emptyFields() throws {
    let message = try Anything(headers: ["X-Empty": "", "Accept": ""]).message(base: .service)
    #expect(message.curl() == "curl 'https://api.example/v1' -H 'X-Empty;' -H 'Accept;'")
  }

  @Test("names what is no text, and hides the secrets of a form")
  func bodies() throws {
    let form = try Anything(method: .post, body: .form(["user": "joe", "password": "s3cret"])).message(base: .service)
    #expect(form.curl().hasSuffix("--data-raw 'user=joe&password=…'"))
    let bytes = try Anything(method: .put, body: .data(Data([0xFF, 0xFE]), contentType: "a/b")).message(base: .service)
    #expect(bytes.curl().hasSuffix("--data-raw '<2 bytes>'"))
    #expect(try Anything().message(base: .service).curl() == "curl 'https://api.example/v1'")
    #expect(try Anything(method: .head).message(base: .service).curl().hasPrefix("curl --head "))
  }

  @Test("what is sent along makes no POST of another method, and no form of what says nothing of itself")
  func bodyAlone() {
    let get = TransportRequest(.service, method: .get, body: .data(Data("{}".utf8)))
    #expect(get.curl() == "curl -X 'GET' 'https://api.example/v1' -H 'Content-Type:' --data-raw '{}'")
    let put = TransportRequest(.service, method: .put, body: .file(URL(fileURLWithPath: "/tmp/a")))
    #expect(put.curl() == "curl -X 'PUT' 'https://api.example/v1' -H 'Content-Type:' --data-binary '@a'")
  }

  @Test("hides the secret parts of a multipart form")
  func multipart() throws {
    let part = "Content-Disposition: form-data; name="
    let body = "--b\r\n\(part)\"password\"\r\n\r\ns3cret\r\n--b\r\n\(part)\"q\"\r\n\r\nshown\r\n--b--\r\n"
    let type = "multipart/form-data; boundary=b"
    let message = try Anything(method: .post, body: .data(Data(body.utf8), contentType: type)).message(base: .service)
    #expect(message.curl().hasSuffix("--data-raw '\(body.replacing("s3cret", with: "…"))'"))
  }

  @Test("a quote ends no word for a shell, whatever marks follow it", arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
  func quoteWithMark(mark: String) throws {
    let body = RequestBody.data(Data("'\(mark); rm -rf ~'".utf8), contentType: "text/plain")
    let text = try Anything(method: .put, body: body).message(base: .service).curl()
    let quote = #"'\''"#
    let expected = "--data-raw '\(quote)\(mark); rm -rf ~\(quote)'"
    expectEqual(Array(text.utf8.suffix(expected.utf8.count)), Array(expected.utf8))
  }
}
