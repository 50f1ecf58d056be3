import Attempts
import Combine
import Dispatch
import Foundation
import ReboundHTTP
import SignUp

/// The sign-up form behind its tab.
final class SignUpScene: Scene {
  let metrics: ClientMetrics
  let recorder: RunRecorder
  private let log: AttemptLog<DispatchQueue>
  private let makeModel: () -> SignUpViewModel<DispatchQueue>
  private let changed: () -> Void
  private var model: SignUpViewModel<DispatchQueue>
  private var changes: AnyCancellable?

  init(services: Services, metrics: ClientMetrics, queue: DispatchQueue, changed: @escaping () -> Void) {
    self.metrics = metrics
    let recorder = RunRecorder(lines: metrics.lines)
    self.recorder = recorder
    let service = AuthenticationService(
      baseURL: services.backend,
      transport: services.transport,
      metrics: metrics.sink,
      lines: metrics.lines,
      onEvent: recorder.write
    )
    let log = AttemptLog(scheduler: queue, source: Tab.signUp.rawValue, events: metrics.events, lines: metrics.lines)
    self.log = log
    makeModel = { SignUpViewModel(service: service, log: log, scheduler: queue) }
    self.changed = changed
    model = makeModel()
    watch()
  }

  var screen: any Encodable { SignUpScreen(model) }
  var runs: [RecordedRun] { log.runs }

  func perform(_ action: SignUpAction) {
    switch action {
    case .edit(.userName, let text): model.userName = text
    case .edit(.password, let text): model.password = text
    case .edit(.passwordConfirmation, let text): model.passwordConfirmation = text
    case .submit: model.submit()
    case .press(let press) where press.surface == "signedUp": startOver()
    case .press(let press): model.choose(press.button, on: press.id)
    }
  }

  func inSwift(_ run: RecordedRun, _ exchanges: RunRecorder.Exchanges) -> RequestInSwift? {
    RequestInSwift(signUp: run.request, exchanges)
  }

  private func startOver() {
    model = makeModel()
    watch()
    changed()
  }

  private func watch() {
    changes = model.objectWillChange.sink { [changed] in changed() }
  }
}

extension RequestInSwift {
  /// The check of a user name, or a sign-up, whose password is not kept: the recording answers whatever it is.
  ///
  /// - Parameters:
  ///   - request: As it was written down: "GET /isUserNameAvailable?userName=abc", "POST /signUp".
  ///   - exchanges: What went over the network for it.
  init?(signUp request: String, _ exchanges: RunRecorder.Exchanges) {
    module = "SignUp"
    service = "AuthenticationService(baseURL: recorded.baseURL, transport: recorded.transport)"
    if let userName = Self.query(of: request)["userName"] {
      name = "user name check"
      call = "isAvailable(userName: \(userName.debugDescription))"
      policy = "RetryPolicy.userNameCheck()"
      return
    }
    let sent = exchanges.entries.first?["request"]
    let body = Data((sent?["postData"]?["text"]?.string ?? "").utf8)
    let key = sent?["headers"]?.elements?.first { $0["name"] == .string("Idempotency-Key") }?["value"]?.string
    guard let userName = (try? JSONDecoder().decode(JSONValue.self, from: body))?["userName"]?.string, let key else {
      return nil
    }
    let password = Redaction.standard.replacement
    name = "sign-up"
    call = """
      signUp(userName: \(userName.debugDescription), password: \(password.debugDescription), \
      idempotencyKey: \(key.debugDescription))
      """
  }
}
