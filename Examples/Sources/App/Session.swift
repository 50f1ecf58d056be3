import Dispatch
import Foundation
import WebServer

/// One browser page and the apps behind it.
///
/// Unchecked: everything but the constants is touched on `queue` only, which is to the apps what the main queue is on a
/// phone.
final class Session: @unchecked Sendable {
  private struct State: Encodable {
    let revision: Int
    let tab: Tab
    let client: ClientTotals
    let screen: any Encodable

    private enum CodingKeys: CodingKey {
      case revision, tab, client, screen
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(revision, forKey: .revision)
      try container.encode(tab, forKey: .tab)
      try container.encode(client, forKey: .client)
      try container.encode(screen, forKey: .screen)
    }
  }

  private let queue = DispatchQueue(label: "session")
  private let services: Services
  private let timer: any ServerTimer
  private let onAbandoned: @Sendable () -> Void

  /// What each app's client has measured.
  private var metrics: [Tab: ClientMetrics] = [:]
  private lazy var inspection = Inspection(
    queue: queue,
    timer: timer,
    apps: Tab.allCases.map { ($0, metrics(of: $0)) }
  ) { [weak self] lines in
    guard let self else { return }
    for stream in streams.values { stream.send(event: "inspect", data: lines) }
  }

  // Each app is made when its tab is first shown.
  private lazy var signUp = SignUpScene(services: services, metrics: metrics(of: .signUp), queue: queue) {
    [weak self] in self?.drawSoon()
  }
  private lazy var weather = WeatherScene(services: services, metrics: metrics(of: .weather), queue: queue) {
    [weak self] in self?.drawSoon()
  }
  private lazy var animals = AnimalsScene(services: services, metrics: metrics(of: .animals), queue: queue) {
    [weak self] in self?.drawSoon()
  }

  private var tab = Tab.signUp
  private var revision = 0
  private var isDrawingDue = false
  private var streams: [ObjectIdentifier: EventStream] = [:]
  /// Counts the times of waiting; the time that began last counts.
  private var waits = 0

  /// How long a session waits for its page to come back.
  private static let patience = Duration.seconds(60)

  /// Makes a session.
  ///
  /// - Parameters:
  ///   - services: What its apps ask.
  ///   - timer: Measures how long it waits for its page to come back.
  ///   - onAbandoned: Called when no page has listened for a minute.
  init(services: Services, timer: any ServerTimer, onAbandoned: @escaping @Sendable () -> Void) {
    self.services = services
    self.timer = timer
    self.onAbandoned = onAbandoned
    queue.async { [self] in waitForPage() }
  }

  /// A stream of states for a page, beginning with the present one.
  func open() -> EventStream {
    let stream = EventStream(capacity: 32, overflow: .dropOldestOfSameName)
    stream.onClose { [weak self, weak stream] in
      guard let self, let stream else { return }
      queue.async { self.close(stream) }
    }
    queue.async { [self] in
      waits += 1
      streams[ObjectIdentifier(stream)] = stream
      draw(on: [stream])
      inspection.hasPage = true
    }
    return stream
  }

  /// Does what a person did.
  func perform(_ action: Action) {
    queue.async { [self] in
      switch action {
      case .show(let tab):
        self.tab = tab
        drawSoon()
      case .inspect(let isOpen): inspection.isOpen = isOpen
      case .signUp(let action): signUp.perform(action)
      case .weather(let input): weather.perform(input)
      case .animals(let input): animals.perform(input)
      case .fault, .clearFaults, .order: break
      }
    }
  }

  /// The file from which another page can replay what happened to the animals.
  func recording() async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in continuation.resume(with: Result { try animals.recording() }) }
    }
  }

  /// The failure of a request of an app, as a test.
  func test(ofRun run: Int, of app: Tab, calls: Set<String>) async throws -> SavedRun {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in
        continuation.resume(with: Result { try scene(of: app).test(ofRun: run, calls: calls) })
      }
    }
  }

  private func scene(of app: Tab) -> any Scene {
    switch app {
    case .signUp: signUp
    case .weather: weather
    case .animals: animals
    }
  }

  private func metrics(of app: Tab) -> ClientMetrics {
    if let known = metrics[app] { return known }
    let new = makeMetrics(of: app)
    metrics[app] = new
    return new
  }

  private func makeMetrics(of app: Tab) -> ClientMetrics {
    ClientMetrics(app: app, program: services.metrics) { [weak self] in
      guard let self else { return }
      queue.async { self.drawSoon() }
    }
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
    let scene = scene(of: tab)
    let state = State(revision: revision, tab: tab, client: scene.metrics.totals, screen: scene.screen)
    // A screen is made of texts and numbers, which can always be written down; nothing is sent if that were not so.
    guard !streams.isEmpty, let data = try? JSONEncoder().encode(state) else { return }
    let text = String(decoding: data, as: UTF8.self)
    for stream in streams { stream.send(event: "state", data: text) }
  }

  private func close(_ stream: EventStream) {
    streams[ObjectIdentifier(stream)] = nil
    guard streams.isEmpty else { return }
    inspection.hasPage = false
    waitForPage()
  }

  private func waitForPage() {
    waits += 1
    let wait = waits
    timer.run(after: Self.patience) { [weak self] in
      guard let self else { return }
      queue.async {
        if wait == self.waits { self.onAbandoned() }
      }
    }
  }
}
