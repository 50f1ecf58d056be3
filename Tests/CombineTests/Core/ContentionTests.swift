import Dispatch
import Expectations
import ReboundTesting
import Synchronization
import Testing

@testable import Combine

@Suite("Threads that meet at combining locks")
struct ContentionTests {
  /// Unchecked, because a combining lock is a lock, whose state is atomic.
  private final class Place: @unchecked Sendable {
    let combiningLock = CombiningLock()
    // Changed only inside the combining lock.
    var notes: [String] = []
    var count = 0

    /// Enters, or delegates; says whether it entered.
    @discardableResult
    func visit(_ body: @escaping () -> Void) -> Bool {
      guard combiningLock.enterIfFree() else {
        if combiningLock.delegate({ self.visit(body) }) { combiningLock.leave() }
        return false
      }
      body()
      combiningLock.leave()
      return true
    }
  }

  /// Lets each thread into a combining lock of its own, and when all are inside, on to the next one's.
  private func circle(of places: [Place], _ goOn: @escaping (Int, Place) -> Void) -> Bool {
    let areInside = places.map { _ in Signal() }
    return RaceCrew(size: places.count).run(
      places.indices.map { index in
        {
          places[index].combiningLock.pass {
            areInside[index].send()
            let next = (index + 1) % places.count
            #expect(areInside[next].wait())
            areInside[next].send()
            goOn(index, places[next])
          }
        }
      }
    )
  }

  @Test("in a circle nobody waits, and who is inside does what the others came for before it leaves", arguments: 2...5)
  func circles(count: Int) {
    for _ in 0..<50 {
      let places = (0..<count).map { _ in Place() }
      let areDone = circle(of: places) { index, next in next.visit { next.notes.append("\(index)") } }
      #expect(areDone)
      for (index, place) in places.enumerated() { expectEqual(place.notes, ["\((index + count - 1) % count)"]) }
    }
  }

  @Test("who has to wait in a circle comes through as long as one delegates", arguments: 2...4)
  func oneDelegates(count: Int) {
    for round in 0..<50 {
      let places = (0..<count).map { _ in Place() }
      let areDone = circle(of: places) { index, next in
        if index == round % count {
          next.visit { next.notes.append("") }
        } else {
          next.combiningLock.pass { next.notes.append("") }
        }
      }
      #expect(areDone)
      for place in places { expectEqual(place.notes, [""]) }
    }
  }

  /// Runs `other` on a second thread while the first is inside, and then `own` on the first, still inside.
  private func meet(at place: Place, _ other: @escaping () -> Void, own: @escaping () -> Void) -> Bool {
    let (isInside, isDone) = (Signal(), Signal())
    return RaceCrew(size: 2).run([
      {
        place.combiningLock.pass {
          isInside.send()
          #expect(isDone.wait())
          own()
        }
      },
      {
        #expect(isInside.wait())
        other()
        isDone.send()
      },
    ])
  }

  @Test("what is delegated is done in order, and not overtaken by the one inside")
  func order() {
    let place = Place()
    var entered: [Bool] = []
    var hasDelegated: [Bool] = []
    let areDone = meet(at: place) {
      for note in ["first", "second"] { entered.append(place.visit { place.notes.append(note) }) }
    } own: {
      hasDelegated.append(place.combiningLock.hasDelegated)
      entered.append(
        place.visit {
          place.notes.append("third")
          // Nothing that is delegated is left.
          entered.append(place.visit { place.notes.append("inside") })
        }
      )
    }
    hasDelegated.append(place.combiningLock.hasDelegated)
    #expect(areDone)
    expectEqual(entered, [false, false, false, true])
    expectEqual(hasDelegated, [true, false])
    expectEqual(place.notes, ["first", "second", "third", "inside"])
  }

  @Test("what is delegated from inside what was delegated comes last")
  func orderInside() {
    let place = Place()
    let areDone = meet(at: place) {
      place.visit {
        place.visit { place.notes.append("third") }
        place.notes.append("first")
      }
      place.visit { place.notes.append("second") }
    } own: {
    }
    #expect(areDone)
    expectEqual(place.notes, ["first", "second", "third"])
  }

  @Test("who wants to delegate when the other one has just left does it itself, and is inside")
  func lateDelegation() {
    let place = Place()
    var isMine = false
    let mustLeave = place.combiningLock.delegate { isMine = place.combiningLock.isMine }
    let isOnceInside = place.combiningLock.isOutermost
    let isFree = place.combiningLock.leave() && !place.combiningLock.isMine
    #expect(mustLeave && isMine && isOnceInside && isFree)
  }

  @Test("of threads that come again and again, waiting or not, one is inside at a time, and nothing is lost")
  func many() {
    let place = Place()
    let areDone = RaceCrew(size: 4).run(
      (0..<4).map { thread in
        {
          for number in 0..<1_000 {
            // Not an atomic addition: two inside at once would lose one.
            if (thread + number).isMultiple(of: 3) {
              place.combiningLock.pass { place.count += 1 }
            } else {
              place.visit { place.visit { place.count += 1 } }
            }
          }
        }
      }
    )
    #expect(areDone && place.count == 4_000)
    let isAnythingLeft = place.combiningLock.hasDelegated
    #expect(!isAnythingLeft)
  }

  @Test(
    "threads that go from combining lock to combining lock in any order all come through, one at a time",
    arguments: 1...20
  )
  func anyOrder(seed: UInt64) {
    let places = (0..<3).map { _ in Place() }
    let sent = Atomic<Int>(0)
    func go(_ numbers: Shared<SeededRandom>, _ depth: Int) {
      let place = numbers.change { places[Int.random(in: 0..<places.count, using: &$0)] }
      sent.add(1, ordering: .relaxed)
      place.visit {
        // Not an atomic addition: two inside at once would lose one.
        let before = place.count
        place.count = before + 1
        if depth < 3 { go(numbers, depth + 1) }
      }
    }
    let areDone = RaceCrew(size: 3).run(
      (0..<3).map { thread in
        let numbers = Shared(SeededRandom(seed: seed * 3 + UInt64(thread)))
        return { for _ in 0..<500 { go(numbers, 0) } }
      }
    )
    #expect(areDone && places.reduce(0) { $0 + $1.count } == sent.load(ordering: .relaxed))
    expectEqual(sent.load(ordering: .relaxed), 3 * 500 * 4)
  }
}
