#if os(Linux)
  import Foundation

  /// One library of the process, as the dynamic linker has loaded it.
  ///
  /// Source: the System V ABI's "Dynamic Linking", and `struct link_map` of <link.h>.
  struct LoadedLibrary {
    let name: String
    let base: UInt
    private let dynamic: UnsafePointer<(tag: Int, value: UInt)>

    private struct LinkMap {
      var base: UInt
      var name: UnsafePointer<CChar>?
      var dynamic: UnsafePointer<(tag: Int, value: UInt)>?
      var next: UnsafePointer<LinkMap>?
    }

    private struct Relocation {
      var offset: UInt
      var info: UInt
      var addend: Int
    }

    private struct Symbol {
      var name: UInt32
      var rest: UInt32
      var value: UInt
      var size: UInt
    }

    /// All that are loaded, the program first.
    static var all: [LoadedLibrary] {
      // A handle of the dynamic linker is the address of the program's entry in its list.
      var entry = dlopen(nil, RTLD_NOW).map { UnsafePointer<LinkMap>($0.assumingMemoryBound(to: LinkMap.self)) }
      var libraries: [LoadedLibrary] = []
      while let library = entry?.pointee {
        if let dynamic = library.dynamic, let name = library.name {
          libraries.append(LoadedLibrary(name: String(cString: name), base: library.base, dynamic: dynamic))
        }
        entry = library.next
      }
      // The kernel's own page calls nobody, and its table holds no addresses.
      return libraries.filter { !$0.name.contains("vdso") }
    }

    /// Has the library call another function in place of an imported one.
    ///
    /// - Returns: In how many places.
    @discardableResult
    func replace(_ function: String, by replacement: UInt, if isWanted: Bool = true) -> Int {
      guard isWanted, let symbols = table(6), let strings = entry(5) else { return 0 }
      return [(table(23), entry(2)), (table(7), entry(8))].reduce(0) { count, table in
        guard let start = table.0, let size = table.1 else { return count }
        return (0..<Int(size) / MemoryLayout<Relocation>.stride).reduce(count) { count, index in
          let relocation = load(start, index, as: Relocation.self)
          // The upper half is the symbol's place in the table of symbols; the lower, what the linker does.
          let number = Int(relocation.info >> 32)
          guard number > 0, relocation.addend == 0 else { return count }
          let symbol = load(symbols, number, as: Symbol.self)
          guard let name = UnsafePointer<CChar>(bitPattern: strings + UInt(symbol.name)), strcmp(name, function) == 0,
            write(replacement, to: base + relocation.offset)
          else { return count }
          return count + 1
        }
      }
    }

    private func load<Value>(_ start: UnsafeMutableRawPointer, _ index: Int, as type: Value.Type) -> Value {
      // The tables are mapped for as long as the library is, and no library is unloaded while this reads it.
      start.load(fromByteOffset: index * MemoryLayout<Value>.stride, as: type)
    }

    private func table(_ tag: Int) -> UnsafeMutableRawPointer? {
      entry(tag).flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }

    private func entry(_ tag: Int) -> UInt? {
      var entry = dynamic
      while entry.pointee.tag != 0 {
        if entry.pointee.tag == tag { return entry.pointee.value }
        entry += 1
      }
      return nil
    }

    /// The linker has made most tables read-only; one word is written whole, so no thread sees half of it.
    private func write(_ word: UInt, to address: UInt) -> Bool {
      let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
      guard let start = UnsafeMutableRawPointer(bitPattern: address / page * page),
        mprotect(start, Int(page), PROT_READ | PROT_WRITE) == 0
      else { return false }
      UnsafeMutableRawPointer(bitPattern: address)?.storeBytes(of: word, as: UInt.self)
      return true
    }
  }
#endif
