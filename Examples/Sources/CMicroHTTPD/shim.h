#ifndef REBOUND_EXAMPLES_CMICROHTTPD_SHIM_H
#define REBOUND_EXAMPLES_CMICROHTTPD_SHIM_H

#include <microhttpd.h>

// Swift imports neither C-variadic functions nor macros with casts, so both get plain names here.

typedef void *(*shim_target_callback)(void *context, const char *target, struct MHD_Connection *connection);

static const ssize_t shim_reader_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t shim_reader_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;
static const uint64_t shim_size_unknown = MHD_SIZE_UNKNOWN;

/// The pointer that was given to a connection when it began.
static inline void *shim_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// The socket of a connection; -1 if it has none.
static inline MHD_socket shim_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : MHD_INVALID_SOCKET;
}

/// Starts a daemon on a socket that already listens. `context` is handed to all four callbacks.
static inline struct MHD_Daemon *shim_start_daemon(
    MHD_socket listening_socket,
    unsigned int connection_limit,
    unsigned int connection_limit_per_address,
    unsigned int timeout_seconds,
    void *context,
    shim_target_callback receive_target,
    MHD_AccessHandlerCallback receive_request,
    MHD_RequestCompletedCallback request_completed,
    MHD_NotifyConnectionCallback connection_changed) {
  return MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
      NULL, NULL,
      receive_request, context,
      MHD_OPTION_LISTEN_SOCKET, listening_socket,
      MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, connection_limit_per_address,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
      MHD_OPTION_URI_LOG_CALLBACK, receive_target, context,
      MHD_OPTION_NOTIFY_COMPLETED, request_completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, connection_changed, context,
      MHD_OPTION_END);
}

#endif
