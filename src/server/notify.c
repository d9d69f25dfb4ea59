/* notify.c: one datagram to the socket that the manager named. */
#include "server/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/slice.h"

void hf_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = path ? strlen(path) : 0;
    int fd;

    if (len < 2 || len >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, len);
    if (path[0] == '@') /* a name that is no file */
        to.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    (void)close(fd);
}

int64_t hf_notify_watchdog_ms(void)
{
    const char *pid = getenv("WATCHDOG_PID"); /* whom it is for, when that is said */
    const char *us = getenv("WATCHDOG_USEC");
    int64_t number = 0;

    if (pid && (!hf_slice_int(hf_slice_of(pid), &number) || number != (int64_t)getpid()))
        return 0;
    if (!us || !hf_slice_int(hf_slice_of(us), &number) || number <= 0)
        return 0;
    return number < 2000 ? 2 : number / 1000;
}
