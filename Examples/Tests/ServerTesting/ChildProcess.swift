import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that a test has started.
///
/// Not Foundation's `Process`: to learn which descriptors are open, it copies 256 bytes from each entry of a directory, and
/// past the end of the last ones when some 1,350 are open, which ends the tests now and then (Swift 6.3.1, Linux). Tests
/// that run side by side, each with servers of its own, come to that.
public final class ChildProcess: Sendable {
  /// The program could not be started, or not be waited for.
  public struct Failure: Error, CustomStringConvertible {
    /// What failed, and why.
    public let description: String

    init(_ operation: String, code: Int32) {
      description = "\(operation): \(String(cString: strerror(code)))"
    }
  }

  /// How a program has ended.
  public struct End: Sendable {
    /// What it has returned; nil if a signal has ended it.
    public let status: Int32?
    /// What it has written as its errors.
    public let errors: String
  }

  /// The number of the process.
  public let id: pid_t
  private let output = Pipe()
  private let errors = Pipe()

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: Its path; where that has no slash, it is looked for as a shell does.
  ///   - environment: Added to what this process has.
  ///   - input: What it reads from its standard input, at most as much as a pipe holds (64 KiB on Linux).
  public init(
    _ program: String,
    arguments: [String] = [],
    environment: [String: String] = [:],
    input: Data = Data()
  ) throws {
    let inputPipe = Pipe()
    let whole = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
    id = try spawn(
      program,
      [program] + arguments,
      whole,
      streams: [
        inputPipe.fileHandleForReading.fileDescriptor, output.fileHandleForWriting.fileDescriptor,
        errors.fileHandleForWriting.fileDescriptor,
      ]
    )
    // Else the end of what the program writes would never come.
    try output.fileHandleForWriting.close()
    try errors.fileHandleForWriting.close()
    try inputPipe.fileHandleForWriting.write(contentsOf: input)
    try inputPipe.fileHandleForWriting.close()
  }

  /// What it writes first, once it does.
  public func firstOutput() async throws -> String {
    try await onOwnThread { [output] in
      String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }
  }

  /// Waits for its end; to be called once.
  public func end() async throws -> End {
    try await onOwnThread { [errors, id] in
      let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0 {
        guard errno == EINTR else { throw Failure("waitpid", code: errno) }
      }
      // As the C macros WIFEXITED and WEXITSTATUS have it.
      return End(status: status & 0x7F == 0 ? status >> 8 & 0xFF : nil, errors: text)
    }
  }
}

/// Starts a program that has these streams and no other open descriptor of this process.
private func spawn(
  _ program: String,
  _ arguments: [String],
  _ environment: [String],
  streams: [Int32]
) throws -> pid_t {
  #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
  #else
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
  #endif
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  for (number, stream) in zip(Int32(0)..., streams) { posix_spawn_file_actions_adddup2(&actions, stream, number) }
  // Dispatch's threads, on which tests run, let no signal through, and a test may have this process ignore some.
  var signals = sigset_t()
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  for number in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, number) }
  posix_spawnattr_setsigdefault(&attributes, &signals)
  var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
  #if canImport(Darwin)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
  #else
    // A socket that is open in the program as well would never end. What another thread opens meanwhile is let through.
    for descriptor in Int32(streams.count)..<Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))
    where fcntl(descriptor, F_GETFD) >= 0 {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
  #endif
  posix_spawnattr_setflags(&attributes, Int16(flags))

  let words = (arguments.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
  defer { (words.0 + words.1).forEach { free($0) } }
  var id: pid_t = 0
  let code = posix_spawnp(&id, program, &actions, &attributes, words.0, words.1)
  guard code == 0 else { throw ChildProcess.Failure("start \(program)", code: code) }
  return id
}
