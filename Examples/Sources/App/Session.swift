import Combine
import Dispatch
import Foundation
import SignUp
import WebServer

/// One browser page and the view model behind it.
///
/// Unchecked: everything but the constants is touched on `queue` only, which is to the view model what the main queue
/// is on a phone.
final class Session: @unchecked Sendable {
  private let queue = DispatchQueue(label: "session")
  private let makeModel: (DispatchQueue) -> SignUpViewModel<DispatchQueue>
  private let onAbandoned: @Sendable () -> Void

  private var model: SignUpViewModel<DispatchQueue>
  private var changes: AnyCancellable?
  private var revision = 0
  private var isDrawingDue = false
  private var streams: [ObjectIdentifier: EventStream] = [:]
  private var abandonment: DispatchWorkItem?

  /// How long a session waits for its page to come back.
  private static let patience = DispatchTimeInterval.seconds(60)

  /// Makes a session.
  ///
  /// - Parameters:
  ///   - makeModel: Makes the view model, on the queue that it is given.
  ///   - onAbandoned: Called when no page has listened for a minute.
  init(
    makeModel: @escaping (DispatchQueue) -> SignUpViewModel<DispatchQueue>,
    onAbandoned: @escaping @Sendable () -> Void
  ) {
    self.makeModel = makeModel
    self.onAbandoned = onAbandoned
    let queue = queue
    model = queue.sync { makeModel(queue) }
    queue.async { [self] in
      watch()
      waitForPage()
    }
  }

  /// A stream of states for a page, beginning with the present one.
  func open() -> EventStream {
    let stream = EventStream(capacity: 8, overflow: .dropOldestOfSameName)
    stream.onClose { [weak self, weak stream] in
      guard let self, let stream else { return }
      queue.async { self.close(stream) }
    }
    queue.async { [self] in
      abandonment?.cancel()
      streams[ObjectIdentifier(stream)] = stream
      draw(on: [stream])
    }
    return stream
  }

  /// Does what a person did.
  func perform(_ action: Action) {
    queue.async { [self] in
      switch action {
      case .edit(.userName, let text): model.userName = text
      case .edit(.password, let text): model.password = text
      case .edit(.passwordConfirmation, let text): model.passwordConfirmation = text
      case .submit: model.submit()
      case .press("signedUp", _, _): startOver()
      case .press(_, let surface, let button): model.choose(button, on: surface)
      case .fault, .clearFaults: break
      }
    }
  }

  private func startOver() {
    model = makeModel(queue)
    watch()
    drawSoon()
  }

  private func watch() {
    changes = model.objectWillChange.sink { [weak self] in self?.drawSoon() }
  }

  /// Draws once all changes of this turn are made: the signal comes before each of them.
  private func drawSoon() {
    guard !isDrawingDue else { return }
    isDrawingDue = true
    queue.async { [weak self] in
      guard let self else { return }
      isDrawingDue = false
      draw(on: Array(streams.values))
    }
  }

  private func draw(on streams: [EventStream]) {
    revision += 1
    // A screen is made of texts and numbers, which can always be written down; nothing is sent if that were not so.
    guard !streams.isEmpty, let data = try? JSONEncoder().encode(Screen(model, revision: revision)) else { return }
    let text = String(decoding: data, as: UTF8.self)
    for stream in streams { stream.send(event: "state", data: text) }
  }

  private func close(_ stream: EventStream) {
    streams[ObjectIdentifier(stream)] = nil
    if streams.isEmpty { waitForPage() }
  }

  private func waitForPage() {
    abandonment?.cancel()
    let item = DispatchWorkItem { [onAbandoned] in onAbandoned() }
    abandonment = item
    queue.asyncAfter(deadline: .now() + Self.patience, execute: item)
  }
}
