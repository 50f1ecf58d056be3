extension Duration {
  /// So many frames of a marble diagram; a frame is one second of virtual time.
  public static func ticks(_ count: Int) -> Duration { .seconds(count) }
}

extension VirtualTime.Stride {
  /// So many frames of a marble diagram; a frame is one second of virtual time.
  public static func ticks(_ count: Int) -> VirtualTime.Stride { .seconds(count) }
}

extension VirtualTime {
  /// The frame of a marble diagram in which this moment lies.
  var frame: Int {
    let (frame, rest) = nanoseconds.quotientAndRemainder(dividingBy: Stride.ticks(1).nanoseconds)
    return rest < 0 ? frame - 1 : frame
  }

  /// Whether this moment is the beginning of a frame, where all of a marble diagram happens.
  var isOnFrame: Bool { nanoseconds % Stride.ticks(1).nanoseconds == 0 }

  /// The beginning of a frame.
  init(frame: Int) {
    self = VirtualTime.start.advanced(by: .ticks(frame))
  }
}
