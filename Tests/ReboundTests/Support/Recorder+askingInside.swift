import Combine
import ReboundTesting

/// A subscriber that asks for the next value inside of each: an entry says that one comes, and its negative that it is done with.
func recorderAskingInside(_ depth: Log<Int>) -> Recorder<Int, TestFailure> {
  Recorder(
    requesting: .max(1),
    answering: { value, recorder in
      depth.write(value)
      recorder.request(.max(1))
      depth.write(-value)
      return .none
    }
  )
}
