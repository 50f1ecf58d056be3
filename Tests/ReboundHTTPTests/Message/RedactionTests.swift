import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("Redaction: secrets are never shown")
struct RedactionTests {
  @Test(
    "header fields with credentials, whatever their case",
    arguments: ["Authorization", "authorization", "PROXY-AUTHORIZATION", "Cookie", "Set-Cookie", "x-api-key"]
  )
  func headerFields(name: String) {
    let shown = Redaction.standard.headers([name: "s3cret", "Accept": "*/*"])
    expectEqual(shown[name], "…")
    expectEqual(shown["Accept"], "*/*")
  }

  @Test(
    "header fields that hold addresses show them without their secrets",
    arguments: [
      ("Location", "https://joe:s3cret@a.example/cb?code=s3cret&q=1#s3cret", "https://…@a.example/cb?code=…&q=1"),
      ("referer", "/p?token=s3cret", "/p?token=…"), ("Content-Location", "/p?q=1", "/p?q=1"),
      ("Origin", "https://a.example", "https://a.example"),
      (
        "Link", "<https://a.example/?page=2>; rel=\"next\", </?api_key=s3cret&page=9>; rel=last",
        "<https://a.example/?page=2>; rel=\"next\", </?api_key=…&page=9>; rel=last"
      ),
      ("link", "<//joe:s3cret@a/>;a=b, <?token=s3cret", "<//…@a/>;a=b, <?token=…"), ("Link", "a=b>", "a=b>"),
      ("X-Note", "/p?token=shown", "/p?token=shown"),
    ]
  )
  func addressFields(name: String, value: String, shown: String) {
    expectEqual(Redaction.standard.headers([name: value])[name], shown)
  }

  @Test(
    "addresses without user, password, secret parameters and fragment",
    arguments: [
      ("https://a.example/p?q=Rome&appid=s3cret", "https://a.example/p?q=Rome&appid=…"),
      ("https://joe:s3cret@a.example/p", "https://…@a.example/p"),
      ("https://a.example/?Access_Token=s3cret#s3cret", "https://a.example/?Access_Token=…"),
      ("https://a.example/?acc%65ss_token=s3cret", "https://a.example/?acc%65ss_token=…"),
      ("https://a.example/p?flag&token=", "https://a.example/p?flag&token=…"),
      ("https://a.example/?eyJhbGciOiJIUzI1NiJ9.e30.s3cret&flag", "https://a.example/?…&flag"),
      ("https://a.example/?next=https://joe:s3cret@b.example/&q=1", "https://a.example/?next=https://…@b.example/&q=1"),
      (
        "https://a.example/?next=https%3A%2F%2Fjoe%40c.example%3As3cret%40b.example%2Fx&q=joe%40c.example",
        "https://a.example/?next=https%3A%2F%2F…%40b.example%2Fx&q=joe%40c.example"
      ),
      ("https://a.example/?next=https://joe%3As3cret%40b.example", "https://a.example/?next=https://…%40b.example"),
      ("https://a.example/?next=https%3a//joe:s3cret@b/%40", "https://a.example/?next=https%3a//…@b/%40"),
      ("https://a.example/https://joe:s3cret@b.example/x", "https://a.example/https://…@b.example/x"),
      ("https://a.example/https%3A%2F%2Fs3cret%40b.example", "https://a.example/https%3A%2F%2F…%40b.example"),
      ("https://a.example/?next=https%3A%2F%2Fb%2F%3Fcode%3Ds3cret%26a%3Db&q=1", "https://a.example/?next=…&q=1"),
      ("https://a.example/?next=%FF%3Ftoken%3Ds3cret", "https://a.example/?next=…"),
      ("https://a.example/?next=/b?token=s3cret&q=a%3Db", "https://a.example/?next=…&q=a%3Db"),
    ]
  )
  func addresses(text: String, shown: String) throws {
    let url = try #require(URL(string: text))
    expectEqual(Redaction.standard.url(url), shown)
  }

