import Foundation
import Rebound

/// Says how a person gets to see an error: the one place where that is decided.
///
/// A pure function. It asks in this order, and the first answer counts:
///
/// | the error | what was going on | how it is shown |
/// |---|---|---|
/// | is a cancel | | not at all |
/// | says that the program is too old | | alert with "Upgrade" and "Not now" |
/// | names fields | | beside them |
/// | needs a new sign-in | | sign-in |
/// | is that there is no network | typing | not at all |
/// | | nothing to look at | full screen |
/// | | otherwise | banner |
/// | any | typing | beside the field |
/// | is a maintenance, and asks to come back later | a refresh of what is there | banner |
/// | | otherwise | full screen |
/// | any | nothing to look at | full screen |
/// | | an action | alert |
/// | | a refresh, the first to fail | toast, and the content stays |
/// | | a refresh, not the first to fail | banner, and the content stays |
///
/// "Try again" is offered unless the error says that it can't help. What asks to come back later has a countdown to the
/// next try, unless that can't help, or must not be made without being asked for (`RetryAfterProviding.mayBeRepeated`): then
/// "Try again" is offered in any case, since only a person can know. Only an error that says so is a maintenance
/// (``PresentableError/isMaintenance``): a server that is asked too often, with an HTTP 429, is well, and so may it be when
/// a limit or a breaker of this program refuses (`RetryAfterProviding.isRefusal`).
public func present(_ error: any Error, in context: PresentationContext) -> Presentation {
  let presentable = error as? any PresentableError
  if error is CancellationError || presentable?.isCancellation == true { return .ignore }
  let composer = MessageComposer(error, presentable)
  if presentable?.mustUpdate == true {
    return .alert(composer.message(.update, "Please update", choices: [.upgrade, .later]))
  }
  if let inline = inline(presentable?.fieldErrors ?? [], context) { return inline }
  if presentable?.needsSignIn == true {
    return .signIn(composer.message(.signIn, "Please sign in", choices: [.signIn, .later]))
  }
  let isTyping = context.field != nil && !context.isUserInitiated
  if presentable?.isOffline ?? context.isOffline || (context.isOffline && presentable?.isRetryable == true) {
    if isTyping { return .ignore }
    let message = composer.message(.offline, "You are offline", choices: composer.retry)
    return context.hasContent ? .banner(message) : .fullScreen(message)
  }
  if isTyping { return .inline([FieldError(field: context.field, message: composer.words.description)]) }
  var (choices, pause): ([RecoveryChoice], Duration?) = (composer.retry, nil)
  if let hint = error as? any RetryAfterProviding, let retryAfter = hint.retryAfter, retryAfter > .zero {
    if !hint.mayBeRepeated { choices = [.retry] }
    pause = hint.mayBeRepeated && !choices.isEmpty ? retryAfter : nil
    if presentable?.isMaintenance == true, !hint.isRefusal {
      let message = composer.message(.maintenance, "Down for maintenance", choices: choices, retryAfter: pause)
      if !context.hasContent { return .fullScreen(message) }
      // What hides content needs a way back to it.
      return context.isUserInitiated ? .fullScreen(composer.answerable(message)) : .banner(message)
    }
  }
  let message = composer.message(.failure, "That did not work", choices: choices, retryAfter: pause)
  if !context.hasContent { return .fullScreen(message) }
  if context.isUserInitiated { return .alert(composer.answerable(message)) }
  return context.attempt > 1 ? .banner(message) : .toast(message)
}

/// What stands beside fields: with no field of its own, an error belongs to the one that was being checked.
private func inline(_ errors: [FieldError], _ context: PresentationContext) -> Presentation? {
  let placed = errors.map { FieldError(field: $0.field ?? context.field, message: $0.message) }
  guard !placed.isEmpty, placed.allSatisfy({ $0.field != nil }) else { return nil }
  return .inline(placed)
}

/// Puts the words of an error together.
private struct MessageComposer {
  let words: ErrorWords
  private let error: any Error
  private let presentable: (any PresentableError)?

  init(_ error: any Error, _ presentable: (any PresentableError)?) {
    words = ErrorWords(of: error)
    self.error = error
    self.presentable = presentable
  }

  /// What helps by itself.
  var retry: [RecoveryChoice] { presentable?.isRetryable == false ? [] : [.retry] }

  func message(
    _ topic: Presentation.Message.Topic,
    _ title: String,
    choices: [RecoveryChoice],
    retryAfter: Duration? = nil
  ) -> Presentation.Message {
    let unplaced = (presentable?.fieldErrors ?? []).map(\.message)
    let options = (error as? any RecoverableError).map(RecoveryChoice.options) ?? []
    return Presentation.Message(
      topic: topic,
      title: title,
      text: unplaced.isEmpty ? words.text : unplaced.joined(separator: " "),
      suggestion: words.suggestion,
      choices: options + (presentable?.choices ?? []) + choices,
      retryAfter: retryAfter
    )
  }

  /// With a way out, which an alert needs.
  func answerable(_ message: Presentation.Message) -> Presentation.Message {
    guard !message.choices.contains(where: { $0.role == .cancel }) else { return message }
    return Presentation.Message(
      topic: message.topic,
      title: message.title,
      text: message.text,
      suggestion: message.suggestion,
      choices: message.choices + [message.choices.isEmpty ? .ok : .later],
      retryAfter: message.retryAfter
    )
  }
}
