import Foundation

/// Writes a line, at once: whoever reads it is another process.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Says how far a run is, beside its results: on standard error.
func note(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
