#if os(Linux)
  import Foundation
  import StreamSupport

  /// The names of the program's functions, of which the dynamic linker knows only some.
  ///
  /// Source: <elf.h>, of which it reads the section headers and the table of symbols.
  enum ProgramSymbols {
    private struct Symbol {
      var name: UInt32
      var info: UInt8
      var other: UInt8
      var section: UInt16
      var value: UInt
      var size: UInt
    }

    private struct Section {
      var name: UInt32
      var type: UInt32
      var flags: UInt
      var address: UInt
      var offset: UInt
      var size: UInt
      var link: UInt32
      var info: UInt32
      var alignment: UInt
      var entrySize: UInt
    }

    private struct Known {
      var names: [UInt: String?] = [:]
    }

    private static let known = Locked(Known())
    private static let file =
      (try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/exe"), options: .alwaysMapped)) ?? Data()
    private static let base = LoadedLibrary.all.first?.base ?? 0

    /// What the program's source calls the function at an address; `nil` if it is none of the program's.
    static func function(at address: UInt) -> String? {
      if let name = known.withLock({ $0.names[address] }) { return name }
      let name = address > base ? symbol(at: address - base).flatMap(readable) : nil
      known.withLock { $0.names[address] = .some(name) }
      return name
    }

    /// The symbol whose code has an address, as the program's file counts them.
    ///
    /// - Complexity: O(symbols); a program may have a million, so nothing in the loop is generic.
    private static func symbol(at address: UInt) -> String? {
      file.withUnsafeBytes { bytes -> String? in
        func load<Value>(_ offset: UInt, _ index: UInt, as type: Value.Type) -> Value? {
          let place = Int(offset) + Int(index) * MemoryLayout<Value>.stride
          return place + MemoryLayout<Value>.stride <= bytes.count
            ? bytes.loadUnaligned(fromByteOffset: place, as: type) : nil
        }
        guard bytes.starts(with: Array("\u{7F}ELF".utf8)), let sections = load(40, 0, as: UInt.self),
          let count = load(60, 0, as: UInt16.self)
        else { return nil }
        let all = (0..<UInt(count)).compactMap { load(sections, $0, as: Section.self) }
        // What is loaded into memory ends there; behind it are the libraries.
        guard let end = all.map({ $0.address + $0.size }).max(), address < end,
          let table = all.first(where: { $0.type == 2 }), Int(table.link) < all.count,
          let start = bytes.baseAddress, Int(table.offset + table.size) <= bytes.count
        else { return nil }
        // The file is mapped at a page, and the linker puts the table at a multiple of eight in it.
        let symbols = (start + Int(table.offset)).assumingMemoryBound(to: Symbol.self)
        let last = Int(table.size) / MemoryLayout<Symbol>.stride
        var index = 0
        while index < last {
          let symbol = symbols + index
          index += 1
          guard symbol.pointee.value <= address, address < symbol.pointee.value + symbol.pointee.size,
            symbol.pointee.info & 15 == 2
          else { continue }
          let name = bytes.dropFirst(Int(all[Int(table.link)].offset) + Int(symbol.pointee.name)).prefix { $0 != 0 }
          return String(decoding: name, as: UTF8.self)
        }
        return nil
      }
    }

    /// A name without what the compiler added: "closure #1 in Shop.order()".
    private static func readable(_ symbol: String) -> String? {
      guard var name = RuntimeSymbols.demangled(symbol) else { return nil }
      if let start = name.range(of: "partial function for ") { name = String(name[start.upperBound...]) }
      // What the compiler made, and no one wrote.
      guard !name.hasPrefix("reabstraction thunk"), !name.hasPrefix("partial apply"),
        !name.hasPrefix("specialized thunk")
      else { return nil }
      return name.replacing(/(closure #\d+) .*? in (?=closure|[A-Za-z_]+\.|\()/) { "\($0.1) in " }
        .replacing(/\(([^ ()]+) in _[0-9A-F]+\)/) { "\($0.1)" }
        .replacing(/( async)?( throws)? -> .*$/, with: "")
        .replacing(/(^| in )[A-Za-z_0-9]+\.(?=[A-Za-z_])/) { "\($0.1)" }
    }
  }
#endif
