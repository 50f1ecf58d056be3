import Combine
import Dispatch
import SignUp

/// The sign-up form behind its tab.
final class SignUpScene: Scene {
  let metrics: ClientMetrics
  private let makeModel: () -> SignUpViewModel<DispatchQueue>
  private let changed: () -> Void
  private var model: SignUpViewModel<DispatchQueue>
  private var changes: AnyCancellable?

  init(services: Services, metrics: ClientMetrics, queue: DispatchQueue, changed: @escaping () -> Void) {
    self.metrics = metrics
    let service = services.authentication(reportingTo: metrics.sink)
    makeModel = { SignUpViewModel(service: service, scheduler: queue, events: metrics.events, lines: metrics.lines) }
    self.changed = changed
    model = makeModel()
    watch()
  }

  var screen: any Encodable { SignUpScreen(model) }

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

  private func startOver() {
    model = makeModel()
    watch()
    changed()
  }

  private func watch() {
    changes = model.objectWillChange.sink { [changed] in changed() }
  }
}
