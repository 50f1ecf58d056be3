import Dispatch
import Foundation
import ReboundTesting
import Synchronization
import Testing

@testable import Combine

@Suite("A combining lock")
struct CombiningLockTests {
  /// Unchecked, because a combining lock is a lock, whose state is atomic.
  private final class Place: @unchecked Sendable {
    let combiningLock = CombiningLock()
    let message = Atomic<Bool>(false)
    let count = Atomic<Int>(0)
  }

  /// Runs the jobs at the same moment, and returns when all have.
  private func race(_ jobs: [@Sendable () -> Void]) {
    let ready = Atomic<Int>(0)
    let count = jobs.count
    DispatchQueue.concurrentPerform(iterations: count) { index in
      ready.add(1, ordering: .sequentiallyConsistent)
      // Those that came late would race with nobody; there may be fewer processors than jobs.
      var patience = 100_000
      while ready.load(ordering: .relaxed) < count, patience > 0 { patience -= 1 }
      jobs[index]()
    }
  }

  @Test("who is inside can enter again, and the combining lock is free when it has left as often")
  func recursion() {
    let combiningLock = CombiningLock()
    combiningLock.enter()
    let once = combiningLock.isMine && combiningLock.isOutermost
    combiningLock.enter()
    let thrice = combiningLock.tryEnter() && !combiningLock.isOutermost
    let isFreeEarly = combiningLock.leave() || combiningLock.leave()
    let onceAgain = combiningLock.isMine && combiningLock.isOutermost
    let isFree = combiningLock.leave() && !combiningLock.isMine
    let anew = combiningLock.tryEnter() && combiningLock.leave()
    #expect(once && thrice && !isFreeEarly && onceAgain && isFree && anew)
  }

  @Test("another thread does not get in before the combining lock is left, and gets in afterwards")
  func exclusion() {
    let place = Place()
    // Not `sync`, which runs on the calling thread.
    let other = DispatchQueue(label: "other")
    let done = DispatchSemaphore(value: 0)
    let gotIn = Atomic<Bool>(false)
    for _ in 0..<3 {
      place.combiningLock.enter()
      other.async {
        gotIn.store(place.combiningLock.isMine || place.combiningLock.tryEnter(), ordering: .relaxed)
        done.signal()
        place.combiningLock.pass { place.count.store(1, ordering: .relaxed) }
        done.signal()
      }
      done.wait()
      #expect(!gotIn.load(ordering: .relaxed) && place.count.load(ordering: .relaxed) == 0)
      place.combiningLock.leave()
      done.wait()
      let isFree = place.combiningLock.tryEnter()
      place.combiningLock.leave()
      #expect(isFree && place.count.exchange(0, ordering: .relaxed) == 1)
    }
  }

  @Test("of threads that all enter again and again, one is inside at a time, and all come through")
  func many() {
    for _ in 0..<20 {
      let place = Place()
      let hasOverlapped = Atomic<Bool>(false)
      race(
        (0..<4).map { _ in
          {
            for _ in 0..<500 {
              place.combiningLock.enter()
              // Not an atomic addition: two inside at once would lose one.
              let before = place.count.load(ordering: .relaxed)
              place.combiningLock.pass {
                if place.message.exchange(true, ordering: .relaxed) { hasOverlapped.store(true, ordering: .relaxed) }
                place.message.store(false, ordering: .relaxed)
              }
              place.count.store(before + 1, ordering: .relaxed)
              place.combiningLock.leave()
            }
          }
        }
      )
      #expect(place.count.load(ordering: .relaxed) == 2_000 && !hasOverlapped.load(ordering: .relaxed))
    }
  }

  @Test("who finds the combining lock taken is heard by the one inside after it has left")
  func messages() {
    for round in 0..<2_000 {
      let place = Place()
      let answer: @Sendable () -> Void = {
        while place.message.load(ordering: .sequentiallyConsistent), place.combiningLock.tryEnter() {
          if place.message.exchange(false, ordering: .sequentiallyConsistent) {
            place.count.add(1, ordering: .relaxed)
          }
          place.combiningLock.leave()
        }
      }
      race([
        {
          for _ in 0..<20 {
            place.combiningLock.enter()
            place.combiningLock.leave()
            answer()
          }
        },
        {
          for _ in 0..<(round % 20) { place.count.store(0, ordering: .relaxed) }
          place.message.store(true, ordering: .sequentiallyConsistent)
          answer()
        },
      ])
      // Nobody comes after the two: one of them has it.
      #expect(place.count.load(ordering: .relaxed) == 1 && !place.message.load(ordering: .relaxed))
    }
  }
}
