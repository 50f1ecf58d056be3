import Attempts
import Combine
import Foundation
import Rebound

/// The sign-up form: what is typed goes in, what a person sees comes out.
///
/// All of it happens on one scheduler, which stands for the main queue: set and call from there, and read there. Tests
/// give it virtual time.
public final class SignUpViewModel<Context: Scheduler>: ObservableObject {
  // MARK: What is typed

  /// The user name, checked by the server whenever the typing pauses.
  @Published public var userName = ""
  /// The password.
  @Published public var password = ""
  /// The password again.
  @Published public var passwordConfirmation = ""

  // MARK: What is seen

  /// What stands beneath the user name.
  @Published public private(set) var userNameMessage = ""
  /// Whether the server, or local rules while it can't be asked, accept the user name.
  @Published public private(set) var isUserNameValid = false
  /// Whether the user name is known to be free.
  @Published public private(set) var isUserNameAvailable = false
  /// Whether the server is being asked about the user name.
  @Published public private(set) var isCheckingUserName = false
  /// Whether what is seen is known to the server.
  @Published public private(set) var isInSync = true
  /// What the server had against the password.
  @Published public private(set) var passwordReason = ""
  /// Whether the account is being made.
  @Published public private(set) var isSubmitting = false
  /// The account, once it is made.
  @Published public private(set) var account: Account?
  /// A message that goes by itself.
  @Published public private(set) var toast: Toast?
  /// A message to decide about.
  @Published public private(set) var alert: Alert?
  /// Whether the message to decide about asks for an update, since an answer can't be understood.
  public var showUpdateDialog: Bool { alert?.choices.contains { $0.id == Self.upgrade } ?? false }
  /// A failure in place of the form.
  @Published public private(set) var outage: Outage?
  /// The requests sent, oldest first, and what came of them.
  public var attempts: [Attempt] { log.attempts }

  // MARK: How it works

  private let service: any Authenticating
  private let scheduler: Context
  private let policy: RetryPolicy<APIError>
  private let log: AttemptLog<Context>
  private let makeKey: () -> String

  private let rechecks = PassthroughSubject<String, Never>()
  private let checksBegun = PassthroughSubject<Void, Never>()
  private let refusals = PassthroughSubject<UserNameCheck.Answer, Never>()

  /// What was submitted; a retry sends this, whatever the fields hold by then.
  private struct Wish {
    let userName: String
    let password: String
    let key: String
  }

  private var askedName: String?
  private var lastAnswer: UserNameCheck.Answer?
  /// Whether the alert about the last answer came up, if it calls for one.
  private var isLastAnswerTold = false
  private var offlineChecks = 0
  private var wish: Wish?
  private var idempotencyKey: String?
  private var lastID = 0

  private var subscriptions: Set<AnyCancellable> = []
  private var recheck: AnyCancellable?
  private var submission: AnyCancellable?
  private var countdown: AnyCancellable?
  private var toastTimer: AnyCancellable?

  /// Makes an empty form.
  ///
  /// - Parameters:
  ///   - service: The server.
  ///   - log: Writes down what is sent.
  ///   - scheduler: Where everything happens and by which it is timed; serial, like the main queue.
  ///   - policy: When a failed check is tried again.
  ///   - makeKey: Makes a new idempotency key.
  public init(
    service: any Authenticating,
    log: AttemptLog<Context>,
    scheduler: Context,
    policy: RetryPolicy<APIError> = .userNameCheck(),
    makeKey: @escaping () -> String = { UUID().uuidString }
  ) {
    self.service = service
    self.log = log
    self.scheduler = scheduler
    self.policy = policy
    self.makeKey = makeKey
    log.objectWillChange.sink { [weak self] in self?.objectWillChange.send() }.store(in: &subscriptions)
    bindUserName()
    bindPasswords()
  }

  private func bindUserName() {
    // The value at the start was not typed.
    let edits = $userName.dropFirst()

    let answers =
      edits
      .debounce(for: .milliseconds(800), scheduler: scheduler)
      .removeDuplicates()
      .handleEvents(receiveOutput: { [weak self] _ in self?.checksBegun.send() })
      .merge(with: rechecks)
      .map { [weak self] name in self?.check(name) ?? Empty().eraseToAnyPublisher() }
      .switchToLatest()
      .merge(with: refusals)
      // The account that was made has taken the name: what is said of it from then on is no news.
      .filter { [weak self] _ in self?.account == nil }
      .handleEvents(receiveOutput: { [weak self] answer in self?.keep(answer) })

    // An answer that comes in the pause after an edit is one to an older name: it is kept, not shown.
    let shownAnswers = answers.filter { [weak self] in $0.name == self?.userName }

    let checks = edits.map { [weak self] name in self?.stateAfterEdit(to: name) ?? .typing }
      .merge(with: checksBegun.map { .checking }, shownAnswers.map { .answered($0) })
      .share()

    checks.map(\.message).assign(to: &$userNameMessage)
    checks.map(\.isValid).assign(to: &$isUserNameValid)
    checks.map(\.isAvailable).assign(to: &$isUserNameAvailable)
    checks.map(\.isChecking).assign(to: &$isCheckingUserName)
    checks.compactMap(\.answer).sink { [weak self] in self?.tell($0) }.store(in: &subscriptions)
  }

