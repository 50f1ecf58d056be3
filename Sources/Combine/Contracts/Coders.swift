/// Something that turns values into data of one kind.
public protocol TopLevelEncoder {
  /// The kind of data made.
  associatedtype Output

  /// Encodes a value.
  func encode<T>(_ value: T) throws -> Output where T: Encodable
}

/// Something that turns data of one kind into values.
public protocol TopLevelDecoder {
  /// The kind of data read.
  associatedtype Input

  /// Decodes a value of the given type.
  func decode<T>(_ type: T.Type, from: Input) throws -> T where T: Decodable
}
