import Combine
import Foundation
import SignUp

/// What the page draws: the state of the form as one value.
struct Screen: Encodable {
  struct Field: Encodable {
    let text: String
    let message: String
    let tone: String
    let isChecking: Bool
    let isEnabled: Bool
  }

  struct Button: Encodable {
    let id: String
    let title: String
    let role: String

    init(_ choice: Choice) {
      id = choice.id
      title = choice.title
      role = choice.role.rawValue
    }
  }

  struct ToastView: Encodable {
    let id: String
    let text: String
    let tone: String
  }

  struct BannerView: Encodable {
    let id: String
    let text: String
    let buttons: [Button]
  }

  struct AlertView: Encodable {
    let id: String
    let title: String
    let message: String
    let buttons: [Button]
  }

  struct FullScreenView: Encodable {
    let id: String
    let title: String
    let message: String
    let secondsLeft: Int
    let isRetrying: Bool
    let buttons: [Button]
  }

  struct AttemptView: Encodable {
    let id: Int
    let time: String
    let request: String
    let attempt: Int
    let outcome: String
    let tone: String
    let next: String
  }

  struct SignedUpView: Encodable {
    let userName: String
  }

  let revision: Int
  let fields: [String: Field]
  let canSubmit: Bool
  let isSubmitting: Bool
  let toast: ToastView?
  let banner: BannerView?
  let alert: AlertView?
  let fullScreen: FullScreenView?
  let attempts: [AttemptView]
  let signedUp: SignedUpView?

  /// Writes down nothing where there is nothing: every key is always there.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(revision, forKey: .revision)
    try container.encode(fields, forKey: .fields)
    try container.encode(canSubmit, forKey: .canSubmit)
    try container.encode(isSubmitting, forKey: .isSubmitting)
    try container.encode(toast, forKey: .toast)
    try container.encode(banner, forKey: .banner)
    try container.encode(alert, forKey: .alert)
    try container.encode(fullScreen, forKey: .fullScreen)
    try container.encode(attempts, forKey: .attempts)
    try container.encode(signedUp, forKey: .signedUp)
  }

  private enum CodingKeys: CodingKey {
    case revision, fields, canSubmit, isSubmitting, toast, banner, alert, fullScreen, attempts, signedUp
  }
}

extension Screen {
  init<Context: Scheduler>(_ model: SignUpViewModel<Context>, revision: Int) {
    self.revision = revision
    let isEnabled = !model.isSubmitting
    fields = [
      "userName": Field(
        text: model.userName,
        message: model.userNameMessage,
        isFine: model.isUserNameAvailable,
        isChecking: model.isCheckingUserName,
        isEnabled: isEnabled
      ),
      "password": Field(
        text: model.password,
        message: model.passwordMessage,
        isFine: !model.password.isEmpty,
        isEnabled: isEnabled
      ),
      "passwordConfirmation": Field(
        text: model.passwordConfirmation,
        message: model.confirmationMessage,
        isFine: !model.passwordConfirmation.isEmpty && model.passwordMessage.isEmpty,
        isEnabled: isEnabled
      ),
    ]
    canSubmit = model.canSubmit
    isSubmitting = model.isSubmitting
    toast = model.toast.map { ToastView(id: $0.id, text: $0.text, tone: $0.tone.rawValue) }
    banner =
      model.isInSync
      ? nil
      : BannerView(
        id: "sync",
        text: "Not in sync yet: the server can't be reached. The user name is checked when it can.",
        buttons: []
      )
    alert = model.alert.map {
      AlertView(id: $0.id, title: $0.title, message: $0.message, buttons: $0.choices.map(Button.init))
    }
    fullScreen = model.outage.map {
      FullScreenView(
        id: $0.id,
        title: $0.title,
        message: $0.message,
        secondsLeft: $0.secondsLeft,
        isRetrying: $0.isRetrying,
        buttons: $0.choices.map(Button.init)
      )
    }
    attempts = model.attempts.map {
      AttemptView(
        id: $0.id,
        time: $0.time.timeOfDay,
        request: $0.request,
        attempt: $0.number,
        outcome: $0.outcome,
        tone: $0.tone.rawValue,
        next: $0.next
      )
    }
    signedUp = model.account.map { SignedUpView(userName: $0.userName) }
  }
}

extension Screen.Field {
  init(text: String, message: String, isFine: Bool, isChecking: Bool = false, isEnabled: Bool) {
    self.init(
      text: text,
      message: message,
      tone: message.isEmpty ? (isFine ? "ok" : "none") : "error",
      isChecking: isChecking,
      isEnabled: isEnabled
    )
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
