import Foundation

/// The types in the sources of this package that say that they conform to a protocol, also those inside of others.
struct Conformances {
  /// The folder of the package.
  static let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Their names, with those of the types around them: "MetastabilityDetector.Requests".
  let types: Set<String>

  init(to name: String) throws {
    let sources = Self.package.appending(path: "Sources")
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    var types: Set<String> = []
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      if text.contains(name) { types.formUnion(Self.types(in: text, conformingTo: name)) }
    }
    self.types = types
  }

  /// Declarations are told from what is around them by how far they are indented.
  static func types(in text: String, conformingTo sought: String) -> Set<String> {
    let declaration =
      #/
      ^(?<indent>\h*)
      (?:\}|
      (?:@\w+(?:\([^)]*\))?\h|\w+(?:\(\w+\))?\h)*
      (?:struct|class|enum|actor|extension|protocol)\h(?<name>[\w.]+)
      (?:<[^{]*?>)?
      (?::\s(?<inherited>[^{]*?))?
      (?:\s+where\h[^{]*)?
      \s*\{)
      /#
      .anchorsMatchLineEndings()
    var types: Set<String> = []
    var around: [(indent: Int, name: String)] = []
    for match in text.matches(of: declaration) {
      let indent = match.indent.count
      around.removeAll { $0.indent >= indent }
      // The end of something.
      guard let name = match.name else { continue }
      around.append((indent, String(name)))
      let inherited = (match.inherited ?? "").split { $0 == "," || $0 == "&" }
      // Without attributes in front, and without what a protocol is generic over.
      let names = inherited.compactMap { $0.split(whereSeparator: \.isWhitespace).last?.prefix { $0 != "<" } }
      if names.contains(where: { $0 == sought }) { types.insert(around.map(\.name).joined(separator: ".")) }
    }
    return types
  }
}
