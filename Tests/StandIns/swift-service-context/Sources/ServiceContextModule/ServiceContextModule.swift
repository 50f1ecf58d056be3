// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-service-context 1.3.0: the names and signatures that the adapter and its tests use.
public protocol ServiceContextKey: Sendable {
  associatedtype Value: Sendable
}

public struct ServiceContext: Sendable {
  @TaskLocal public static var current: ServiceContext?
  public static var topLevel: ServiceContext { ServiceContext() }

  private var values: [ObjectIdentifier: any Sendable] = [:]

  public subscript<Key: ServiceContextKey>(_ key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  public static func withValue<T>(_ value: ServiceContext?, operation: () throws -> T) rethrows -> T {
    try $current.withValue(value, operation: operation)
  }
}
