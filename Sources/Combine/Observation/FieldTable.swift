import StreamSupport
// The reflection that the standard library's own `Mirror` stands on. A mirror would read every property of an object:
// also those that other threads write, and references that no longer lead anywhere; and the object could forge it.
@_spi(Reflection) import Swift

/// A field of an object that can announce its changes on a publisher.
protocol ObservableField {
  /// The publisher that is installed in the field at an address, if there is one.
  static func publisher(inFieldAt address: UnsafeRawPointer) -> ObservableObjectPublisher?

  /// Installs a publisher in the field at an address, unless there is one; returns the one that is there afterwards.
  static func install(
    _ publisher: ObservableObjectPublisher,
    inFieldAt address: UnsafeRawPointer
  ) -> ObservableObjectPublisher
}

/// Where the observable fields of classes are.
let observableFields = FieldTable()

/// Where in its objects a class has observable fields, inherited ones included; looked up once for each class.
final class FieldTable: Sendable {
  struct Field {
    /// In bytes from the start of the object.
    let offset: Int
    let type: any ObservableField.Type
  }

  // Classes never go away, so neither do the entries.
  private let fieldsByClass = Locked<[ObjectIdentifier: [Field]]>([:])

  func fields(of type: AnyClass) -> [Field] {
    let identifier = ObjectIdentifier(type)
    if let known = fieldsByClass.withLock({ $0[identifier] }) { return known }
    var fields: [Field] = []
    // 1 stands for the fields of a class and its superclasses; the named constant can't be used in Swift 6.
    _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { _, offset, type, _ in
      if let type = type as? any ObservableField.Type { fields.append(Field(offset: offset, type: type)) }
      return true
    }
    fieldsByClass.withLock { $0[identifier] = fields }
    return fields
  }
}
