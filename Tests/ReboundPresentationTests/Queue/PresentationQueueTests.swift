import Combine
import Dispatch
import Expectations
import Rebound
import ReboundPresentation
import ReboundTesting
import Testing

@Suite("PresentationQueue")
struct PresentationQueueTests {
  private let scheduler = TestScheduler()
  private let queue: PresentationQueue

  init() {
    let scheduler = scheduler
    queue = PresentationQueue(scheduler: scheduler)
  }

  private func alert(_ text: String) -> Presentation {
    .alert(Presentation.Message(title: text, text: text, choices: [.retry, .later]))
  }

  private func title(_ surface: KeyPath<PresentationQueue.Screen, PresentedItem?>) -> String? {
    queue.screen[keyPath: surface]?.message?.title
  }

  @Test("ten errors that say the same are one alert, which counts them")
  func tenErrors() {
    let ids = (1...10).map { _ in queue.present(Trouble.server, in: .action) }
    expectEqual(Set(ids).count, 1)
    expectEqual(queue.screen.alert?.count, 10)
    expectEqual(queue.waitingCount, 0)
  }

  @Test("one alert at a time; the most important of the others is next, then the oldest")
  func priorities() {
    queue.present(alert("a"))
    queue.present(alert("b"))
    queue.present(alert("c"), priority: 1)
    queue.present(alert("d"), priority: 1)
    var titles: [String] = []
    while let shown = queue.screen.alert {
      titles.append(shown.message?.title ?? "")
      queue.dismiss(shown.id)
    }
    expectEqual(titles, ["a", "c", "d", "b"])
  }

  @Test("what comes again as more important moves up in line; what is shown stays")
  func raisedPriority() {
    for text in ["a", "b", "c"] { queue.present(alert(text)) }
    queue.present(alert("d"), priority: 1)
    queue.present(alert("c"), priority: 2)
    // Less important than before changes nothing.
    queue.present(alert("d"))
    queue.present(alert("a"), priority: 3)
    var shown: [String] = []
    while let item = queue.screen.alert {
      shown.append("\(item.message?.title ?? "") \(item.priority) ×\(item.count)")
      queue.dismiss(item.id)
    }
    expectEqual(shown, ["a 3 ×2", "c 2 ×2", "d 1 ×2", "b 0 ×1"])
  }

