import Expectations

#if Curl
  import Testing

  @testable import ReboundHTTP

  @Suite("SpinDetector")
  struct SpinDetectorTests {
    @Test(
      "a loop rests in each turn behind 32 in vain, until it has waited or something has moved",
      arguments: [true, false]
    )
    func rests(hasMoved: Bool) {
      var detector = SpinDetector()
      for _ in 0..<2 {
        let rests = (0..<100).map { _ in detector.end(hasMoved: false, hasWaited: false) }
        expectEqual(rests, Array(repeating: false, count: 32) + Array(repeating: true, count: 68))
        let restsBehind = detector.end(hasMoved: hasMoved, hasWaited: !hasMoved)
        #expect(!restsBehind)
      }
    }
  }
#endif
