import Foundation

// What a fleet promises, in processes of its own against a server of its own; see scripts/fleet.
do {
  try await Command(CommandLine.arguments.dropFirst()).run()
} catch {
  FileHandle.standardError.write(Data("fleet: \(error)\n".utf8))
  exit(1)
}
