/* listen.c: sockets. A peer that vanished without a word is found by keep-alive probes within about
   a minute, so that a parked request does not wait for nobody. */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/slice.h"

enum {
    BACKLOG = 1024,
    HOST_BYTES = 256,
    ALIVE_IDLE_S = 30,     /* quiet for so long: ask */
    ALIVE_INTERVAL_S = 10, /* and again */
    ALIVE_PROBES = 3
};

static hf_status socket_failure(hf_err *err, const char *what, const char *address)
{
    hf_status st = errno == EACCES       ? HF_DENIED
                   : errno == EADDRINUSE ? HF_BUSY
                   : errno == ENOENT     ? HF_NOTFOUND
                                         : HF_IO;

    return hf_err_set(err, st, "%s %s: %s", what, address, strerror(errno));
}

static int socket_prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -1;
    return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static hf_status socket_bind(int family, const struct sockaddr *to, socklen_t len,
                             const char *address, int *out_fd, hf_err *err)
{
    int one = 1;
    int fd = socket(family, SOCK_STREAM, 0);
    hf_status st = HF_OK;

    if (fd < 0)
        return socket_failure(err, "no socket for", address);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (socket_prepare(fd) < 0 || bind(fd, to, len) < 0 || listen(fd, BACKLOG) < 0)
        st = socket_failure(err, "cannot listen on", address);
    if (st) {
        (void)close(fd);
        return st;
    }
    *out_fd = fd;
    return HF_OK;
}

static hf_status unix_open(const char *path, int *out_fd, hf_err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    hf_status st;
    int probe;

    if (strlen(path) >= sizeof(to.sun_path))
        return hf_err_set(err, HF_INVALID, "the path %s is too long for a socket", path);
    memcpy(to.sun_path, path, strlen(path));
    st = socket_bind(AF_UNIX, (struct sockaddr *)&to, sizeof(to), path, out_fd, err);
    if (st != HF_BUSY)
        return st;
    /* The file may be left over from a process that died: then nobody answers. */
    probe = socket(AF_UNIX, SOCK_STREAM, 0);
    if (probe >= 0 && connect(probe, (struct sockaddr *)&to, sizeof(to)) < 0 &&
        errno == ECONNREFUSED && unlink(path) == 0)
        st = socket_bind(AF_UNIX, (struct sockaddr *)&to, sizeof(to), path, out_fd, err);
    if (probe >= 0)
        (void)close(probe);
    return st;
}

/* "host:port" or "[address]:port" in two pieces. */
static bool address_split(const char *address, char host[HOST_BYTES], const char **out_port)
{
    const char *colon = strrchr(address, ':');
    size_t len;

    if (!colon || colon == address)
        return false;
    *out_port = colon + 1;
    len = (size_t)(colon - address);
    if (address[0] == '[') {
        if (len < 3 || address[len - 1] != ']')
            return false;
        address++;
        len -= 2;
    } else if (memchr(address, ':', len)) {
        return false;
    }
    if (len >= HOST_BYTES || !**out_port)
        return false;
    (void)snprintf(host, HOST_BYTES, "%.*s", (int)len, address);
    return true;
}

static int port_of(int fd)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof(at);

    if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        return 0;
    if (at.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&at)->sin_port);
    return at.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&at)->sin6_port) : 0;
}

hf_status hf_listen_open(const char *address, int *out_fd, int *out_port, hf_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    char host[HOST_BYTES];
    const char *port;
    hf_status st;
    int failed;

    *out_port = 0;
    if (hf_slice_starts(hf_slice_of(address), HF_SLICE("unix:")))
        return unix_open(address + 5, out_fd, err);
    if (!address_split(address, host, &port))
        return hf_err_set(err, HF_INVALID, "\"%s\" is not HOST:PORT, [ADDRESS]:PORT or unix:PATH",
                          address);
    failed = getaddrinfo(host, port, &hints, &found);
    if (failed)
        return hf_err_set(err, HF_INVALID, "cannot find %s: %s", address, gai_strerror(failed));
    st = socket_bind(found->ai_family, found->ai_addr, found->ai_addrlen, address, out_fd, err);
    freeaddrinfo(found);
    if (!st)
        *out_port = port_of(*out_fd);
    return st;
}

bool hf_listen_is_loopback(const char *address)
{
    struct in6_addr six;
    struct in_addr four;
    char host[HOST_BYTES];
    const char *port;

    if (strcmp(address, "unix") == 0 || hf_slice_starts(hf_slice_of(address), HF_SLICE("unix:")))
        return true;
    if (!address_split(address, host, &port)) /* a peer's has no port */
        (void)snprintf(host, sizeof(host), "%.*s", (int)sizeof(host) - 1, address);
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &six) == 1)
        return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
    return strcmp(host, "localhost") == 0;
}

static void peer_print(const struct sockaddr_storage *peer, char *out_peer, size_t room)
{
    const void *at = NULL;

    if (peer->ss_family == AF_INET)
        at = &((const struct sockaddr_in *)peer)->sin_addr;
    else if (peer->ss_family == AF_INET6)
        at = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    if (!at || !inet_ntop(peer->ss_family, at, out_peer, (socklen_t)room))
        (void)snprintf(out_peer, room, "unix");
}

int hf_listen_accept(int listen_fd, char *out_peer, size_t room)
{
    struct sockaddr_storage peer = {0};
    socklen_t len = sizeof(peer);
    int idle = ALIVE_IDLE_S;
    int interval = ALIVE_INTERVAL_S;
    int probes = ALIVE_PROBES;
    int one = 1;
    int fd;

    do
        fd = accept(listen_fd, (struct sockaddr *)&peer, &len);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -1;
    if (socket_prepare(fd) < 0) {
        int kept = errno;

        (void)close(fd);
        errno = kept;
        return -1;
    }
    peer_print(&peer, out_peer, room);
    if (peer.ss_family != AF_UNIX) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    }
    return fd;
}
