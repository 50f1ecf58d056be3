#if Curl
  import Foundation
  #if canImport(Glibc)
    import Glibc
  #endif

  /// A shell in a folder of its own, which runs a script up to the line "ready" and the rest when it is stopped.
  ///
  /// It is stopped when it is released, and also when the process ends in any other way, since it waits for the end of
  /// its input. Then its folder is removed.
  ///
  /// Unchecked, because nothing changes after the start.
  final class ShellKeeper: @unchecked Sendable {
    struct Failure: Error {
      let output: String
    }

    let folder: URL
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameters:
    ///   - files: Written into the folder before.
    ///   - script: Says "ready" once it is, and then reads a line.
    init(files: [String: String] = [:], _ script: String) throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "rebound-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
      try ShellKeeper.run(
        "cd \"$1\" || exit; {\n\(ShellKeeper.opening)\(script)\n} <&0 2>errors &",
        in: folder,
        input: input.fileHandleForReading.fileDescriptor,
        output: output.fileHandleForWriting.fileDescriptor
      )
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
      let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      guard said == "ready\n" else { throw Failure(output: said) }
    }

    deinit {
      try? input.fileHandleForWriting.close()
    }

    /// Lets the rest of the script run, and waits for its end.
    func stop() {
      try? input.fileHandleForWriting.close()
      _ = try? output.fileHandleForReading.readToEnd()
    }

    /// Runs a shell that leaves a script in the background and ends at once.
    ///
    /// Not by Foundation's `Process`: to learn which descriptors are open, it copies 256 bytes from each entry of a
    /// directory, and past the end of the last ones when some 1,350 are open, which ends the tests now and then (Swift
    /// 6.3.1, Linux). Tests that run side by side, each with servers of its own, come close to that.
    private static func run(_ script: String, in folder: URL, input: Int32, output: Int32) throws {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      // The threads on which tests run let no signal through.
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var signals = sigset_t()
      sigemptyset(&signals)
      posix_spawnattr_setsigmask(&attributes, &signals)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
      let arguments = ["bash", "-c", script, "bash", folder.path(percentEncoded: false)]
      let words = arguments.map { strdup($0) } + [nil]
      let environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
      defer { (words + environment).forEach { free($0) } }
      var id: pid_t = 0
      let code = posix_spawn(&id, "/bin/bash", &actions, &attributes, words, environment)
      guard code == 0 else { throw Failure(output: String(cString: strerror(code))) }
      while waitpid(id, nil, 0) < 0 {
        guard errno == EINTR else { throw Failure(output: String(cString: strerror(errno))) }
      }
    }

    /// Closes what was inherited, and sees to the folder: a socket that is held here as well never ends.
    private static let opening = """
      for path in /proc/$BASHPID/fd/*; do
        number=${path##*/}
        case $number in 0 | 1 | 2) ;; *) eval "exec $number>&-" ;; esac
      done
      folder=$PWD
      trap 'cd / && rm -rf "$folder"' EXIT

      """
  }

  /// Certificates and keys of one authority, made by OpenSSL once in a run.
  ///
  /// server: for 127.0.0.1 and localhost. other: for a name that is not this host's. expired: its time is over. client:
  /// for who asks. reserve: a key alone.
  enum TestCertificates {
    static let largeCount = 20_000_000

    private static let keeper = Result { try ShellKeeper(script) }

    static var folder: URL { get throws { try keeper.get().folder } }

    static func file(_ name: String) throws -> URL { try folder.appending(path: name) }

    /// The SHA-256 digest of the large file.
    static var largeDigest: String { get throws { try text("large.sha256") } }

    /// The pin of one of the keys, as OpenSSL has it.
    static func pin(_ name: String = "server") throws -> String { try text("\(name).pin") }

    private static func text(_ name: String) throws -> String {
      try String(contentsOf: file(name), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static let script = """
      key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
      pin() {
        openssl pkey -in "$1.key" -pubout -outform der | openssl dgst -sha256 -binary | openssl base64 >"$1.pin"
      }
      certificate() {
        key "$1"
        openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
        echo "$2" >"$1.ext"
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$3" -extfile "$1.ext" -out "$1.pem"
      }
      set -e
      key ca
      openssl req -x509 -key ca.key -days 2 -subj "/CN=Authority of a test" -out ca.pem
      certificate server "subjectAltName=DNS:localhost,DNS:*.localhost,IP:127.0.0.1,IP:::1" 2 >/dev/null
      certificate other "subjectAltName=DNS:other.example" 2 >/dev/null
      certificate expired "subjectAltName=DNS:localhost,IP:127.0.0.1" -1 >/dev/null
      certificate client "extendedKeyUsage=clientAuth" 2 >/dev/null
      key reserve
      pin server
      pin reserve
      head -c \(largeCount) /dev/urandom >large
      sha256sum <large | cut -d " " -f 1 >large.sha256
      echo ready
      read -r line
      """
  }
#endif
