import Foundation

extension Redaction {
  /// A line of prose without the secrets of addresses, pairs, header fields and members of JSON in it: for what somebody
  /// else's error says about itself.
  ///
  ///     Redaction.standard.line("failed: https://api.example/?access_token=abc")   // failed: https://api.example/?access_token=…
  ///     let lines = JSONLines(hiding: Redaction.standard.line)
  ///
  /// - Complexity: O(n) in the length of the text.
  public func line(_ text: String) -> String {
    var shown: [String] = []
    var isCredential = false
    for word in self.text(text).split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
      if isCredential {
        shown.append(replacement)
        isCredential = false
      } else if word.hasSuffix(":"), hides(header: String(word.dropLast())) {
        // The value of a field may be of many words; nothing says where it ends.
        return (shown + [word, replacement]).joined(separator: " ")
      } else if word.contains("://"), let address = URL(string: word) {
        shown.append(url(address))
      } else {
        shown.append(
          word.split(separator: "?", omittingEmptySubsequences: false).map { pairs(String($0)) }.joined(separator: "?")
        )
        isCredential = ["bearer", "basic"].contains(word.lowercased())
      }
    }
    return shown.joined(separator: " ")
  }
}
