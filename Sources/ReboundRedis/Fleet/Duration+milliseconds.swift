#if Redis
  import Rebound

  extension Duration {
    /// Whole milliseconds, upwards: what scripts count in; from none to those of the longest delay.
    var milliseconds: Int { Int((clampedToDelay.inSeconds * 1_000).rounded(.up)) }
  }
#endif
