#if Foundation
  // On Apple's platforms `import Foundation` shows URLSession. Elsewhere it lives in a module of its own, which this one
  // passes on, so that a file that imports Foundation and Combine sees the same names everywhere.
  #if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
  #endif
#endif
