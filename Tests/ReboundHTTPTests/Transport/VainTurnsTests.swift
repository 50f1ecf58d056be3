#if Curl
  import Testing

  @testable import ReboundHTTP

  @Suite("VainTurns")
  struct VainTurnsTests {
    @Test(
      "a loop rests in each turn behind 32 in vain, until it has waited or something has moved",
      arguments: [true, false]
    )
    func rests(hasMoved: Bool) {
      var turns = VainTurns()
      for _ in 0..<2 {
        let rests = (0..<100).map { _ in turns.end(hasMoved: false, hasWaited: false) }
        #expect(rests == Array(repeating: false, count: 32) + Array(repeating: true, count: 68))
        let restsBehind = turns.end(hasMoved: hasMoved, hasWaited: !hasMoved)
        #expect(!restsBehind)
      }
    }
  }
#endif
