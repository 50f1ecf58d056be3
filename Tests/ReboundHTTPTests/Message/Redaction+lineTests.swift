import Expectations
import ReboundHTTP
import Testing

@Suite("Redaction+line")
struct RedactionLineTests {
  @Test(
    "secrets of addresses, pairs, fields and members are left out of prose, and nothing else",
    arguments: [
      (
        "failed: https://user:pw@a.example/x?access_token=hush&q=Rome then",
        "failed: https://…@a.example/x?access_token=…&q=Rome then"
      ), ("GET /token?appid=hush failed", "GET /token?appid=… failed"),
      ("sent Authorization: Bearer hush and more", "sent Authorization: …"),
      ("a Bearer hush there", "a Bearer … there"),
      (#"answered {"city": "Rome", "password": "hush", "a": 1}"#, #"answered {"city": "Rome", "password": …, "a": 1}"#),
      (
        "attempt 1 failed (transient); retrying in 1.0 seconds", "attempt 1 failed (transient); retrying in 1.0 seconds"
      ),
      ("", ""), ("two  spaces ", "two  spaces "),
    ]
  )
  func prose(text: String, shown: String) {
    expectEqual(Redaction.standard.line(text), shown)
  }

  @Test(
    "an address has no user, password and secret parameter, whatever stands around it",
    arguments: [
      (
        "{FailingURLString=https://me:hush@a.example/?token=hush, FailingURL=https://me:hush@a.example/x}",
        "{FailingURLString=https://…@a.example/?token=… FailingURL=https://…@a.example/x}"
      ),
      ("proxy=http://me:hush@proxy:3128 refused", "proxy=http://…@proxy:3128 refused"),
      ("(https://me:hush@a/x), \"https://me:hush@a/x\"", "(https://…@a/x), \"https://…@a/x\""),
      ("<https://me:hush@a/x>\nhttps://me:hush@a", "<https://…@a/x>\nhttps://…@a"),
      ("https://a/?next=https://me:hush@b/&q=1", "https://a/?next=https://…@b/&q=1"),
      ("a.example,https://me:hu@sh@b.example", "a.example,https://…@b.example"),
      ("postgres://me:hush@db/x", "postgres://…@db/x"),
      ("\u{301}https://me:hush@\u{301}a/", "\u{301}https://…@\u{301}a/"),
      ("https://a.example/?token=hush: refused", "https://a.example/?token=… refused"),
      ("https://a.example/?token=hu?sh#hush by", "https://a.example/?token=… by"),
      ("(https://a.example/#access_token=hush by", "(https://a.example/ by"),
      ("https://token.example:443/x: refused", "https://token.example:443/x: refused"),
      ("https://sessions:8080/ of joe@a.example", "https://sessions:8080/ of joe@a.example"),
    ]
  )
  func addresses(text: String, shown: String) {
    expectEqual(Array(Redaction.standard.line(text).utf8), Array(shown.utf8))
  }

  @Test(
    "fields, pairs and credentials are known within a word, behind whatever precedes them",
    arguments: [
      ("authorization=Bearer hush by", "authorization=… … by"), ("a=\"Bearer hush\"", "a=\"…\""),
      ("X-API-Key:hush and hush", "X-API-Key:…"), ("{Authorization:Bearer hush}", "{Authorization:…"),
      ("POST /\nX-API-Key:hush\nHost: a", "POST /\nX-API-Key:…"), ("session:hush by", "session:… by"),
      ("[Bearer hush] by", "[Bearer … by"), ("(Basic hush", "(Basic …"), ("a Bearer  hush by", "a Bearer  … by"),
      ("Bearer token: hush", "Bearer …"), ("token=hush: by", "token=… by"), ("request.token: hush", "request.token: …"),
      ("(code=hush [key=hush {a=1;code=hush", "(code=… [key=… {a=1;code=…"), ("a=token=hush", "a=token=…"),
      ("a[token][]=hush&b=c", "a[token][]=…&b=c"), ("'password': 'hush'", "'password': …"),
      (#"{"city":"Rome","password":"hush","a":1}"#, #"{"city":"Rome","password":"…","a":1}"#),
      (#""{\"password\":\"hush\"}" by"#, #""{\"password\":… by"#),
      ("eyJhbGciOiJIUzI1NiJ9.e30.hush (eyJhbGciOiJIUzI1NiJ9.e30.hush", "… (…"),
      ("exit code: 5, key: a, at 12:30:05, 1/2", "exit code: 5, key: a, at 12:30:05, 1/2"),
    ]
  )
  func words(text: String, shown: String) {
    expectEqual(Redaction.standard.line(text), shown)
  }

  @Test(
    "a value in quotes is hidden to their end, and no further; without an end, to that of the line",
    arguments: [
      ("{auth: 'hush hush', city: 'Rome'}", "{auth: …, city: 'Rome'}"), ("auth: \"hush, hush\"; by", "auth: …; by"),
      ("password='hush hush' by", "password=… by"), ("session:`hush hush`, by", "session:…, by"),
      ("{\"a\": 'b', pin: 'it''s hush', c: d", "{\"a\": 'b', pin: …, c: d"), ("pin: 'it's hush' by", "pin: … by"),
      (#"pin: "hush \" hush" by"#, "pin: … by"),
      (#""{\"pin\": \"hush hush\", \"a\": 1}""#, #""{\"pin\": …, \"a\": 1}""#),
      ("token=\"hush hush by", "token=…"), ("auth: 'hush hush by", "auth: …"), ("auth: hush 'hush' by", "auth: …"),
      ("Authorization:Digest 'hush' hush", "Authorization:…"),
    ]
  )
  func quotes(text: String, shown: String) {
    expectEqual(Redaction.standard.line(text), shown)
  }
}
