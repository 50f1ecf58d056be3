#if os(Linux)
  import Foundation

  /// Gives each task that begins on the thread of a simulation an executor to prefer, unless its code gives it another.
  ///
  /// A task that prefers none goes on in place when it comes back from an actor, and into the next actor that is idle: nobody else
  /// could run in between. One that prefers an executor is handed to it. Children inherit what their parents prefer, and the
  /// language has nothing of the kind for all others: so the function that makes tasks is replaced, in each library's table of
  /// addresses, as the clock is.
  ///
  /// Source: `swift_task_create` in the run-time library's <Runtime/Concurrency.h>, and `TaskOptionRecord` in its
  /// <ABI/TaskOptions.h>; the compiler writes both into each program that begins a task.
  enum TaskCreation {
    typealias Create =
      @convention(thin) (UInt, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> (
        task: UnsafeRawPointer?, context: UnsafeRawPointer?
      )

    /// The options of a new task are a list; this is the one that gives it an executor.
    fileprivate struct Option {
      let kind: UInt
      let next: UnsafeRawPointer?
      let executor: (UInt, UInt)
    }

    // Written before the tables are changed, and never again; constants for the reason that is said at the system's calls.
    nonisolated(unsafe) fileprivate static var addressOfCreate = 0
    nonisolated(unsafe) fileprivate static var executor: (UInt, UInt) = (0, 0)

    fileprivate static var create: Create { unsafeBitCast(addressOfCreate, to: Create.self) }

    /// Replaces the function; false if there is no place where it could be.
    static func replace() -> Bool {
      guard let create = dlsym(dlopen(nil, RTLD_NOW), "swift_task_create") else { return false }
      addressOfCreate = Int(bitPattern: create)
      // An executor reference is two words: the object and its table of functions.
      executor = unsafeBitCast(SimulatedGlobalExecutor.preferred, to: (UInt, UInt).self)
      let replacement: Create = { simulatedCreate($0, $1, $2, $3, $4) }
      return LoadedLibrary.all.reduce(0) { count, library in
        count + library.replace("swift_task_create", by: unsafeBitCast(replacement, to: UInt.self))
      } > 0
    }

    /// Whether a new task has an executor to prefer already, or inherits its parent's.
    fileprivate static func isGivenOne(_ flags: UInt, _ options: UnsafeRawPointer?) -> Bool {
      guard flags & 1 << 8 == 0 else { return true }
      var next = options
      while let option = next {
        // The first is an executor that somebody else holds, the second one that the task is to hold.
        if 5...6 ~= option.load(as: UInt.self) & 0xFF { return true }
        next = option.load(fromByteOffset: 8, as: UnsafeRawPointer?.self)
      }
      return false
    }
  }

  private func simulatedCreate(
    _ flags: UInt,
    _ options: UnsafeRawPointer?,
    _ result: UnsafeRawPointer?,
    _ function: UnsafeRawPointer?,
    _ closure: UnsafeRawPointer?
  ) -> (task: UnsafeRawPointer?, context: UnsafeRawPointer?) {
    guard SimulationThread.withCurrent({ _ in }), !TaskCreation.isGivenOne(flags, options) else {
      return TaskCreation.create(flags, options, result, function, closure)
    }
    let option = TaskCreation.Option(kind: 5, next: options, executor: TaskCreation.executor)
    return withUnsafePointer(to: option) { TaskCreation.create(flags, $0, result, function, closure) }
  }
#endif
