import Foundation

/// What scripts/fuzz tells: which target runs, and how.
private struct Setting {
  let target: FuzzTarget
  /// How long inputs are made, to see that time grows no faster than they do.
  let length: Int

  /// The one for this process, which never changes.
  static let current: Setting = {
    let variables = ProcessInfo.processInfo.environment
    let name = variables["REBOUND_FUZZ"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
      exit(name.isEmpty ? 0 : 2)
    }
    return Setting(target: target, length: variables["REBOUND_FUZZ_LENGTH"].flatMap(Int.init) ?? 0)
  }()
}

/// Called once by the driver, before all else.
///
/// With a folder to put them into, only writes the seeds.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerWillStart(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> Int32 {
  let target = Setting.current.target
  guard let folder = ProcessInfo.processInfo.environment["REBOUND_FUZZ_SEEDS"] else { return 0 }
  do {
    let url = URL(fileURLWithPath: folder)
    for (index, seed) in target.seeds.enumerated() {
      try Data(seed).write(to: url.appendingPathComponent("seed-\(index)"))
    }
    let words = target.words.map { word in
      "\"" + word.utf8.map { (0x23...0x5B).contains($0) ? String(UnicodeScalar($0)) : hexadecimal($0) }.joined()
        + "\"\n"
    }
    try Data(words.joined().utf8).write(to: url.deletingLastPathComponent().appendingPathComponent("words"))
    exit(0)
  } catch {
    print("The seeds of '\(target.name)' cannot be written: \(error)")
    exit(2)
  }
}

/// Called by the driver for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerRuns(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let setting = Setting.current
  var input = FuzzInput(Array(UnsafeBufferPointer(start: start, count: count)), pumpedTo: setting.length)
  setting.target.run(&input)
  return 0
}

private func hexadecimal(_ byte: UInt8) -> String {
  let digits = Array("0123456789abcdef")
  return "\\x\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
}
