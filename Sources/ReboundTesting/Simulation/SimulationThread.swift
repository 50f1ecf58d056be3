import Foundation

/// Which simulation runs on the present thread.
enum SimulationThread {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// The run that has this thread; `nil` on all other threads of the process.
  static var current: SimulationRun? {
    guard let address = pthread_getspecific(key) else { return nil }
    // Set only while `enter` below holds the run.
    return Unmanaged<SimulationRun>.fromOpaque(UnsafeRawPointer(address)).takeUnretainedValue()
  }

  /// Calls a body with the run that has this thread, without counting the reference; false on all other threads.
  static func withCurrent(_ body: (SimulationRun) -> Void) -> Bool {
    guard let address = pthread_getspecific(key) else { return false }
    // Set only while `enter` below holds the run.
    Unmanaged<SimulationRun>.fromOpaque(UnsafeRawPointer(address))._withUnsafeGuaranteedRef(body)
    return true
  }

  /// Gives the thread to a run for as long as the body takes.
  static func enter<Result>(_ run: SimulationRun, _ body: () throws -> Result) rethrows -> Result {
    let before = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passUnretained(run).toOpaque())
    defer { pthread_setspecific(key, before) }
    return try withExtendedLifetime(run, body)
  }
}
