import Expectations
import ReboundHTTP
import Testing

@Suite("Redaction+pairs")
struct RedactionPairsTests {
  @Test(
    "pairs of forms and queries are known in any text, cut off or not",
    arguments: [
      ("password=s3cret&name=x", "password=…&name=x"), ("name=x&password=s3cr", "name=x&password=…"),
      ("to%6Ben=s3cret", "to%6Ben=…"), ("user[password]=s3cret&a=b", "user[password]=…&a=b"),
      ("access_token=s3cret&scope=repo", "access_token=…&scope=repo"), ("a=Bearer%20s3cret&b=c", "a=…&b=c"),
      ("a=eyJhbGciOiJIUzI1NiJ9.e30.s3cret&b=c", "a=…&b=c"), ("token==s3cret", "token=…"),
      ("token=…s3cret", "token=…"), ("key=\u{301}s3cret&a=b", "key=…&a=b"),
      ("GET /p?q=1&key=s3cret HTTP/1.1\r\nHost: a", "GET /p?q=1&key=… HTTP/1.1\r\nHost: a"),
      (#"<a href="/?a=1&amp;token=s3cret">b</a>"#, #"<a href="/?a=1&amp;token=…">b</a>"#),
      ("<u>/?code=s3cret</u>", "<u>/?code=…</u>"),
    ]
  )
  func pairs(text: String, shown: String) {
    expectEqual(Array(Redaction.standard.text(text).utf8), Array(shown.utf8))
    expectEqual(Redaction.standard.text(shown), shown)
  }

  @Test(
    "in strings of JSON, too, which stay what they are",
    arguments: [
      (#"{"next":"/?page=2&key=s3cret","n":1}"#, #"{"next":"/?page=2&key=…","n":1}"#),
      (#"{"next":"/?page=2\u0026key=s3cret\u0026q=1"}"#, #"{"next":"/?page=2\u0026key=…\u0026q=1"}"#),
      (#"{"a":"{\"u\":\"/?sig=s3cret\"}"}"#, #"{"a":"{\"u\":\"/?sig=…\"}"}"#),
      (#"{"a":"x\nkey=s3\/cret\\"}"#, #"{"a":"x\nkey=…"}"#),
    ]
  )
  func strings(text: String, shown: String) {
    expectEqual(Redaction.standard.text(text), shown)
    expectEqual(Redaction.standard.text(shown), shown)
  }

  @Test(
    "prose, markup and the end of what is in the base of 64 are shown",
    arguments: [
      "the key = 5, the password: 1, a token == b", "a=b=c&token=&d", "c2Vzc2lvbjwtjwt==", "=shown",
      #"<input type="password" name="token" value=shown>"#, "Content-Disposition: form-data; name=\"token\"",
    ]
  )
  func shown(text: String) {
    expectEqual(Redaction.standard.text(text), text)
  }

  @Test("what shows a parameter of a form shows it in a text")
  func showing() {
    expectEqual(Redaction.standard.showing("csrf_hint").text("csrf_hint=shown&sig=s3cret"), "csrf_hint=shown&sig=…")
  }
}
