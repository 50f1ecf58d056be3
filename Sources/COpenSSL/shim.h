#ifndef REBOUND_COPENSSL_SHIM_H
#define REBOUND_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift does not see macros that call.

static inline int rebound_tls_knows_no_password(char *buffer, int size, int writes, void *context) {
  return -1;
}

// Has no version before 1.2, and lets a write go on with the rest of what it was given, from wherever that lies by then. For the
// password of a key OpenSSL would ask at the terminal, or read what the process reads, and wait.
static inline int rebound_tls_prepare(SSL_CTX *context) {
  SSL_CTX_set_default_passwd_cb(context, rebound_tls_knows_no_password);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// The name or the address that the other side's certificate must be for; a name is also sent, so that it can choose one.
static inline int rebound_tls_expect(SSL *session, const char *host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1) return 1;
  ERR_clear_error();
  return SSL_set1_host(session, host) == 1 && SSL_set_tlsext_host_name(session, host) == 1;
}

// From now on, an end without a farewell is an end like any other.
static inline void rebound_tls_take_any_end(SSL *session) {
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
  SSL_set_options(session, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
}

#endif
