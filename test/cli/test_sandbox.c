/* test_sandbox.c: what a process that was taken over cannot do any more (T30). Each attempt is made
   in a child that has entered the sandbox, in a thread that it started afterwards. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "cli/sandbox.h"
#include "lib/suite.h"
#include "lib/wire.h"

typedef struct attempt {
    char inside[64];
    char outside[64];
    int port;
    bool connects;
    const char *done; /* what went wrong; NULL: nothing */
} attempt;

static bool can_write(const char *folder)
{
    char path[128];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/file", folder);
    fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0 && !unlink(path);
}

/* Folders come and go where payloads are kept; devices are nobody's to make. */
static bool can_keep(const char *folder)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/folder", folder);
    return !mkdir(path, 0700) && !rmdir(path);
}

static bool can_connect(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int got;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    got = connect(fd, (struct sockaddr *)&to, sizeof(to));
    (void)close(fd);
    return got == 0;
}

/* Whether this system has Landlock, and from which version on. */
static long landlock_version(void)
{
    FILE *file = popen("python3 -c 'import ctypes; "
                       "print(ctypes.CDLL(None).syscall(444, None, 0, 1))' 2>/dev/null",
                       "r");
    long version = -1;

    if (!file || fscanf(file, "%ld", &version) != 1)
        version = -1;
    if (file)
        (void)pclose(file);
    return version;
}

static long version;

static void attempt_make(void *ctx)
{
    attempt *a = ctx;
    char *const words[] = {"true", NULL};
    char path[128];

    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        a->done = "it may still gain privileges";
    else if (!can_write(a->inside))
        a->done = "it cannot write where it must";
    else if (!can_keep(a->inside))
        a->done = "it cannot make folders where it must";
    else if (version >= 1 && can_keep(a->outside))
        a->done = "it makes folders elsewhere";
    else if (version >= 1 && can_write(a->outside))
        a->done = "it writes elsewhere";
    else if (version >= 4 && can_connect(a->port) != a->connects)
        a->done = "connections are not as they should be";
    else if (execv("/bin/true", words) != -1 || (errno != EPERM && errno != EACCES))
        a->done = "it starts programs";
    else if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0)
        a->done = "it cannot read what libraries read";
    (void)snprintf(path, sizeof(path), "%s/kept", a->outside);
    if (!a->done && version >= 3 && truncate(path, 0) == 0)
        a->done = "it empties files";
    if (!a->done && version >= 1 && unlink(path) == 0)
        a->done = "it removes files";
}

static int escape(attempt *a)
{
    const char *const folders[] = {a->inside};
    hf_thread thread = {0};
    hf_err err = {0};

    if (hf_sandbox_enter(&(hf_sandbox){folders, 1, a->connects}, &err) ||
        hf_thread_start(&thread, "attempt", attempt_make, a, &err))
        a->done = err.text;
    hf_thread_join(&thread);
    if (a->done)
        (void)fprintf(stderr, "%s\n", a->done);
    return a->done != NULL;
}

static void escape_try(bool connects)
{
    attempt a = {.inside = "/tmp/hf-inside-XXXXXX",
                 .outside = "/tmp/hf-outside-XXXXXX",
                 .connects = connects};
    char path[128];
    int status = 0;
    int listening = hf_wire_listen(&a.port);
    pid_t child;
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(a.inside));
    ck_assert_ptr_nonnull(mkdtemp(a.outside));
    (void)snprintf(path, sizeof(path), "%s/kept", a.outside);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    version = landlock_version();
    child = fork();
    if (child == 0)
        _exit(escape(&a));
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "see above");
    (void)close(listening);
    ck_assert(unlink(path) == 0 || version < 1);
    (void)rmdir(a.inside);
    (void)rmdir(a.outside);
}

/* With a store that is a file nobody is connected to. */
START_TEST(t30_nothing_is_gained)
{
    escape_try(false);
}
END_TEST

/* With a database elsewhere connections are made, and the rest holds. */
START_TEST(t30_connections_are_allowed)
{
    escape_try(true);
}
END_TEST

HF_SUITE_MAIN("cli/sandbox", {t30_nothing_is_gained, 0}, {t30_connections_are_allowed, 0})
