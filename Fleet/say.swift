import Foundation

/// Writes a line, at once: whoever reads it is another process.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
