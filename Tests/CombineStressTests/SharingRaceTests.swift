import Combine
import Expectations
import Foundation
import ReboundTesting
import Synchronization
import Testing

/// One upstream for many, connected and left by any thread.
@Suite("Connections while threads race", .serialized)
struct SharingRaceTests {
  private let crew = RaceCrew(size: 3)
  private let rounds = StressSettings.rounds * 5

  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
  }

  private func counted(_ subject: PassthroughSubject<Int, Never>, _ connections: Counter) -> AnyPublisher<Int, Never> {
    subject.handleEvents(
      receiveSubscription: { _ in connections.add(1) },
      receiveCompletion: { _ in connections.add(-1) },
      receiveCancel: { connections.add(-1) }
    )
    .eraseToAnyPublisher()
  }

  @Test("connections that are made and cancelled by several threads are all closed in the end")
  func connect() {
    for round in 0..<rounds {
      let subject = PassthroughSubject<Int, Never>()
      let connections = Counter()
      let connectable = counted(subject, connections).makeConnectable()
      let recorder = Recorder<Int, Never>()
      let hasReturned = crew.run([
        {
          let connection = connectable.connect()
          subject.send(1)
          connection.cancel()
        },
        {
          let connection = connectable.connect()
          connection.cancel()
          connection.cancel()
        },
        {
          connectable.subscribe(recorder)
          subject.send(2)
        },
      ])
      #expect(hasReturned && connections.value == 0, "round \(round): \(connections.value)")
      let (count, last) = (recorder.values.count, connectable.connect())
      subject.send(3)
      last.cancel()
      subject.send(4)
      #expect(recorder.values.dropFirst(count) == [3] && connections.value == 0, "round \(round): \(recorder.values)")
      recorder.cancel()
    }
  }

  @Test("multicast makes its subject once, though several threads come first")
  func multicast() {
    for round in 0..<rounds {
      let subject = PassthroughSubject<Int, Never>()
      let made = Counter()
      let multicast = subject.multicast {
        made.add(1)
        return CurrentValueSubject<Int, Never>(0)
      }
      let recorders = (0..<2).map { _ in Recorder<Int, Never>() }
      let connection = Kept()
      let hasReturned = crew.run([
        { multicast.subscribe(recorders[0]) },
        { multicast.subscribe(recorders[1]) },
        { connection.cancellable = multicast.connect() },
      ])
      subject.send(1)
      #expect(hasReturned && made.value == 1 && recorders.map(\.values) == [[0, 1], [0, 1]], "round \(round)")
      connection.cancellable?.cancel()
      for recorder in recorders { recorder.cancel() }
    }
  }

  /// Written by one thread, read when all are done.
  private final class Kept {
    var cancellable: (any Cancellable)?
  }

  @Test("autoconnect is connected exactly while somebody listens, though threads come, leave and see the end")
  func autoconnect() {
    for round in 0..<rounds {
      let subject = PassthroughSubject<Int, Never>()
      let connections = Counter()
      let shared = counted(subject, connections).makeConnectable().autoconnect()
      let recorders = (0..<3).map { _ in Recorder<Int, Never>() }
      let hasReturned = crew.run([
        {
          shared.subscribe(recorders[0])
          subject.send(1)
          recorders[0].cancel()
        },
        {
          shared.subscribe(recorders[1])
          recorders[1].cancel()
          shared.subscribe(recorders[1])
        },
        {
          shared.subscribe(recorders[2])
          if round.isMultiple(of: 2) { subject.send(completion: .finished) }
          recorders[2].cancel()
        },
      ])
      let isListening = round.isMultiple(of: 2) ? 0 : 1
      #expect(hasReturned && connections.value == isListening, "round \(round): \(connections.value)")
      recorders[1].cancel()
      expectEqual(connections.value, 0, "round \(round)")
    }
  }

  @Test("a subject that is sent through others while it goes cancels what feeds it")
  func feeds() {
    for round in 0..<rounds {
      let source = PassthroughSubject<Int, Never>()
      let cancels = Counter()
      weak var released: PassthroughSubject<Int, Never>?
      do {
        let subject = PassthroughSubject<Int, Never>()
        released = subject
        let feeds = (0..<2).map { _ in Kept() }
        let recorder = Recorder<Int, Never>()
        let feed = source.handleEvents(receiveCancel: { cancels.add(1) })
        let hasReturned = crew.run([
          { feeds[0].cancellable = feed.subscribe(subject) },
          { feeds[1].cancellable = feed.subscribe(subject) },
          { subject.subscribe(recorder) },
        ])
        source.send(1)
        #expect(hasReturned && recorder.values == [1, 1], "round \(round): \(recorder.values)")
        recorder.cancel()
        let leaving = crew.run([
          { feeds[0].cancellable?.cancel() },
          { feeds[1].cancellable?.cancel() },
          { source.send(2) },
        ])
        #expect(leaving)
      }
      source.send(3)
      #expect(released == nil && cancels.value == 2, "round \(round): \(cancels.value)")
    }
  }

  @Test("notifications that several threads post reach a subscriber one at a time, and none once it has gone")
  func notifications() {
    let name = Notification.Name("race")
    for round in 0..<rounds {
      let center = NotificationCenter()
      let keeper = LawKeeper([.demand], asksInside: false)
      keeper.request(.unlimited)
      let parcels = LifetimeTracker()
      let parcel = Parcel(source: 0, sender: 0, number: 0, tracked: parcels.make())
      center.publisher(for: name).map { _ in parcel }.setFailureType(to: StressFailure.self).subscribe(keeper)
      let hasReturned = crew.run([
        { for _ in 0..<4 { center.post(name: name, object: nil) } },
        { for _ in 0..<4 { center.post(name: name, object: nil) } },
        { if round.isMultiple(of: 2) { keeper.cancel() } },
      ])
      let count = keeper.valueCount
      #expect(hasReturned && (round.isMultiple(of: 2) ? count <= 8 : count == 8), "round \(round): \(count)")
      keeper.cancel()
      center.post(name: name, object: nil)
      #expect(keeper.valueCount == count && keeper.breaches.isEmpty, "round \(round): \(keeper.breaches)")
    }
  }

  @Test("a repeating job that is cancelled while it runs is not run again, on any scheduler")
  func repetition() {
    for round in 0..<rounds / 10 + 1 {
      let operations = OperationQueue()
      let queue = DispatchQueue(label: "repetition")
      let ticks = Counter()
      let jobs = [
        operations.schedule(after: operations.now, interval: .nanoseconds(100)) { ticks.add(1) },
        queue.schedule(after: queue.now, interval: .nanoseconds(100)) { ticks.add(1) },
      ]
      #expect(crew.run(jobs.map { job in { job.cancel() } } + [{ jobs[0].cancel() }]))
      operations.waitUntilAllOperationsAreFinished()
      queue.sync {}
      let count = ticks.value
      operations.waitUntilAllOperationsAreFinished()
      queue.sync {}
      expectEqual(ticks.value, count, "round \(round)")
    }
  }

  @Test("a timer that is connected and left by several threads keeps nobody")
  func timer() {
    let timers = RunLoop.main
    for round in 0..<rounds / 10 + 1 {
      weak var released: Timer.TimerPublisher?
      do {
        let timer = Timer.TimerPublisher(interval: 1_000_000, runLoop: timers, mode: .common)
        released = timer
        let recorders = (0..<2).map { _ in Recorder<Date, Never>() }
        let hasReturned = crew.run([
          {
            timer.subscribe(recorders[0])
            recorders[0].cancel()
          },
          { timer.subscribe(recorders[1]) },
          { timer.connect().cancel() },
        ])
        #expect(hasReturned)
        recorders[1].cancel()
      }
      #expect(released == nil, "round \(round)")
    }
  }
}
