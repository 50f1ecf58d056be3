#ifndef REBOUND_CHIREDIS_SHIM_H
#define REBOUND_CHIREDIS_SHIM_H

#include <hiredis/hiredis.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Swift sees the constants of epoll as enumerations of many types, and its packed struct not on all platforms.

static inline int rebound_epoll_create(void) {
  return epoll_create1(EPOLL_CLOEXEC);
}

static inline int rebound_epoll_change(int epoll, int operation, int descriptor, int reads, int writes) {
  struct epoll_event event = {0};
  event.events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);
  event.data.fd = descriptor;
  return epoll_ctl(epoll, operation, descriptor, &event);
}
static inline int rebound_epoll_add(int epoll, int descriptor, int reads, int writes) {
  return rebound_epoll_change(epoll, EPOLL_CTL_ADD, descriptor, reads, writes);
}
static inline int rebound_epoll_modify(int epoll, int descriptor, int reads, int writes) {
  return rebound_epoll_change(epoll, EPOLL_CTL_MOD, descriptor, reads, writes);
}
static inline int rebound_epoll_remove(int epoll, int descriptor) {
  return rebound_epoll_change(epoll, EPOLL_CTL_DEL, descriptor, 0, 0);
}

// What is ready on a descriptor.
typedef struct {
  int descriptor;
  int can_read;
  int can_write;
} rebound_epoll_ready;

// Waits for eight descriptors at most; a hang-up is both, so that whoever reads or writes finds it.
static inline int rebound_epoll_wait(int epoll, rebound_epoll_ready *ready, int milliseconds) {
  struct epoll_event events[8];
  int count = epoll_wait(epoll, events, 8, milliseconds);
  for (int index = 0; index < count; index++) {
    int is_over = (events[index].events & (EPOLLERR | EPOLLHUP)) != 0;
    ready[index].descriptor = events[index].data.fd;
    ready[index].can_read = is_over || (events[index].events & EPOLLIN) != 0;
    ready[index].can_write = is_over || (events[index].events & EPOLLOUT) != 0;
  }
  return count;
}

static inline int rebound_eventfd_create(void) {
  return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}
static inline void rebound_eventfd_raise(int descriptor) {
  eventfd_write(descriptor, 1);
}
static inline void rebound_eventfd_clear(int descriptor) {
  eventfd_t value;
  eventfd_read(descriptor, &value);
}

static inline const char *rebound_redis_error(const redisContext *context) {
  return context->errstr;
}

// The number of what has become of a connection that was being made; zero if it stands.
static inline int rebound_socket_error(int descriptor) {
  int error = 0;
  socklen_t length = sizeof(error);
  return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : -1;
}

#endif
