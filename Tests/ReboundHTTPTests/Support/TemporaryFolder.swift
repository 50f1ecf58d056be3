import Foundation

/// A folder of its own, which is removed in the end.
final class TemporaryFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("rebound-\(UUID().uuidString)")

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

  func permissions(of name: String = "") throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.appendingPathComponent(name).path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
