#if Curl && os(Linux)
  import Glibc

  /// Stands in libcurl's place where a handle is made, for this program and for Foundation, which calls it by that name: the
  /// linker finds what the program itself has first.
  ///
  /// Foundation leaves the authorities to libcurl, which knows them from the moment that the handle is made.
  @_cdecl("curl_easy_init")
  public func makeTrustingHandle() -> UnsafeMutableRawPointer? {
    guard let handle = libcurlHandleMaker?() else { return nil }
    TrustedAuthority.tell(handle)
    return handle
  }

  /// libcurl's own `CURL *curl_easy_init(void)`.
  private let libcurlHandleMaker: (@convention(c) () -> UnsafeMutableRawPointer?)? = {
    // RTLD_NEXT, which Swift does not import: behind this program in the order in which names are looked up.
    guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -1), "curl_easy_init") else { return nil }
    // The type is that of curl.h.
    return unsafeBitCast(symbol, to: (@convention(c) () -> UnsafeMutableRawPointer?).self)
  }()
#endif
