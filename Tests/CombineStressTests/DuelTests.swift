import Combine
import Expectations
import Foundation
import ReboundTesting
import Synchronization
import Testing

/// Two or three things that must not happen in a bad order, done at the same moment again and again.
@Suite("Duels", .serialized)
struct DuelTests {
  private let crew = RaceCrew(size: 3)
  private let rounds = StressSettings.rounds * 20

  @Test("a trigger that fires while a prefix is subscribed to does not end it before its subscription")
  func prefixUntilOutput() {
    let tracker = LifetimeTracker()
    for round in 0..<rounds {
      let upstream = PassthroughSubject<Parcel, StressFailure>()
      let notifier = PassthroughSubject<Int, StressFailure>()
      let keeper = LawKeeper([.demand, .mayEndUnannounced], asksInside: false)
      keeper.request(.unlimited)
      let hasReturned = crew.run([
        {
          // Whoever takes a subscription may take its time.
          upstream.prefix(untilOutputFrom: notifier).map { $0 }.handleEvents(receiveSubscription: { _ in sched_yield() }
          )
          .subscribe(keeper)
        },
        {
          for number in 0..<6 { notifier.send(number) }
        },
        { upstream.send(Parcel(source: 0, sender: 0, number: 0, tracked: tracker.make())) },
      ])
      notifier.send(6)
      #expect(hasReturned && keeper.breaches.isEmpty && keeper.hasEnded, "round \(round): \(keeper.breaches)")
      guard hasReturned, keeper.breaches.isEmpty else { return }
    }
    expectEqual(tracker.count, 0)
  }

  @Test("a future that is fulfilled while it is subscribed to and cancelled gives each subscriber one value or none")
  func future() {
    let tracker = LifetimeTracker()
    for round in 0..<rounds {
      let keepers = (0..<3).map { _ in LawKeeper(.all, asksInside: false) }
      weak var released: Future<Parcel, StressFailure>?
      do {
        var promise: Future<Parcel, StressFailure>.Promise?
        let future = Future<Parcel, StressFailure> { promise = $0 }
        released = future
        let fulfil = promise
        promise = nil
        future.subscribe(keepers[0])
        let hasReturned = crew.run([
          {
            keepers[0].request(.max(1))
            keepers[1].cancel()
          },
          {
            future.subscribe(keepers[1])
            keepers[1].request(.max(1))
          },
          {
            fulfil?(.success(Parcel(source: 0, sender: 0, number: round, tracked: tracker.make())))
            future.subscribe(keepers[2])
            keepers[2].request(.unlimited)
          },
        ])
        #expect(hasReturned && keepers[0].valueCount == 1 && keepers[2].valueCount == 1 && keepers[1].valueCount <= 1)
      }
      let breaches = keepers.flatMap(\.breaches)
      #expect(breaches.isEmpty && released == nil, "round \(round): \(breaches)")
      guard breaches.isEmpty, released == nil else { return }
    }
    expectEqual(tracker.count, 0)
  }

  @Test("a published property tells a subscriber that comes meanwhile every later value in order")
  func published() {
    final class Model {
      @Published var number = 0
    }
    for round in 0..<rounds {
      let model = Model()
      let recorder = Recorder<Int, Never>()
      let hasReturned = crew.run([
        {
          for number in 1...8 { model.number = number }
        },
        { model.$number.subscribe(recorder) },
      ])
      let values = recorder.values
      recorder.cancel()
      #expect(hasReturned && values == Array((values.first ?? -1)...8), "round \(round): \(values)")
    }
  }

  @Test("an AnyCancellable that several threads cancel stops its activity once")
  func cancellable() {
    for _ in 0..<rounds {
      let stops = Counter()
      let cancellable = AnyCancellable { stops.count.add(1, ordering: .relaxed) }
      let cancel = { cancellable.cancel() }
      #expect(crew.run([cancel, cancel, cancel]))
      expectEqual(stops.count.load(ordering: .relaxed), 1)
    }
  }

  @Test("a sink that is cancelled while values come lets its closures go, though it is kept itself")
  func sink() {
    for round in 0..<rounds {
      let tracker = LifetimeTracker()
      let subject = PassthroughSubject<Int, Never>()
      let captured = tracker.make()
      let sink = Subscribers.Sink<Int, Never>(receiveCompletion: { _ in }, receiveValue: { _ in captured.touch() })
      subject.subscribe(sink)
      let hasReturned = crew.run([
        {
          for number in 0..<4 { subject.send(number) }
        },
        { sink.cancel() },
      ])
      subject.send(4)
      // The test itself holds one reference to what it captured.
      #expect(hasReturned && tracker.count == 1, "round \(round)")
      withExtendedLifetime((sink, captured)) {}
    }
  }

  @Test("a shared publisher that all leave while others come is connected as long as somebody listens")
  func share() {
    for round in 0..<rounds {
      let subject = PassthroughSubject<Int, Never>()
      let connections = Counter()
      let shared = subject.handleEvents(
        receiveSubscription: { _ in connections.count.add(1, ordering: .relaxed) },
        receiveCancel: { connections.count.subtract(1, ordering: .relaxed) }
      ).share()
      let recorders = (0..<3).map { _ in Recorder<Int, Never>() }
      let hasReturned = crew.run(
        recorders.map { recorder in
          {
            shared.subscribe(recorder)
            recorder.cancel()
          }
        }
      )
      #expect(hasReturned && connections.count.load(ordering: .relaxed) == 0, "round \(round)")
    }
  }

  /// A number that threads change.
  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
  }
}
