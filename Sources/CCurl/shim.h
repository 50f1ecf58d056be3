#ifndef REBOUND_CCURL_SHIM_H
#define REBOUND_CCURL_SHIM_H

#include <curl/curl.h>

// Swift imports neither C-variadic functions nor macros with casts, so those that are needed get plain names here.

typedef size_t (*rebound_curl_bytes)(char *bytes, size_t size, size_t count, void *context);
typedef int (*rebound_curl_seek)(void *context, curl_off_t offset, int origin);
typedef int (*rebound_curl_log)(CURL *easy, curl_infotype type, char *text, size_t size, void *context);
typedef int (*rebound_curl_before_request)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

static inline CURLcode rebound_curl_set_number(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode rebound_curl_set_large(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode rebound_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode rebound_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode rebound_curl_set_bytes(CURL *easy, CURLoption option, rebound_curl_bytes value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode rebound_curl_set_seek(CURL *easy, rebound_curl_seek value) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode rebound_curl_set_log(CURL *easy, rebound_curl_log value) {
  return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}
static inline CURLcode rebound_curl_set_before_request(CURL *easy, rebound_curl_before_request value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLMcode rebound_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLcode rebound_curl_get_number(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode rebound_curl_get_large(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode rebound_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode rebound_curl_get_text(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}
// What this libcurl was built with: CURL_VERSION_ZSTD and its kin.
static inline int rebound_curl_features(void) {
  return curl_version_info(CURLVERSION_NOW)->features;
}
static inline CURLcode rebound_curl_result(const CURLMsg *message) {
  return message->data.result;
}

#endif
