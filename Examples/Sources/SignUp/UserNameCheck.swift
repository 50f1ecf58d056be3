/// What is known about the user name in the form.
enum UserNameCheck {
  /// The name is being typed; the server was not asked yet.
  case typing
  /// The server was asked.
  case checking
  /// The server answered, or could not.
  case answered(Answer)

  /// An answer and the name that it is for.
  struct Answer {
    let name: String
    let result: Result<Bool, APIError>

    var isOffline: Bool {
      if case .failure(let error) = result { error.isOffline } else { false }
    }
  }

  /// The answer, once there is one.
  var answer: Answer? {
    if case .answered(let answer) = self { answer } else { nil }
  }

  /// What stands beneath the field.
  ///
  /// While somebody types, being offline is not worth a message.
  var message: String {
    guard case .answered(let answer) = self else { return "" }
    switch answer.result {
    case .success(true): return ""
    case .success(false): return "This username is not available"
    case .failure(.transport): return ""
    case .failure(let error): return error.localizedDescription
    }
  }

  /// Whether the name may be submitted.
  ///
  /// While the server can't be asked, local rules decide.
  var isValid: Bool {
    guard case .answered(let answer) = self else { return false }
    switch answer.result {
    case .success(let isAvailable): return isAvailable
    case .failure(let error): return error.isOffline && LocalRules.allows(userName: answer.name)
    }
  }

  /// Whether the server said that the name is free.
  var isAvailable: Bool {
    if case .answered(let answer) = self, case .success(true) = answer.result { true } else { false }
  }

  var isChecking: Bool {
    if case .checking = self { true } else { false }
  }
}

/// The rules that the form knows without asking the server.
enum LocalRules {
  static let shortestPassword = 8

  static func allows(userName: String) -> Bool {
    userName.count > 3 && !userName.allSatisfy(\.isWhitespace)
  }

  static func objection(toPassword password: String) -> String {
    password.count < shortestPassword ? "Password must have at least \(shortestPassword) characters" : ""
  }
}
