import Dispatch
import ReboundTesting
import Synchronization
import Testing

@testable import Combine

@Suite("Threads that would wait for each other at combining locks")
struct WaitForGraphTests {
  /// Unchecked, because a combining lock is a lock, whose state is atomic.
  private final class Place: @unchecked Sendable {
    let combiningLock = CombiningLock()
    // Changed only inside the combining lock.
    var notes: [String] = []
    var count = 0

    /// Enters, or delegates; says whether it entered.
    @discardableResult
    func visit(_ body: @escaping () -> Void) -> Bool {
      guard combiningLock.enterUnlessDeadlocked() else {
        combiningLock.delegate { self.visit(body) }
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

  @Test("one turns back, and who is inside does what it came for before it leaves", arguments: 2...5)
  func turningBack(count: Int) {
    for _ in 0..<50 {
      let places = (0..<count).map { _ in Place() }
      let turned = Shared(0)
      let areDone = circle(of: places) { index, next in
        let entered = next.visit { next.notes.append("\(index)") }
        if !entered { turned.change { $0 += 1 } }
      }
      #expect(areDone && turned.value == 1)
      for (index, place) in places.enumerated() { #expect(place.notes == ["\((index + count - 1) % count)"]) }
    }
  }

  @Test("who can't turn back is waited for no longer than it takes another one to do so", arguments: 2...4)
  func chosen(count: Int) {
    for round in 0..<50 {
      let places = (0..<count).map { _ in Place() }
      let turnsBack = Shared<Bool?>(nil)
      let areDone = circle(of: places) { index, next in
        if index == round % count {
          turnsBack.value = !next.visit { next.notes.append("") }
        } else {
          next.combiningLock.pass { next.notes.append("") }
        }
      }
      #expect(areDone && turnsBack.value == true)
      for place in places { #expect(place.notes == [""]) }
    }
  }

  @Test("what is delegated is done in order, and not overtaken by the one inside")
  func order() {
    let (own, other) = (Place(), Place())
    let (isInside, isThere) = (Signal(), Signal())
    var entered: [Bool] = []
    var settled: [Bool] = []
    let areDone = RaceCrew(size: 2).run([
      {
        own.combiningLock.pass {
          isInside.send()
          #expect(isThere.wait())
          // Can't back off: the other thread has to.
          other.combiningLock.pass {}
          settled.append(own.combiningLock.hasDelegated)
          entered.append(
            own.visit {
              own.notes.append("third")
              // Nothing that is delegated is left.
              entered.append(own.visit { own.notes.append("inside") })
            }
          )
        }
        settled.append(own.combiningLock.hasDelegated)
      },
      {
        other.combiningLock.pass {
          isThere.send()
          #expect(isInside.wait())
          for note in ["first", "second"] { entered.append(own.visit { own.notes.append(note) }) }
        }
      },
    ])
    #expect(areDone)
    #expect(entered == [false, false, false, true])
    #expect(settled == [true, false])
    #expect(own.notes == ["first", "second", "third", "inside"])
  }

  @Test("what is delegated from inside what was delegated comes last")
  func orderInside() {
    let (own, other) = (Place(), Place())
    let (isInside, isThere) = (Signal(), Signal())
    let areDone = RaceCrew(size: 2).run([
      {
        own.combiningLock.pass {
          isInside.send()
          #expect(isThere.wait())
          other.combiningLock.pass {}
        }
      },
      {
        other.combiningLock.pass {
          isThere.send()
          #expect(isInside.wait())
          own.visit {
            own.visit { own.notes.append("third") }
            own.notes.append("first")
          }
          own.visit { own.notes.append("second") }
        }
      },
    ])
    #expect(areDone)
    #expect(own.notes == ["first", "second", "third"])
  }

  @Test("nobody turns back who waits for a thread that does not wait")
  func noCircle() {
    let place = Place()
    let turned = Shared(0)
    let areDone = RaceCrew(size: 3).run(
      (0..<3).map { _ in
        {
          for _ in 0..<1_000 where !place.visit({ place.visit { place.count += 1 } }) { turned.change { $0 += 1 } }
        }
      }
    )
    #expect(areDone && turned.value == 0 && place.count == 3_000)
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
    #expect(sent.load(ordering: .relaxed) == 3 * 500 * 4)
  }
}
