/// The name of a shared object: as it was made, or as the first pipeline that has made it of a policy.
struct AdoptedName: Sendable {
  private var given: String?
  private let kind: PolicyKind

  /// - Parameters:
  ///   - given: As it was made; `nil` if a pipeline is to name it.
  ///   - kind: What it is called while nobody has named it.
  init(_ given: String?, of kind: PolicyKind) {
    (self.given, self.kind) = (given, kind)
  }

  var text: String { given ?? kind.description }

  /// Takes the name of a pipeline, unless it has one.
  mutating func adopt(_ name: String) {
    given = given ?? name
  }
}
