import Combine
import SignUp

/// What the page draws of the sign-up form.
struct SignUpScreen: Encodable {
  struct Field: Encodable {
    let text: String
    let message: String
    let tone: String
    let isChecking: Bool
    let isEnabled: Bool
  }

  struct SignedUpView: Encodable {
    let userName: String
  }

  let fields: [String: Field]
  let canSubmit: Bool
  let isSubmitting: Bool
  let signedUp: SignedUpView?
  let surfaces: Surfaces

  /// Writes down nothing where there is nothing: every key is always there.
  func encode(to encoder: any Encoder) throws {
    try surfaces.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(fields, forKey: .fields)
    try container.encode(canSubmit, forKey: .canSubmit)
    try container.encode(isSubmitting, forKey: .isSubmitting)
    try container.encode(signedUp, forKey: .signedUp)
  }

  private enum CodingKeys: CodingKey {
    case fields, canSubmit, isSubmitting, signedUp
  }
}

extension SignUpScreen {
  init<Context: Scheduler>(_ model: SignUpViewModel<Context>) {
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
    surfaces = Surfaces(model)
    signedUp = model.account.map { SignedUpView(userName: $0.userName) }
  }
}

extension SignUpScreen.Field {
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

extension Surfaces {
  fileprivate init<Context: Scheduler>(_ model: SignUpViewModel<Context>) {
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
      AlertView(id: $0.id, title: $0.title, message: $0.message, buttons: $0.choices.map(ButtonView.init))
    }
    fullScreen = model.outage.map {
      FullScreenView(
        id: $0.id,
        title: $0.title,
        message: $0.message,
        secondsLeft: $0.secondsLeft,
        isRetrying: $0.isRetrying,
        buttons: $0.choices.map(ButtonView.init)
      )
    }
    attempts = model.attempts.map(AttemptView.init)
  }
}
