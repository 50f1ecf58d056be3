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
      (#"answered {"city": "Rome", "password": "hush", "a": 1}"#, #"answered {"city": "Rome", "password": …"#),
      (
        "attempt 1 failed (transient); retrying in 1.0 seconds", "attempt 1 failed (transient); retrying in 1.0 seconds"
      ),
      ("", ""), ("two  spaces ", "two  spaces "),
    ]
  )
  func prose(text: String, shown: String) {
    #expect(Redaction.standard.line(text) == shown)
  }
}
