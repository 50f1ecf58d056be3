#if Curl
  import Foundation

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
      let process = Process()
      process.executableURL = URL(filePath: "/bin/bash")
      process.arguments = ["-c", "{\n\(ShellKeeper.opening)\(script)\n} <&0 &"]
      process.currentDirectoryURL = folder
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
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

    /// Closes what was inherited, and sees to the folder.
    ///
    /// Foundation lets through what another thread opens meanwhile, and a socket that is held here as well never ends. All
    /// this is done in the background, behind a shell that ends at once, since Foundation takes the closing for the end of
    /// that shell and has all others wait until it can be reaped.
    private static let opening = """
      for path in /proc/$BASHPID/fd/*; do
        number=${path##*/}
        case $number in 0 | 1 | 2 | 255) ;; *) eval "exec $number>&-" ;; esac
      done
      folder=$PWD
      trap 'cd / && rm -rf "$folder"' EXIT
      exec 2>errors

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

    /// The pin of one of the keys, as OpenSSL has it.
    static func pin(_ name: String = "server") throws -> String {
      try String(contentsOf: file("\(name).pin"), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
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
      certificate server "subjectAltName=DNS:localhost,DNS:*.localhost,IP:127.0.0.1" 2 >/dev/null
      certificate other "subjectAltName=DNS:other.example" 2 >/dev/null
      certificate expired "subjectAltName=DNS:localhost,IP:127.0.0.1" -1 >/dev/null
      certificate client "extendedKeyUsage=clientAuth" 2 >/dev/null
      key reserve
      pin server
      pin reserve
      head -c \(largeCount) /dev/urandom >large
      echo ready
      read -r line
      """
  }
#endif
