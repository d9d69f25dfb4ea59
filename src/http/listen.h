/* listen.h: an address to listen on becomes a socket. */
#ifndef HF_HTTP_LISTEN_H
#define HF_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/err.h"

/* A listening socket that does not block and is not inherited. *out_port is 0 for unix:PATH. */
HF_NODISCARD hf_status hf_listen_open(const char *address, int *out_fd, int *out_port, hf_err *err);

/* Whether an address to listen on, or that of a peer, can be reached from this machine only, by its
   text alone: a name other than localhost may be anybody's. */
bool hf_listen_is_loopback(const char *address);

/* Accepts one connection with everything set that ours have: no blocking, no delay, signs of life.
   -1 with errno when there is none. */
int hf_listen_accept(int listen_fd, char *out_peer, size_t room);

#endif
