import Foundation
import WebServer

/// A file of the page that is missing from the program's resources.
struct PageError: Error, CustomStringConvertible {
  let file: String

  var description: String { "The page's file '\(file)' is missing. Build the examples again." }
}

/// The files of the page, read once at the start.
struct Page: Sendable {
  struct File: Sendable {
    let path: String
    let response: Response
  }

  private(set) var files: [File]

  init() throws(PageError) {
    files = [try Page.file("/", "index.html", "text/html; charset=utf-8")]
    files += [try Page.file("/style.css", "style.css", "text/css; charset=utf-8")]
    for name in [
      "page", "dom", "link", "log", "client", "surfaces", "faults", "sign-up", "weather", "animals", "inspector",
      "inspection", "marbles",
    ] {
      files += [try Page.file("/\(name).js", "\(name).js", "text/javascript; charset=utf-8")]
    }
  }

  private static func file(_ path: String, _ name: String, _ type: String) throws(PageError) -> File {
    guard
      let url = Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Page"),
      let data = try? Data(contentsOf: url)
    else { throw PageError(file: name) }
    var response = Response(contentType: type, body: data)
    response.headers.add(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    response.headers.add("Referrer-Policy", "no-referrer")
    return File(path: path, response: response)
  }
}
