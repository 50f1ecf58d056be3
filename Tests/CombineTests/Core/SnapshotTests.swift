import Combine
import Expectations
import ReboundTesting
import Testing

/// Sends values, so that a round has been walked before.
private func warmUp(_ subject: PassthroughSubject<Int, Never>) {
  for value in 1...2 { subject.send(value) }
}

@Suite("Subscribers that come, go and end while values go round")
struct SnapshotTests {
  @Test("who leaves a shared publisher from inside a value gets no more, and the others miss nothing")
  func leave() {
    let subject = PassthroughSubject<Int, Never>()
    let shared = subject.share()
    var received: [String] = []
    var subscriptions: [Int: AnyCancellable] = [:]
    for number in 0..<4 {
      subscriptions[number] = shared.sink { value in
        received.append("\(number):\(value)")
        if value == 3, number == 1 {
          subscriptions[1] = nil
          subscriptions[2] = nil
        }
      }
    }
    warmUp(subject)
    received = []
    for value in 3...4 { subject.send(value) }
    expectEqual(received, ["0:3", "1:3", "3:3", "0:4", "3:4"])
  }

  @Test("who comes to a shared publisher from inside a value gets the next one")
  func come() {
    let subject = PassthroughSubject<Int, Never>()
    let shared = subject.share()
    var received: [String] = []
    var subscriptions: [AnyCancellable] = []
    for number in 0..<2 {
      subscriptions.append(
        shared.sink { value in
          received.append("\(number):\(value)")
          guard value == 3, number == 0 else { return }
          subscriptions.append(shared.sink { received.append("new:\($0)") })
        }
      )
    }
    warmUp(subject)
    received = []
    for value in 3...5 { subject.send(value) }
    expectEqual(received, ["0:3", "1:3", "0:4", "1:4", "new:4", "0:5", "1:5", "new:5"])
  }

  @Test("subscribers of a shared publisher of several kinds are served in the order in which they came")
  func order() {
    let subject = PassthroughSubject<Int, Never>()
    let shared = subject.share()
    var received: [String] = []
    var subscriptions: [AnyCancellable] = []
    subscriptions.append(shared.sink { received.append("a\($0)") })
    subscriptions.append(shared.sink { received.append("b\($0)") })
    subscriptions.append(shared.map { $0 * 10 }.sink { received.append("c\($0)") })
    subscriptions.append(shared.map { $0 * 10 }.sink { received.append("d\($0)") })
    subscriptions.append(shared.eraseToAnyPublisher().sink { received.append("e\($0)") })
    subscriptions.append(shared.eraseToAnyPublisher().sink { received.append("f\($0)") })
    subscriptions.append(subject.sink { received.append("g\($0)") })
    subscriptions.append(subject.sink { received.append("h\($0)") })
    for value in 1...4 { subject.send(value) }
    let rounds = (1...4).map { "a\($0) b\($0) c\($0)0 d\($0)0 e\($0) f\($0) g\($0) h\($0)" }
    expectEqual(received.joined(separator: " "), rounds.joined(separator: " "))
  }

  @Test("a demand of one among shared subscribers who want everything is counted")
  func demand() {
    let subject = PassthroughSubject<Int, Never>()
    let shared = subject.share()
    var received: [Int] = []
    let sinks = (0..<2).map { _ in shared.sink { received.append($0) } }
    let recorders = (0..<2).map { _ in Recorder<Int, Never>(requesting: .max(1)) }
    for recorder in recorders { shared.subscribe(recorder) }
    warmUp(subject)
    expectEqual(recorders.map(\.values), [[1], [1]])
    for recorder in recorders { recorder.request(.unlimited) }
    for value in 3...5 { subject.send(value) }
    expectEqual(recorders.map(\.values), [[1, 3, 4, 5], [1, 3, 4, 5]])
    expectEqual(received, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    for sink in sinks { sink.cancel() }
  }

  /// Hands its subscribers to a subject, and can end them behind its back.
  private final class Interferer: Publisher {
    typealias Output = Int
    typealias Failure = Never

    let subject = PassthroughSubject<Int, Never>()
    private var ends: [() -> Void] = []

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      subject.subscribe(subscriber)
      ends.append { subscriber.receive(completion: .finished) }
    }

    func end() {
      for end in ends { end() }
    }
  }

  @Test("a sink that somebody ended behind its subject's back gets no value any more")
  func endedElsewhere() {
    let interferer = Interferer()
    var received: [Int] = []
    let subscriptions = (0..<3).map { _ in interferer.sink { received.append($0) } }
    warmUp(interferer.subject)
    interferer.end()
    interferer.subject.send(3)
    expectEqual(received, [1, 1, 1, 2, 2, 2])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("a sink of the caller's own, behind a shared publisher, stops when it is cancelled and lets its closures go")
  func ownSinks() {
    final class Captured {}
    let subject = PassthroughSubject<Int, Never>()
    let shared = subject.share()
    weak var captured: Captured?
    var received: [String] = []
    let sinks = { () -> [Subscribers.Sink<Int, Never>] in
      let object = Captured()
      captured = object
      return (0..<3).map { number in
        Subscribers.Sink(
          receiveCompletion: { _ in },
          receiveValue: { value in
            received.append("\(number):\(value)")
            withExtendedLifetime(object) {}
          }
        )
      }
    }()
    for sink in sinks { shared.subscribe(sink) }
    warmUp(subject)
    received = []
    sinks[1].cancel()
    subject.send(3)
    expectEqual(received, ["0:3", "2:3"])
    #expect(captured != nil)
    sinks[0].cancel()
    sinks[2].cancel()
    #expect(captured == nil)
  }

  @Test("shared sinks that leave while values go round are let go when the round ends")
  func release() {
    final class Captured {}
    let subject = PassthroughSubject<Int, Never>()
    let shared = subject.share()
    weak var captured: Captured?
    var wasAliveInside = false
    var subscriptions: [AnyCancellable] = []
    do {
      let object = Captured()
      captured = object
      for _ in 0..<3 {
        subscriptions.append(
          shared.sink { value in
            guard value == 3 else { return }
            subscriptions = []
            wasAliveInside = captured != nil
            withExtendedLifetime(object) {}
          }
        )
      }
    }
    warmUp(subject)
    subject.send(3)
    #expect(wasAliveInside)
    #expect(captured == nil)
  }
}
