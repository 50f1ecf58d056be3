#if Curl
  import CCurl

  /// Reads addresses as libcurl does.
  enum CurlHost {
    /// The host that libcurl would connect to, in lower case and without a dot at the end; `nil` if there is none, or
    /// its name is not in ASCII.
    ///
    /// libcurl decodes percent signs in a name, and writes addresses such as 0x7f.1 in their usual form.
    static func name(in url: String) -> String? {
      guard let handle = curl_url() else { return nil }
      defer { curl_url_cleanup(handle) }
      guard curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK else { return nil }
      var text: UnsafeMutablePointer<CChar>?
      guard curl_url_get(handle, CURLUPART_HOST, &text, 0) == CURLUE_OK, let text else { return nil }
      defer { curl_free(text) }
      var name = String(cString: text).lowercased()
      if name.hasSuffix(".") { name.removeLast() }
      guard !name.isEmpty, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      return name
    }
  }
#endif
