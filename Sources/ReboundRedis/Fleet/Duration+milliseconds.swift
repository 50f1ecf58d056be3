#if Redis
  import Rebound

  extension Duration {
    /// Whole milliseconds, upwards: what scripts count in.
    var milliseconds: Int { Int((inSeconds * 1_000).rounded(.up)) }
  }
#endif