  private func bindPasswords() {
    $password.dropFirst()
      .sink { [weak self] _ in
        self?.passwordReason = ""
        self?.forgetWish()
      }
      .store(in: &subscriptions)
  }

  /// What is known about a name that was just typed: a return to the name last asked for asks no new question.
  private func stateAfterEdit(to name: String) -> UserNameCheck {
    forgetWish()
    recheck = nil
    guard name == askedName else { return .typing }
    guard let lastAnswer, lastAnswer.name == name else { return .checking }
    if lastAnswer.isOffline || !isInSync { recheckLater(name) }
    return .answered(lastAnswer)
  }

  private func check(_ name: String) -> AnyPublisher<UserNameCheck.Answer, Never> {
    askedName = name
    let query = URLComponents.queryValue(name)
    return log.writingDown(
      "GET /isUserNameAvailable?userName=\(query)",
      service.isAvailable(userName: name),
      retrying: policy,
      success: { $0 ? "200 available" : "200 taken" },
      failure: \.outcome
    )
    .asResult()
    .map { UserNameCheck.Answer(name: name, result: $0) }
    .eraseToAnyPublisher()
  }

  /// Takes a new answer, which may be one to an older name: a return to that name asks no new question.
  private func keep(_ answer: UserNameCheck.Answer) {
    askedName = answer.name
    lastAnswer = answer
    isLastAnswerTold = false
    isInSync = !answer.isOffline
    if !answer.isOffline { offlineChecks = 0 }
    if answer.name == userName, answer.isOffline { recheckLater(answer.name) }
  }

  /// Raises the alert about the last answer, once: a return to the name that it was about is no news.
  private func tell(_ answer: UserNameCheck.Answer) {
    guard !isLastAnswerTold else { return }
    isLastAnswerTold = true
    switch answer.result {
    case .failure(.decoding): showUpdateAlert()
    case .failure(.captivePortal): showCaptivePortalAlert()
    default: break
    }
  }

  /// Asks again after a while, ever less often, as long as the name stays and the server can't be reached.
  private func recheckLater(_ name: String) {
    let delays = [1, 2, 3, 5]
    let seconds = delays[min(offlineChecks, delays.count - 1)]
    offlineChecks += 1
    recheck = Just(name)
      .delay(for: .seconds(seconds), scheduler: scheduler)
      .sink { [weak self] in self?.rechecks.send($0) }
  }

  // MARK: Submitting

  /// What stands beneath the password.
  public var passwordMessage: String {
    guard passwordReason.isEmpty else { return passwordReason }
    return password.isEmpty ? "" : LocalRules.objection(toPassword: password)
  }

  /// What stands beneath the repeated password.
  public var confirmationMessage: String {
    passwordConfirmation.isEmpty || passwordConfirmation == password ? "" : "The passwords do not match"
  }

  /// Whether every rule holds, so that the form can be sent.
  public var canSubmit: Bool {
    isUserNameValid && !password.isEmpty && passwordMessage.isEmpty && passwordConfirmation == password
      && !isSubmitting && outage == nil && account == nil
  }

  /// Makes the account.
  public func submit() {
    guard canSubmit else { return }
    toast = nil
    // The same wish keeps its key, so that a repetition is not taken for a second account.
    let key = idempotencyKey ?? makeKey()
    idempotencyKey = key
    send(Wish(userName: userName, password: password, key: key))
  }

  private func send(_ wish: Wish) {
    isSubmitting = true
    self.wish = wish
    submission = log.writingDown(
      "POST /signUp",
      service.signUp(userName: wish.userName, password: wish.password, idempotencyKey: wish.key),
      success: { _ in "201 account made" },
      failure: \.outcome
    )
    .sink(
      receiveCompletion: { [weak self] in self?.submissionEnded($0, of: wish) },
      receiveValue: { [weak self] in self?.account = $0 }
    )
  }

  /// A changed form is another wish: it gets another key, and nothing is tried again for the one before.
  private func forgetWish() {
    idempotencyKey = nil
    if outage != nil { leaveOutage() }
  }

