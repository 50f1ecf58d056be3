import Foundation
import ReboundHTTP
import Testing

@Suite("HAR of messages")
struct HARMessagesTests {
  @Test(
    "an address has no secrets, whatever marks stand behind its punctuation",
    arguments: [
      ("/p?\u{301}token=s3cret", "/p?\u{301}token=s3cret"), ("/p?\u{301}&token=s3cret", "/p?\u{301}&token=…"),
      ("/\u{301}p?token=\u{301}s3cret&q=1", "/\u{301}p?token=…&q=1"), ("/p?q=1#\u{301}token=s3cret", "/p?q=1"),
      ("/p?q=1&\u{301}a=2&token=s3cret#\u{FE0F}s3cret", "/p?q=1&\u{301}a=2&token=…"),
      ("https://joe:s3cret@\u{301}a.example/p", "https://…@\u{301}a.example/p"),
      ("https:/\u{301}/joe@a/p", "https:/\u{301}/joe@a/p"), ("//\u{301}joe:s3cret@a.example/p", "//…@a.example/p"),
      ("https://a.example/\u{301}@b?q=1", "https://a.example/\u{301}@b?q=1"), ("?", "?"), ("", ""), ("#a", ""),
    ]
  )
  func addresses(text: String, shown: String) {
    #expect(Array(Redaction.standard.archived(address: text).utf8) == Array(shown.utf8))
  }
}
