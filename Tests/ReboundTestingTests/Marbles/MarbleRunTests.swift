import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Marbles that differ")
struct MarbleRunTests {
  private func mismatch(_ body: () throws -> Void) -> MarbleMismatch? {
    #expect(throws: MarbleMismatch.self, performing: body)
  }

  @Test("are shown one above the other, with a mark under the first difference")
  func aligned() {
    let line = #line + 2
    let mismatch = mismatch {
      try expect {
        "a-#"
        $0.retry(.constant(.ticks(3)), times: 1, time: $1.time)
        "a---a-#"
      }
    }
    expectEqual(mismatch?.location.line, line)
    expectEqual(
      mismatch?.description,
      """
      MarbleRunTests.swift:\(line): expected a in frame 4, but the value "a" came at 5.0 s.
                0    5
      input     a-#
      expected  a---a-#
      actual    a----a-#
                    ▲
      """
    )
  }

  @Test("stay aligned where several things happen in one frame")
  func groups() {
    let mismatch = mismatch {
      try expect {
        "a-(bc)-d|"
        $0.filter { $0 != "c" }
        DemandRow("1--------*")
        "a-(bc)-d|"
      }
    }
    expectEqual(mismatch?.problem, "expected b in frame 2, but the value \"b\" came at 9.0 s.")
    expectEqual(
      mismatch?.diagram,
      """
                0       5
      input     a-(bc)-d|
      demand    1--   ------*
      expected  a-(bc)-d|
      actual    a--   ------(bd|)
                  ▲
      """
    )
  }

  @Test("are shown from the mark of a hot input")
  func hot() {
    let mismatch = mismatch {
      try expect {
        "xx^-a-|"
        $0.map { $0 }
        "--a-"
      }
    }
    expectEqual(mismatch?.problem, "expected nothing more, but the finish came at 4.0 s.")
    expectEqual(
      mismatch?.diagram,
      """
                  0
      input     xx^-a-|
      expected    --a-
      actual      --a-|
                      ▲
      """
    )
  }

  @Test("name a value that no letter stands for, and one that comes between two frames")
  func unnamed() {
    let unnamed = mismatch {
      try Marbles(["a": 1]).expect {
        "a|"
        $0.map { $0 + 6 }
        "a|"
      }
    }
    expectEqual(unnamed?.problem, "expected a in frame 0, but the value 7 came at 0.0 s.")
    expectEqual(unnamed?.diagram.contains("actual    ?|"), true)
    let between = mismatch {
      try expect {
        "a"
        $0.delay(for: .milliseconds(1_500), scheduler: $1)
        "-a"
      }
    }
    expectEqual(between?.problem, "expected a in frame 1, but the value \"a\" came at 1.5 s.")
  }

  @Test("say what is missing, and what is different about the subscriptions")
  func missing() {
    let missing = mismatch {
      try expect {
        "a-|"
        $0.filter { _ in false }
        "a-|"
      }
    }
    expectEqual(missing?.problem, "expected a in frame 0, but the finish came at 2.0 s.")
    let silent = mismatch {
      try expect {
        "a"
        $0.map { $0 }
        "a--b"
      }
    }
    expectEqual(silent?.problem, "expected b in frame 3, but nothing came.")
    let tooFew = mismatch {
      try expect {
        "#"
        $0.map { $0 }
        "#"
        SubscriptionRows("(^#)", "-^")
      }
    }
    expectEqual(tooFew?.problem, "expected 2 subscriptions to the input, but there were 1.")
    let late = mismatch {
      try expect {
        "--|"
        $0.map { $0 }
        "--|"
        SubscriptionRows("^-!")
      }
    }
    expectEqual(late?.problem, "the subscriptions to the input begin or end at other times.")
    expectEqual(late?.diagram, "          0\ninput     --|\nexpected  ^-!\nactual    ^-|")
  }

  @Test("take no cancel between two frames for one in a frame")
  func subscriptionsBetweenFrames() {
    let between = mismatch {
      try expect {
        "------"
        $0.prefix(untilOutputFrom: Just("stop").delay(for: 2.5, scheduler: $1)).filter { _ in false }
          .append(Empty(completeImmediately: false))
        "-"
        SubscriptionRows("^-!")
      }
    }
    expectEqual(between?.problem, "a subscription to the input begins or ends at 2.5 s, between two frames.")
  }

