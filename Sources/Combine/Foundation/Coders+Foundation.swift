#if Foundation
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  extension JSONEncoder: TopLevelEncoder {
    /// It makes bytes.
    public typealias Output = Data
  }

  extension JSONDecoder: TopLevelDecoder {
    /// It reads bytes.
    public typealias Input = Data
  }

  extension PropertyListEncoder: TopLevelEncoder {
    /// It makes bytes.
    public typealias Output = Data
  }

  extension PropertyListDecoder: TopLevelDecoder {
    /// It reads bytes.
    public typealias Input = Data
  }
#endif