  @Test(
    "members of JSON, at any depth, of any type, and cut off anywhere",
    arguments: [
      (#"{"user":"joe","password":"s3cret"}"#, #"{"user":"joe","password":"…"}"#),
      (#"{"a":[{"token" : "s3\"cret", "n":1}]}"#, #"{"a":[{"token" : "…", "n":1}]}"#),
      (#"{"secret":{"a":["s3cret",{"b":"]}"}]},"n":1}"#, #"{"secret":"…","n":1}"#),
      (#"{"key":12345,"n":1}"#, #"{"key":"…","n":1}"#),
      (#"{"password":"s3cr"#, #"{"password":"…""#),
      (#"{"text":"the password: 1"}"#, #"{"text":"the password: 1"}"#),
      (#"plain "token" text"#, #"plain "token" text"#),
      (#"{"password""#, #"{"password""#),
      (#"in text","password":"s3cret","n":"1"}"#, #"in text","password":"…","n":"1"}"#),
      (#"{"a":"password","b":"key"}"#, #"{"a":"password","b":"key"}"#),
      (#"{"a":"b"} session expired {"password":"s3cret"}"#, #"{"a":"b"} session expired {"password":"…"}"#),
      (
        "data: {\"a\":\"b\"}\n\nevent: session\ndata: {\"token\":\"s3cret\"}",
        "data: {\"a\":\"b\"}\n\nevent: session\ndata: {\"token\":\"…\"}"
      ),
      (#"{"a":"the \"token\" of","password":"s3cret"}"#, #"{"a":"the \"token\" of","password":"…"}"#),
      (#"{"a":"Bearer session-token","b":"c"}"#, #"{"a":"…","b":"c"}"#),
    ]
  )
  func json(text: String, shown: String) {
    expectEqual(Redaction.standard.text(text), shown)
  }

  @Test("the list can be made longer, and another text put in place")
  func ownList() {
    var redaction = Redaction.standard.hiding(header: "X-Session").hiding(parameter: "Pin")
    redaction.replacement = "[hidden]"
    expectEqual(redaction.headers(["x-session": "1"])["X-Session"], "[hidden]")
    expectEqual(redaction.pairs("pin=1234&a=b"), "pin=[hidden]&a=b")
  }

  @Test("names count whatever their case, however they came into the lists")
  func caseOfNames() {
    var redaction = Redaction(headers: [], parameters: [], guessing: false)
    redaction.headers.insert("X-Door")
    redaction.parameters.formUnion(["Door"])
    expectEqual(redaction.headers(["x-DOOR": "s3cret"])["X-Door"], "…")
    expectEqual(redaction.pairs("door=s3cret&DOOR=s3cret"), "door=…&DOOR=…")
    expectEqual(redaction.line("X-Door:s3cret s3cret"), "X-Door:…")
    redaction.headers = ["X-Gate"]
    redaction.parameters = ["Gate"]
    expectEqual(redaction, Redaction(headers: ["x-gate"], parameters: ["gate"], guessing: false))
    redaction.isGuessing = true
    redaction.shown = ["X-Access-Token"]
    expectEqual(redaction.headers(["x-access-token": "shown"])["X-Access-Token"], "shown")
  }

  @Test(
    "members of JSON whose names are written with escapes",
    arguments: [
      (#"{"pass\u0077ord":"s3cret"}"#, #"{"pass\u0077ord":"…"}"#),
      (#"{"\u0074\u004F\u006bEN":["s3cret"],"n":1}"#, #"{"\u0074\u004F\u006bEN":"…","n":1}"#),
      (#"{"pass\u007word":"shown","a\\":1}"#, #"{"pass\u007word":"shown","a\\":1}"#),
      (#"{"a\"b":1,"token":"s3cret"}"#, #"{"a\"b":1,"token":"…"}"#),
    ]
  )
  func escapedNames(text: String, shown: String) {
    expectEqual(Redaction.standard.text(text), shown)
  }

  @Test(
    "a whole address for a form shows no user, also where its first parameter is hidden",
    arguments: [
      ("https://me:s3cret@a.example/?=token=s3cret&q=1", "https://…@a.example/?=…&q=1"),
      ("https://me:s3cret@a.example/?next=%3Ftoken%3Ds3cret", "https://…@a.example/?next=…"),
      ("https://me:=hunter2@a.example/?token=s3cret", "https://…@a.example/?token=…"),
      // A sign is no digit: no control character stands there, at which the address would end.
      ("next=https%3A%2F%2Fme:s3%+1cret%40a.example&q=1", "next=https%3A%2F%2F…%40a.example&q=1"),
    ]
  )
  func addressAsForm(text: String, shown: String) {
    expectEqual(Redaction.standard.pairs(text), shown)
    expectEqual(Redaction.standard.pairs(shown), shown)
  }

  @Test(
    "fields of a form whose values begin with a mark",
    arguments: [
      ("token=\u{301}s3cret", "token=…"), ("a=1&token=\u{FE0F}s3cret&b=2", "a=1&token=…&b=2"),
      ("a=\u{301}1", "a=\u{301}1"),
    ]
  )
  func marks(text: String, shown: String) {
    expectEqual(Array(Redaction.standard.pairs(text).utf8), Array(shown.utf8))
  }

  @Test(
    "what has the name of a credential is hidden, whether or not it is on the list",
    arguments: [
      "X-Access-Token", "X-Api-Token", "sessionid", "x-amz-signature", "X-Amz-Credential", "csrfToken", "db_password",
      "privateKey", "MyServiceSecret", "Authorization-Original", "jwt", "Ocp-Apim-Subscription-Key", "X-Auth-Key",
      "x-functions-key", "X-Master-Key", "X-Auth", "auth", "Auth0", "pwd", "db.pwd", "PIN", "pinCode",
      "subscription-key",
      "masterKey", "MASTER_KEY", "xDoorKey2", "AWSKey",
    ]
  )
  func names(name: String) {
    expectEqual(Redaction.standard.headers([name: "s3cret"])[name], "…")
    expectEqual(Redaction.standard.pairs("\(name)=s3cret&a=b"), "\(name)=…&a=b")
    expectEqual(Redaction.standard.text(#"{"\#(name)":"s3cret","a":"b"}"#), #"{"\#(name)":"…","a":"b"}"#)
    let showing = Redaction.standard.showing(name)
    expectEqual(showing.headers([name: "shown"])[name], "shown")
    expectEqual(showing.pairs("\(name)=shown"), "\(name)=shown")
  }

  @Test(
    "what looks like a credential is hidden, whatever its name",
    arguments: [
      "Bearer s3cret", "basic dXNlcjpwYXNz", "eyJhbGciOiJIUzI1NiJ9.e30.s3cret", "ghp_0123456789abcdefghij",
      "sk_live_0123456789abcdefghij", "AKIA0123456789ABCDEF",
    ]
  )
  func values(value: String) {
    expectEqual(Redaction.standard.headers(["X-Other": value])["X-Other"], "…")
    expectEqual(Redaction.standard.pairs("a=\(value.replacing(" ", with: "%20"))&b=c"), "a=…&b=c")
    expectEqual(Redaction.standard.text(#"{"a":"\#(value)","b":"c"}"#), #"{"a":"…","b":"c"}"#)
  }

  @Test(
    "words that are no credentials are shown",
    arguments: ["Bearer", "basically", "eye", "sk-1", "AKIA", "a key to the door", "eyJ"]
  )
  func plainValues(value: String) {
    expectEqual(Redaction.standard.headers(["X-Other": value])["X-Other"], value)
    expectEqual(Redaction.standard.text(#"{"a":"\#(value)"}"#), #"{"a":"\#(value)"}"#)
  }

  @Test(
    "fields that a reader of logs needs are shown",
    arguments: [
      "WWW-Authenticate", "Idempotency-Key", "X-Request-ID", "Author", "idempotencyKey", "X-Idempotency-Key",
      "Sec-WebSocket-Key", "sec-websocket-key", "Surrogate-Key", "X-Cache-Key", "public_key", "partitionKey",
      "X-OAuth-Scopes",
      "Key", "Hot-Keys", "X-Key-Count", "monkey", "Pinned", "pins", "PWDs",
    ]
  )
  func needed(name: String) {
    expectEqual(Redaction.standard.headers([name: "shown"])[name], "shown")
  }

  @Test("names are known up to 256 bytes, and longer ones are not even looked up")
  func longNames() {
    let name = String(repeating: "n", count: 256)
    let redaction = Redaction.standard.hiding(parameter: name).hiding(parameter: name + "n")
    expectEqual(redaction.pairs("\(name)=s3cret"), "\(name)=…")
    expectEqual(redaction.pairs("\(name)n=shown"), "\(name)n=shown")
  }
}