  @Test("are found behind the end of the diagram, too, even if something repeats for ever")
  func behind() {
    let late = mismatch {
      try expect {
        "a"
        $0.delay(for: .ticks(500), scheduler: $1)
        "-"
      }
    }
    expectEqual(late?.problem, "expected nothing more, but the value \"a\" came at 500.0 s.")
    #expect(throws: Never.self) {
      try expect {
        "a"
        $0.collect(.byTime($1, .ticks(1))).compactMap(\.first)
        "-a"
      }
    }
  }

  @Test("are found where there is always more to do, at one moment or at one after the other")
  func endless() {
    let atOnce = mismatch {
      try expect {
        "#"
        $0.retry(.max)
        "--#"
      }
    }
    expectEqual(atOnce?.problem.hasPrefix("there is always more to do in frame 0: after 100000 pieces of work"), true)
    expectEqual(atOnce?.diagram, "          0\ninput     #\nexpected  --#\n          ▲")
    let soon = mismatch {
      try expect {
        "---a"
        $0.delay(for: .ticks(1), scheduler: $1).prepend("b").collect(.byTime($1, .nanoseconds(1))).compactMap(\.first)
        "b---a"
      }
    }
    expectEqual(soon?.problem.hasPrefix("there is always more to do in frame 0:"), true)
  }

  @Test("are refused where a row makes no sense")
  func senseless() {
    func problem(_ body: () throws -> Void) -> String? {
      #expect(throws: MarbleSyntaxError.self, performing: body)?.problem
    }
    func play(_ input: String, _ output: String, _ demand: String) -> String? {
      problem {
        try expect {
          input
          $0.map { $0 }
          output
          DemandRow(demand)
        }
      }
    }
    expectEqual(play("a!", "a", "*"), "'!' in the row of an input. The subscriber cancels, in its own row.")
    expectEqual(play("a|b", "a", "*"), "something behind the end of an input.")
    expectEqual(play("a", "^a", "*"), "a mark of the subscriber among the output. Use a DemandRow.")
    expectEqual(play("a", "a", "x"), "'x' in a demand row. Use 1 to 9, * ^ ! or -.")
    expectEqual(play("a", "a", "1|"), "an end in a demand row. The publisher ends; the subscriber cancels, with '!'.")
    let tooEarly = "something before '^', where the subscriber begins. Put it behind."
    expectEqual(play("a", "a", "1-^-1"), tooEarly)
    expectEqual(play("a", "a", "(1^)"), tooEarly)
    expectEqual(play("a", "a", "!-^"), tooEarly)
    expectEqual(play("a", "a", "1-!-1"), "something behind '!', which ends all. Leave it out.")
    expectEqual(play("a", "a", "(!1)"), "something behind '!', which ends all. Leave it out.")
    expectEqual(play("a", "a", "^-^"), "a second '^' in a row. Leave one.")
    expectEqual(play("^a^", "a", "*"), "a second '^' in a row. Leave one.")
    expectEqual(
      problem {
        try Marbles(["a": 1]).expect {
          "b"
          $0.map { $0 }
          "a"
        }
      },
      "no value is given for 'b'."
    )
    expectEqual(
      problem {
        try expect {
          "a"
          $0.map { $0 }
          DemandRow("*")
        }
      },
      "no row of output behind the chain. Add it."
    )
    expectEqual(
      problem {
        try expect {
          "a"
          $0.map { $0 }
          "a"
          "a"
        }
      },
      "a second row of output behind the chain. Leave one."
    )
    expectEqual(
      problem {
        try expect {
          "a"
          $0.map { $0 }
          DemandRow("1")
          "a"
          DemandRow("*")
        }
      },
      "a second demand row behind the chain. Leave one."
    )
    expectEqual(
      problem {
        try expect {
          "a"
          $0.map { $0 }
          "a"
          SubscriptionRows("^-!")
          SubscriptionRows("^")
        }
      },
      "a second 'SubscriptionRows'. Put all rows into one."
    )
    expectEqual(
      problem {
        try expect {
          DemandRow("*")
          $0.map { $0 }
          "a"
        }
      },
      "a demand or subscription row before the chain. Put it behind the chain."
    )
  }

  @Test("can be written down from any recording")
  func recording() {
    let scheduler = TestScheduler()
    let source = TestPublisher<String, Never>()
    let recorder = Recorder<String, Never>(on: scheduler)
    source.subscribe(recorder)
    source.send("a")
    scheduler.advance(by: 2)
    source.send("b")
    source.send("long")
    source.send(completion: .finished)
    expectEqual(recorder.marbles, "a-(b?|)")
    expectEqual(recorder.marbles { $0.last ?? "?" }, "a-(bg|)")
  }
}
