import Animals
import Foundation
import ReboundStore
import WebServer

/// What a person did with the animals.
enum AnimalsInput: Decodable, Sendable {
  case fetch
  case jump(Int)
  case resume
  case replay(ReboundStore.Session<AnimalsAction>)
  case press(Press)

  private enum CodingKeys: CodingKey {
    case type, position, recording
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .type) {
    case "fetch": self = .fetch
    case "jump": self = .jump(try container.decode(Int.self, forKey: .position))
    case "resume": self = .resume
    case "import":
      let file = Data(try container.decode(String.self, forKey: .recording).utf8)
      do {
        self = .replay(try ReboundStore.Session(json: file))
      } catch {
        throw HTTPError(400, error.description)
      }
    case "press": self = .press(try Press(from: decoder))
    case let other: throw container.noSuchAction(other, forKey: .type)
    }
  }
}
