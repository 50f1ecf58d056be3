import StreamSupport

/// The runs that are under way in this process, for jobs that come from threads of nobody's simulation.
enum SimulationRegistry {
  private static let runs = Locked<[SimulationRun]>([])

  static func add(_ run: SimulationRun) { runs.withLock { $0.append(run) } }

  static func remove(_ run: SimulationRun) {
    let removed = runs.withLock { runs in
      runs.firstIndex { $0 === run }.map { runs.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }

  /// Gives a job to the run whose task it is; false if it is nobody's.
  static func takesFromOutside(_ job: UnownedJob) -> Bool {
    let runs = runs.withLock { $0 }
    guard !runs.isEmpty, let task = job.task else { return false }
    let id = RuntimeSymbols.id(of: task)
    return runs.contains { $0.takeFromOutside(job, of: id) }
  }
}
