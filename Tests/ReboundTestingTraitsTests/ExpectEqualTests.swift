import Expectations
import Testing

@Suite("Expecting values to be equal")
struct ExpectEqualTests {
  @Test("values that differ are an issue at the place that expected them, which shows both and the comment")
  func differ() {
    // The issues are known, since they are what is tested: each must come, and say what stands behind "matching".
    let line = #line + 2
    withKnownIssue {
      expectEqual(1, 2)
    } matching: { issue in
      "\(issue)".contains("1 is not 2") && issue.sourceLocation?.line == line && issue.sourceLocation?.fileID == #fileID
    }
    withKnownIssue {
      expectEqual("a", "b", "of \(3) letters")
    } matching: { issue in
      "\(issue)".contains(#""a" is not "b": of 3 letters"#)
    }
    withKnownIssue {
      expectEqual(Int?.none, 1)
    } matching: {
      "\($0)".contains("nil is not")
    }
  }

  @Test("equal values are none, and nobody makes their comment")
  func equal() {
    var comments = 0
    func comment() -> Comment {
      comments += 1
      return "made"
    }
    expectEqual([1, 2], [1, 2], comment())
    #expect(comments == 0)
  }
}
