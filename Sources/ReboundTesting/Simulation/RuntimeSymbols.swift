import Foundation
import StreamSupport

/// What a simulation asks of the language's run-time library by name.
enum RuntimeSymbols {
  private typealias MainExecutor = @convention(thin) () -> (UInt, UInt)
  private typealias MainExecutorHook = @convention(thin) (MainExecutor) -> (UInt, UInt)
  private typealias IDOfJob = @convention(c) (UnsafeRawPointer) -> UInt64
  private typealias Count = @convention(c) (UnsafeRawPointer) -> Int
  private typealias Retain = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer
  private typealias Release = @convention(c) (UnsafeRawPointer) -> Void

  private static let mainExecutorHook = UInt(bitPattern: address("swift_task_getMainExecutor_hook"))
  private static let idOfJob = function("swift_task_getJobTaskId", IDOfJob.self)
  private static let retainCount = function("swift_retainCount", Count.self)
  private static let retainObject = function("swift_retain", Retain.self)
  private static let releaseObject = function("swift_release", Release.self)
  private static let retainMemory = function("swift_unownedRetain", Retain.self)
  private static let releaseMemory = function("swift_unownedRelease", Release.self)

  static var areThere: Bool {
    mainExecutorHook != 0 && idOfJob != nil && retainCount != nil && retainObject != nil && releaseObject != nil
      && retainMemory != nil && releaseMemory != nil
  }

  #if os(Linux)
    /// How many bytes a task takes, as the library tells debuggers.
    static let sizeOfTask = address("_swift_concurrency_debug_asyncTaskSize").map { $0.load(as: UInt.self) }

    private typealias ReadMemory =
      @convention(c) (pid_t, UnsafePointer<iovec>, UInt, UnsafePointer<iovec>, UInt, UInt) -> Int
    private static let readMemory = function("process_vm_readv", ReadMemory.self)

    /// A word of this process's memory; `nil` if there is none at that address.
    static func word(at address: UInt) -> UInt? {
      guard let source = UnsafeMutableRawPointer(bitPattern: address), let readMemory else { return nil }
      var word: UInt = 0
      let count = withUnsafeMutableBytes(of: &word) { bytes in
        var to = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        var from = iovec(iov_base: source, iov_len: bytes.count)
        return readMemory(getpid(), &to, 1, &from, 1, 0)
      }
      return count == MemoryLayout<UInt>.size ? word : nil
    }

    private typealias Demangle =
      @convention(c) (UnsafePointer<CChar>, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32)
      -> UnsafeMutablePointer<CChar>?
    private static let demangle = function("swift_demangle", Demangle.self)

    /// The name that a symbol stands for; `nil` if it is none of the language's.
    static func demangled(_ symbol: String) -> String? {
      guard let name = demangle?(symbol, symbol.utf8.count, nil, nil, 0) else { return nil }
      // It is allocated for the caller.
      defer { free(name) }
      return String(cString: name)
    }
  #endif

  /// The number of a task, which no other task of the process has.
  static func id(of task: UnsafeRawPointer) -> UInt64 { idOfJob?(task) ?? 0 }

  /// How many hold a task; one that has not ended holds itself.
  static func holders(of task: UnsafeRawPointer) -> Int { retainCount?(task) ?? 0 }

  static func retain(_ task: UnsafeRawPointer) { _ = retainObject?(task) }

  static func release(_ task: UnsafeRawPointer) { releaseObject?(task) }

  /// Keeps an object's memory, and so its address, also when the object is gone.
  static func keepMemory(of object: UnsafeRawPointer) { _ = retainMemory?(object) }

  static func freeMemory(of object: UnsafeRawPointer) { releaseMemory?(object) }

  /// The main actor's executor on the threads of simulations; the process's own on all others.
  private struct SimulatedMain {
    var current: @Sendable () -> UnownedSerialExecutor? = { nil }
  }

  private static let simulatedMain = Locked(SimulatedMain())

  static func setMainExecutor(_ executor: @escaping @Sendable () -> UnownedSerialExecutor?) {
    simulatedMain.withLock { $0.current = executor }
    let hook: MainExecutorHook = { platform in
      guard let executor = RuntimeSymbols.simulatedMain.withLock({ $0.current })() else { return platform() }
      // An executor reference is two words: the object and its table of functions.
      return unsafeBitCast(executor, to: (UInt, UInt).self)
    }
    // A thin function is one word, the address of its code.
    UnsafeMutableRawPointer(bitPattern: mainExecutorHook)?.storeBytes(
      of: unsafeBitCast(hook, to: UInt.self),
      as: UInt.self
    )
  }

  private static func address(_ name: String) -> UnsafeMutableRawPointer? { dlsym(dlopen(nil, RTLD_NOW), name) }

  private static func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
    // The types above are those of the library's headers.
    address(name).map { unsafeBitCast($0, to: type) }
  }
}
