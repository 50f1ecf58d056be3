import Foundation

/// A value as JSON, with sorted keys.
func json(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// The value that JSON stands for.
func decoded<Value: Decodable>(_ type: Value.Type = Value.self, from json: String) throws -> Value {
  try JSONDecoder().decode(type, from: Data(json.utf8))
}