  private func submissionEnded(_ completion: Subscribers.Completion<APIError>, of wish: Wish) {
    isSubmitting = false
    guard case .failure(let error) = completion else {
      isInSync = true
      outage = nil
      recheck = nil
      return
    }
    // Who may have done it was reached.
    isInSync = !error.isOffline || error.mayBeDone
    if case .server(_, let reason, let retryAfter?) = error {
      showOutage(reason: reason, for: retryAfter)
      return
    }
    outage = nil
    switch error {
    case .transport where error.mayBeDone:
      // Asked now, the server might call the name taken, by this very account, and the wish could not be sent again.
      recheck = nil
      showToast(
        "No answer came, so it is not known whether your account was made. Check your connection and submit again; "
          + "it is not made twice.",
        tone: .error
      )
    case .transport:
      recheckLater(userName)
      showToast("You are offline: your account was not made. Connect to the internet and submit again.", tone: .error)
    case .validation(let reason) where reason.lowercased().contains("password"):
      passwordReason = reason
    case .validation where wish.userName == userName:
      refusals.send(UserNameCheck.Answer(name: userName, result: .failure(error)))
    case .decoding:
      showUpdateAlert()
    case .captivePortal:
      showCaptivePortalAlert()
    case .server, .validation, .invalidRequest, .invalidResponse:
      showToast(error.localizedDescription, tone: .error)
    }
  }

  // MARK: Surfaces

  private func nextID(_ prefix: String) -> String {
    lastID += 1
    return "\(prefix)\(lastID)"
  }

  /// Shows a message for a while.
  public func showToast(_ text: String, tone: Toast.Tone) {
    toast = Toast(id: nextID("toast"), text: text, tone: tone)
    toastTimer = Just(())
      .delay(for: .seconds(10), scheduler: scheduler)
      .sink { [weak self] in self?.toast = nil }
  }

  private static var upgrade: String { "upgrade" }

  private func showUpdateAlert() {
    alert = Alert(
      id: nextID("alert"),
      title: "Please update",
      message: "The server's answer has a form that this version of the app does not know.",
      choices: [
        Choice(id: Self.upgrade, title: "Upgrade", role: .default),
        Choice(id: "later", title: "Not now", role: .cancel),
      ]
    )
  }

  private func showCaptivePortalAlert() {
    alert = Alert(
      id: nextID("alert"),
      title: "Log in to this network",
      message: APIError.captivePortal.localizedDescription,
      choices: [
        Choice(id: "recheck", title: "Try again", role: .default), Choice(id: "later", title: "Not now", role: .cancel),
      ]
    )
  }

  private func showOutage(reason: String?, for pause: Duration) {
    // A server that asks for no pause, or for one that is over, gets one all the same.
    let seconds = max(1, Int(pause.components.seconds) + (pause.components.attoseconds > 0 ? 1 : 0))
    outage = Outage(
      // As long as it fails like this it is one outage, whose buttons stay what they are.
      id: outage?.id ?? nextID("outage"),
      title: "Down for maintenance",
      message: "\(reason ?? "The server can't make accounts right now"). Nothing that you typed is lost.",
      secondsLeft: seconds,
      choices: [
        Choice(id: "retry", title: "Try again now", role: .default),
        Choice(id: "back", title: "Back to the form", role: .cancel),
      ]
    )
    countdown = AnyCancellable(
      scheduler.schedule(after: scheduler.now.advanced(by: .seconds(1)), interval: .seconds(1)) { [weak self] in
        self?.tick()
      }
    )
  }

  private func tick() {
    guard let secondsLeft = outage?.secondsLeft, countdown != nil else { return }
    outage?.secondsLeft = secondsLeft - 1
    if secondsLeft <= 1 { retrySubmission() }
  }

  private func retrySubmission() {
    guard let wish else { return }
    countdown = nil
    // The error stays on the screen and shows progress, so that nothing flickers if it comes again.
    outage?.isRetrying = true
    send(wish)
  }

  private func leaveOutage() {
    countdown = nil
    submission = nil
    isSubmitting = false
    outage = nil
  }

  /// Takes the choice that a person made about what is shown; one about something that is gone is ignored.
  public func choose(_ choice: String, on surface: String) {
    if alert?.id == surface {
      alert = nil
      switch choice {
      case Self.upgrade: showToast("On a phone, the App Store would open now.", tone: .info)
      case "recheck": rechecks.send(userName)
      default: break
      }
    } else if outage?.id == surface {
      switch choice {
      case "retry" where outage?.isRetrying == false: retrySubmission()
      case "back": leaveOutage()
      default: break
      }
    } else if toast?.id == surface {
      toast = nil
    }
  }
}

extension URLComponents {
  /// Text as it stands in a query.
  fileprivate static func queryValue(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
  }
}
