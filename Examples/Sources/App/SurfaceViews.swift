import Attempts
import Foundation
import SignUp

/// What an app shows beside its own content.
///
/// Every key is always there, with null where there is nothing.
struct Surfaces: Encodable {
  var toast: ToastView?
  var banner: BannerView?
  var alert: AlertView?
  var fullScreen: FullScreenView?
  var attempts: [AttemptView] = []

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(toast, forKey: .toast)
    try container.encode(banner, forKey: .banner)
    try container.encode(alert, forKey: .alert)
    try container.encode(fullScreen, forKey: .fullScreen)
    try container.encode(attempts, forKey: .attempts)
  }

  private enum CodingKeys: CodingKey {
    case toast, banner, alert, fullScreen, attempts
  }
}

/// A button of a surface.
struct ButtonView: Encodable {
  let id: String
  let title: String
  let role: String

  init(id: String, title: String, role: String) {
    self.id = id
    self.title = title
    self.role = role
  }

  init(_ choice: Choice) {
    id = choice.id
    title = choice.title
    role = choice.role.rawValue
  }
}

/// A message that goes by itself.
struct ToastView: Encodable {
  let id: String
  let text: String
  let tone: String
}

/// A line above everything that stays as long as it is true.
struct BannerView: Encodable {
  let id: String
  let text: String
  let buttons: [ButtonView]
}

/// A message to decide about.
struct AlertView: Encodable {
  let id: String
  let title: String
  let message: String
  let buttons: [ButtonView]
}

/// A failure in place of the content; with a countdown if it ends by itself.
struct FullScreenView: Encodable {
  let id: String
  let title: String
  let message: String
  let secondsLeft: Int?
  let isRetrying: Bool
  let buttons: [ButtonView]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(title, forKey: .title)
    try container.encode(message, forKey: .message)
    try container.encode(secondsLeft, forKey: .secondsLeft)
    try container.encode(isRetrying, forKey: .isRetrying)
    try container.encode(buttons, forKey: .buttons)
  }

  private enum CodingKeys: CodingKey {
    case id, title, message, secondsLeft, isRetrying, buttons
  }
}

/// A request that was sent, and what came of it.
struct AttemptView: Encodable {
  let id: Int
  let exchange: Int
  let time: String
  let request: String
  let attempt: Int
  let outcome: String
  let tone: String
  let next: String

  init(_ attempt: Attempt) {
    id = attempt.id
    exchange = attempt.exchange
    time = attempt.time.timeOfDay
    request = attempt.request
    self.attempt = attempt.number
    outcome = attempt.outcome
    tone = attempt.tone.rawValue
    next = attempt.next
  }
}

extension Date {
  /// Hours, minutes, seconds and thousandths, in local time.
  var timeOfDay: String {
    let parts = Calendar.current.dateComponents([.hour, .minute, .second, .nanosecond], from: self)
    return String(
      format: "%02d:%02d:%02d.%03d",
      parts.hour ?? 0,
      parts.minute ?? 0,
      parts.second ?? 0,
      (parts.nanosecond ?? 0) / 1_000_000
    )
  }
}
