#if !canImport(Darwin)
  // Apple's Foundation brings Combine along. This line does it for all files of the target, and for those who import it.
  @_exported import Combine
#endif
