import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("map with key paths")
struct MapKeyPathTests {
  private struct Place: Equatable {
    var x = 1
    var y = "two"
    var z = 3.0
  }

  @Test("one property of each value is published, and demand, answers and the end pass as they are")
  func oneProperty() {
    let upstream = TestPublisher<Place, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    let publisher: Publishers.MapKeyPath<TestPublisher<Place, TestFailure>, Int> = upstream.map(\.x)
    publisher.subscribe(recorder)

    expectEqual(upstream.send(Place(x: 4)), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(publisher.keyPath, \Place.x)
    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [4])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("two properties are published as a pair")
  func twoProperties() {
    let upstream = TestPublisher<Place, Never>()
    let recorder = Recorder<(Int, String), Never>(answering: { _, _ in .max(3) })
    let publisher = upstream.map(\.x, \.y)
    publisher.subscribe(recorder)

    expectEqual(upstream.send(Place(x: 4, y: "five")), .max(3))
    upstream.send(completion: .finished)

    expectEqual(publisher.keyPath0, \Place.x)
    expectEqual(publisher.keyPath1, \Place.y)
    expectEqual(recorder.values.map(\.0), [4])
    expectEqual(recorder.values.map(\.1), ["five"])
    #expect(recorder.isFinished)
  }

  @Test("three properties are published as a triple")
  func threeProperties() {
    let upstream = TestPublisher<Place, Never>()
    let recorder = Recorder<(Int, String, Double), Never>(answering: { _, _ in .max(3) })
    let publisher = upstream.map(\.x, \.y, \.z)
    publisher.subscribe(recorder)

    expectEqual(upstream.send(Place()), .max(3))
    upstream.send(completion: .finished)

    expectEqual(publisher.keyPath2, \Place.z)
    expectEqual(recorder.values.map(\.0), [1])
    expectEqual(recorder.values.map(\.1), ["two"])
    expectEqual(recorder.values.map(\.2), [3.0])
    #expect(recorder.isFinished)
  }

  @Test("the upstream's own subscription and every event pass, and the mirror shows the key paths")
  func laws() {
    PassThroughLaws.check(named: "ValueForKey", children: ["keyPath"]) { $0.map(\.description) }
    PassThroughLaws.check(named: "ValueForKeys", children: ["keyPath0", "keyPath1"]) {
      $0.map(\.description, \.magnitude)
    }
    PassThroughLaws.check(named: "ValueForKeys", children: ["keyPath0", "keyPath1", "keyPath2"]) {
      $0.map(\.description, \.magnitude, \.bitWidth)
    }
  }
}
