/// An object that announces its changes.
///
/// The default ``objectWillChange`` signals before any `@Published` property of the object changes.
public protocol ObservableObject: AnyObject {
  /// The kind of publisher that announces changes.
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// A publisher that signals before the object changes.
  var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// A publisher that signals before any `@Published` property of the object changes, inherited ones included.
  ///
  /// The same one each time. It is installed when it is first asked for; before that, changes are not announced.
  public var objectWillChange: ObservableObjectPublisher {
    publisherInstalled(in: self) ?? ownPublishers.publisher(of: self)
  }
}

/// The publisher that all `Published` fields of an object share; nil if it has none.
private func publisherInstalled(in object: AnyObject) -> ObservableObjectPublisher? {
  let fields = observableFields.fields(of: type(of: object))
  guard !fields.isEmpty else { return nil }
  return withExtendedLifetime(object) {
    let start = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    // They are installed together; but a field may have been replaced since, and has none then.
    var installed: ObservableObjectPublisher?
    var isMissing = false
    for field in fields {
      if let publisher = field.type.publisher(inFieldAt: start + field.offset) {
        installed = installed ?? publisher
      } else {
        isMissing = true
      }
    }
    if let installed, !isMissing { return installed }
    // Of several threads that are here the one that comes to the first field first decides for all.
    return fields.reduce(installed ?? ObservableObjectPublisher()) { shared, field in
      field.type.install(shared, inFieldAt: start + field.offset)
    }
  }
}