  @Test("no more wait than may: the latest of the least important is dropped, told, and is news when it comes again")
  func bounded() {
    let queue = PresentationQueue(PresentationQueuePolicy(clamping: .seconds(5), maxWaiting: 2), scheduler: scheduler)
    var dropped: [String] = []
    let subscription = queue.onDrop.sink { dropped.append("\($0.message?.title ?? "") \(queue.waitingCount)") }
    defer { subscription.cancel() }
    for text in ["a", "b", "c"] { #expect(queue.present(alert(text)) != nil) }
    #expect(queue.present(alert("d")) == nil)
    expectEqual(queue.waitingCount, 2)
    #expect(queue.present(alert("e"), priority: 1) != nil)
    expectEqual(queue.waitingCount, 2)
    expectEqual(dropped, ["d 2", "c 2"])
    #expect(queue.present(.toast(.init(title: "a", text: ""))) != nil)
    var titles: [String] = []
    while let item = queue.screen.alert {
      titles.append(item.message?.title ?? "")
      queue.dismiss(item.id)
    }
    expectEqual(titles, ["a", "e", "b"])
    #expect(queue.present(alert("d")) != nil)
    expectEqual(queue.screen.alert?.message?.title, "d")
  }

  @Test("what is more important takes the place of a banner, which comes back after it")
  func bannerPriority() throws {
    queue.present(.banner(.init(title: "low", text: "")))
    let high = try #require(queue.present(.banner(.init(title: "high", text: "")), priority: 2))
    expectEqual(title(\.banner), "high")
    queue.dismiss(high)
    expectEqual(title(\.banner), "low")
  }

  @Test("surfaces do not wait for each other")
  func surfaces() {
    queue.present(Trouble.server, in: .refresh)
    queue.present(Trouble.server, in: .action)
    queue.present(Trouble.server, in: .firstLoad)
    queue.present(Trouble.signedOut, in: .refresh)
    queue.present(Trouble.offline, in: .refresh)
    queue.present(Trouble.taken, in: .action)
    let screen = queue.screen
    #expect(screen.toast != nil && screen.alert != nil && screen.fullScreen != nil)
    #expect(screen.signIn != nil && screen.banner != nil)
    expectEqual(screen.fields, ["userName": "This name is taken."])
  }

  @Test("what comes within the window after it was dismissed is merged, what comes later is shown")
  func window() throws {
    let first = try #require(queue.present(Trouble.server, in: .action))
    queue.dismiss(first)
    scheduler.advance(by: .milliseconds(4_999))
    expectEqual(queue.present(Trouble.server, in: .action), first)
    #expect(queue.screen.alert == nil)
    scheduler.advance(by: .milliseconds(1))
    let second = queue.present(Trouble.server, in: .action)
    #expect(second != first)
    expectEqual(queue.screen.alert?.id, second)
  }

  @Test("as long as an error is shown, what says the same is merged into it, however late it comes")
  func longShown() throws {
    let first = try #require(queue.present(Trouble.server, in: .action))
    scheduler.advance(by: 6)
    expectEqual(queue.present(Trouble.server, in: .action), first)
    expectEqual(queue.screen.alert?.count, 2)
    expectEqual(queue.waitingCount, 0)
  }

  @Test(
    "the window begins when an error is dismissed, however long it was shown; to dismiss it twice does not renew it"
  )
  func windowAfterLongTime() throws {
    let first = try #require(queue.present(Trouble.server, in: .action))
    scheduler.advance(by: 60)
    queue.dismiss(first)
    scheduler.advance(by: 4)
    expectEqual(queue.present(Trouble.server, in: .action), first)
    #expect(queue.screen.alert == nil)
    queue.dismiss(first)
    scheduler.advance(by: 1)
    #expect(queue.present(Trouble.server, in: .action) != first)
    #expect(queue.screen.alert != nil)
  }

  @Test("an error that comes again and again is told again after the window, though all in it were merged")
  func windowEndsWhileErrorsCome() throws {
    var told: [Int] = []
    for second in 0...12 {
      queue.present(Trouble.offline, in: .refresh)
      if let shown = queue.screen.banner {
        told.append(second)
        queue.dismiss(shown.id)
      }
      scheduler.advance(by: 1)
    }
    expectEqual(told, [0, 5, 10])
  }

  @Test("the window of a toast begins when it has gone by itself")
  func windowAfterToast() {
    queue.present(Trouble.server, in: .refresh)
    scheduler.advance(by: 6)
    #expect(queue.screen.toast == nil)
    scheduler.advance(by: .milliseconds(4_999))
    queue.present(Trouble.server, in: .refresh)
    #expect(queue.screen.toast == nil)
    scheduler.advance(by: .milliseconds(1))
    queue.present(Trouble.server, in: .refresh)
    #expect(queue.screen.toast != nil)
  }

  @Test("an error that comes again after a retry is shown again, however soon")
  func retryIsNews() throws {
    let first = try #require(queue.present(Trouble.server, in: .action))
    queue.choose(RecoveryChoice.retry.id, on: first)
    #expect(queue.screen.alert == nil)
    let second = queue.present(Trouble.server, in: .action)
    #expect(second != first)
    expectEqual(queue.screen.alert?.id, second)
  }

  @Test("who leaves an error for later has asked for nothing: it is no news within the window")
  func laterIsNoNews() throws {
    let first = try #require(queue.present(alert("a")))
    queue.choose(RecoveryChoice.later.id, on: first)
    #expect(queue.screen.alert == nil)
    expectEqual(queue.present(alert("a")), first)
    #expect(queue.screen.alert == nil)
  }

  @Test("being offline is one banner, not one per request, and goes when the network is back")
  func offlineOnce() {
    let ids = (1...5).map {
      queue.present(Trouble(errorDescription: "No network for request \($0).", isOffline: true), in: .refresh)
    }
    expectEqual(Set(ids).count, 1)
    expectEqual(queue.screen.banner?.count, 5)
    queue.networkIsBack()
    #expect(queue.screen.banner == nil)
    #expect(queue.present(Trouble.offline, in: .refresh) != ids[0])
    #expect(queue.screen.banner != nil)
  }

  @Test(
    "who has dismissed that there is no network is told again after the window: else nothing says why nothing works"
  )
  func offlineAfterDismissal() throws {
    let first = try #require(queue.present(Trouble.offline, in: .refresh))
    queue.dismiss(first)
    expectEqual(queue.present(Trouble.offline, in: .refresh), first)
    #expect(queue.screen.banner == nil)
    scheduler.advance(by: 5)
    #expect(queue.present(Trouble.offline, in: .action) != first)
    #expect(queue.screen.banner != nil)
  }

  @Test("dismissal goes by id, does the same twice, and never takes another one away")
  func dismissal() throws {
    let first = try #require(queue.present(alert("a")))
    let second = try #require(queue.present(alert("b")))
    queue.dismiss(first)
    queue.dismiss(first)
    expectEqual(queue.screen.alert?.id, second)
    queue.dismiss(999)
    expectEqual(queue.screen.alert?.id, second)
  }

  @Test("what waits can be dismissed before it is shown")
  func dismissWaiting() throws {
    queue.present(alert("a"))
    let waiting = try #require(queue.present(alert("b")))
    queue.dismiss(waiting)
    expectEqual(queue.waitingCount, 0)
    expectEqual(title(\.alert), "a")
  }

  @Test("a toast goes by itself, and the next one gets its whole time")
  func toasts() {
    queue.present(.toast(.init(title: "1", text: "")))
    scheduler.advance(by: 5)
    queue.present(.toast(.init(title: "2", text: "")))
    expectEqual(title(\.toast), "1")
    scheduler.advance(by: 1)
    expectEqual(title(\.toast), "2")
    scheduler.advance(by: .milliseconds(5_999))
    expectEqual(title(\.toast), "2")
    scheduler.advance(by: .milliseconds(1))
    #expect(queue.screen.toast == nil)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a toast that gives way to a more important one comes back for its whole time")
  func toastComesBack() {
    queue.present(.toast(.init(title: "low", text: "")))
    scheduler.advance(by: 3)
    queue.present(.toast(.init(title: "high", text: "")), priority: 1)
    scheduler.advance(by: .milliseconds(5_999))
    expectEqual(title(\.toast), "high")
    scheduler.advance(by: .milliseconds(1))
    expectEqual(title(\.toast), "low")
    scheduler.advance(by: .milliseconds(5_999))
    expectEqual(title(\.toast), "low")
    scheduler.advance(by: .milliseconds(1))
    #expect(queue.screen.toast == nil)
  }

  @Test("a toast that is dismissed leaves no timer behind")
  func toastTimer() throws {
    let id = try #require(queue.present(.toast(.init(title: "1", text: ""))))
    queue.dismiss(id)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a choice is told once, with what it was about; one that was not offered does nothing")
  func choices() throws {
    var chosen: [PresentationQueue.Choice] = []
    let subscription = queue.onChoice.sink { chosen.append($0) }
    let id = try #require(queue.present(Trouble.server, in: .action))
    queue.choose("upgrade", on: id)
    #expect(chosen.isEmpty && queue.screen.alert != nil)
    queue.choose("retry", on: id)
    queue.choose("retry", on: id)
    expectEqual(chosen.map(\.choice), [.retry])
    expectEqual(chosen.first?.item.id, id)
    withExtendedLifetime(subscription) {}
  }

  @Test("a maintenance that is reported again shows the latest countdown, not a second screen")
  func latestCountdown() {
    queue.present(Trouble.maintenance, in: .firstLoad)
    var again = Trouble.maintenance
    again.retryAfter = .seconds(3)
    queue.present(again, in: .firstLoad)
    expectEqual(queue.screen.fullScreen?.message?.retryAfter, .seconds(3))
    expectEqual(queue.waitingCount, 0)
  }

  @Test("what stands beside a field is replaced by the next, and cleared when it is typed into")
  func fields() {
    queue.present(.inline([FieldError(field: "a", message: "1"), FieldError(field: "b", message: "2")]))
    queue.present(.inline([FieldError(field: "a", message: "3")]))
    expectEqual(queue.screen.fields, ["a": "3", "b": "2"])
    queue.clear(field: "a")
    expectEqual(queue.screen.fields, ["b": "2"])
  }

  @Test("all that is wrong with a field stands beside it")
  func manyOfOneField() {
    queue.present(
      .inline([
        FieldError(field: "a", message: "Too short."), FieldError(field: "b", message: "Taken."),
        FieldError(field: "a", message: "Needs a digit."),
      ])
    )
    expectEqual(queue.screen.fields, ["a": "Too short. Needs a digit.", "b": "Taken."])
  }

  @Test("what is to be ignored changes nothing, and publishes nothing")
  func ignores() {
    var screens = 0
    let subscription = queue.$screen.dropFirst().sink { _ in screens += 1 }
    #expect(queue.present(CancellationError(), in: .action) == nil)
    expectEqual(screens, 0)
    withExtendedLifetime(subscription) {}
  }

  @Test("the screen as text")
  func rendered() {
    expectEqual(queue.screen.rendered, "")
    queue.present(Trouble.taken, in: .action)
    queue.present(.toast(.init(title: "Saved", text: "All is safe.")))
    expectEqual(queue.screen.rendered, "[toast] Saved\nAll is safe.\n[inline userName] This name is taken.")
  }

  @Test("keeps its order and loses nothing when eight threads use it")
  func threads() {
    let queue = PresentationQueue(
      PresentationQueuePolicy(clamping: .seconds(5), maxWaiting: 1_600),
      scheduler: scheduler
    )
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 1...200 { queue.present(.alert(.init(title: "\(thread)", text: "\(number)"))) }
    }
    var seen = Array(repeating: 0, count: 8)
    while let alert = queue.screen.alert, let message = alert.message {
      let (thread, number) = (Int(message.title) ?? 0, Int(message.text) ?? 0)
      expectEqual(seen[thread] + 1, number)
      seen[thread] = number
      queue.dismiss(alert.id)
    }
    expectEqual(seen, Array(repeating: 200, count: 8))
  }

  @Test("in a simulation, every toast is shown for its whole time, whoever asks for it when")
  func simulated() throws {
    try simulate(runs: 200) {
      let queue = PresentationQueue()
      for number in 1...4 {
        Task {
          try await TimeSource.current.sleep(for: .seconds(Int.random(in: 0...6)))
          queue.present(.toast(.init(title: "\(number)", text: "")))
        }
      }
      var shown: [(title: String?, begin: Duration)] = []
      for _ in 0..<120 {
        let title = queue.screen.toast?.message?.title
        if title != shown.last?.title { shown.append((title, TimeSource.current.now)) }
        try await TimeSource.current.sleep(for: .milliseconds(500))
      }
      try requireEqual(Set(shown.compactMap(\.title)).count, 4)
      try requireEqual(queue.waitingCount, 0)
      try requireEqual(queue.screen.toast, nil)
      for (toast, next) in zip(shown, shown.dropFirst()) where toast.title != nil {
        let lasted = next.begin - toast.begin
        try requireTrue(
          lasted >= PresentationQueuePolicy.standard.toastDuration - .milliseconds(500),
          "\(toast.title ?? ""): \(lasted)"
        )
      }
    }
  }
}
