/* pg.c: the guardian process and what the test program says to it.

   The test program and the guardian share a socket pair. The program sends one letter, the guardian
   does it and answers with a line: "ok" or what went wrong. The end of the program closes the
   socket, which ends the server. The guardian must never outlive its server's folder, and must not
   print. */
#define _GNU_SOURCE
#include "lib/pg.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

enum { PATH_SIZE = 256, ANSWER_SIZE = 512, ARGS_MAX = 24, TICK_MS = 10, START_MS_MAX = 60000 };

enum command { COMMAND_CREATE = 'i', COMMAND_COPY = 'b', COMMAND_CRASH = 'c', COMMAND_START = 's' };

struct hf_pg_server {
    char bin[PATH_SIZE]; /* folder of initdb and postgres */
    char dir[PATH_SIZE]; /* holds data/, log and the socket */
    char uri[PATH_SIZE];
    int port;
    int primary_port; /* of a standby */
    int control;      /* our end of the socket pair */
    pid_t guardian;
    pid_t postmaster; /* known to the guardian only */
};

static void tick(void)
{
    const struct timespec pause = {.tv_nsec = TICK_MS * 1000000L};

    (void)nanosleep(&pause, NULL);
}

/* The newest /usr/lib/postgresql/N/bin, or the folder of initdb in PATH. */
static bool bin_find(char *bin)
{
    DIR *folder = opendir("/usr/lib/postgresql");
    struct dirent *item;
    long newest = 0;
    char *path = getenv("PATH");

    while (folder && (item = readdir(folder))) {
        long version = strtol(item->d_name, NULL, 10);
        char candidate[PATH_SIZE];

        (void)snprintf(candidate, sizeof(candidate), "/usr/lib/postgresql/%ld/bin/initdb", version);
        if (version > newest && access(candidate, X_OK) == 0)
            newest = version;
    }
    if (folder)
        (void)closedir(folder);
    if (newest) {
        (void)snprintf(bin, PATH_SIZE, "/usr/lib/postgresql/%ld/bin", newest);
        return true;
    }
    for (hf_slice rest = hf_slice_of(path), part; hf_slice_split(&rest, ':', &part);) {
        char candidate[PATH_SIZE];

        (void)snprintf(candidate, sizeof(candidate), "%.*s/initdb", (int)part.len, part.ptr);
        if (access(candidate, X_OK) == 0) {
            (void)snprintf(bin, PATH_SIZE, "%.*s", (int)part.len, part.ptr);
            return true;
        }
    }
    return false;
}

/* A port nobody uses at this moment; 0 when there is none. */
static int port_find(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int port = 0;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        port = ntohs(address.sin_port);
    if (fd >= 0)
        (void)close(fd);
    return port;
}

/* ---- inside the guardian */

static int entry_remove(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

/* PostgreSQL refuses to run as root. Changing credentials clears the death signal, so it comes
 * last. */
static void child_become_server_user(void)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;

    if (geteuid() == 0 &&
        (!user || setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid)))
        _exit(126);
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
}

/* Starts bin/args[0] with output to the log and `input` as its standard input (NULL for none). */
static pid_t program_start(const hf_pg_server *server, const char *const *args, const char *input)
{
    char program[PATH_SIZE * 2];
    char log[PATH_SIZE * 2];
    int in[2] = {-1, -1};
    pid_t child;

    if (pipe(in))
        return -1;
    (void)snprintf(program, sizeof(program), "%s/%s", server->bin, args[0]);
    (void)snprintf(log, sizeof(log), "%s/log", server->dir);
    child = fork();
    if (child == 0) {
        char *argv[ARGS_MAX] = {0};
        int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);

        argv[0] = program; /* with its folder: it looks for the others there */
        for (size_t i = 1; i + 1 < ARGS_MAX && args[i]; i++)
            argv[i] = (char *)(uintptr_t)args[i]; /* execv promises not to write there */
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out, STDOUT_FILENO);
        (void)dup2(out, STDERR_FILENO);
        closefrom(STDERR_FILENO + 1);
        child_become_server_user();
        if (chdir(server->dir) == 0)
            (void)execv(program, argv);
        _exit(127);
    }
    (void)close(in[0]);
    if (child > 0 && input)
        (void)!write(in[1], input, strlen(input));
    (void)close(in[1]);
    return child;
}

static bool program_run(const hf_pg_server *server, const char *const *args, const char *input)
{
    pid_t child = program_start(server, args, input);
    int status = -1;

    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Line 8 of postmaster.pid is "ready" once connections are taken (a standby: after consistency). */
static bool postmaster_ready(const hf_pg_server *server)
{
    char path[PATH_SIZE * 2];
    char line[PATH_SIZE] = "";
    FILE *file;
    bool complete = true;

    (void)snprintf(path, sizeof(path), "%s/data/postmaster.pid", server->dir);
    file = fopen(path, "r");
    if (!file)
        return false;
    for (int i = 0; i < 8 && complete; i++)
        complete = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file);
    return complete && strncmp(line, "ready", 5) == 0;
}

static void postmaster_stop(hf_pg_server *server)
{
    if (server->postmaster <= 0)
        return;
    (void)kill(server->postmaster, SIGQUIT);
    while (waitpid(server->postmaster, NULL, 0) < 0 && errno == EINTR)
        continue;
    server->postmaster = 0;
}

static bool postmaster_start(hf_pg_server *server)
{
    char port[16];
    char data[PATH_SIZE * 2];
    const char *const args[] = {"postgres",
                                "-D",
                                data,
                                "-p",
                                port,
                                "-k",
                                server->dir,
                                "-h",
                                "127.0.0.1",
                                "-c",
                                "fsync=on",
                                "-c",
                                "synchronous_commit=on",
                                "-c",
                                "shared_buffers=16MB",
                                "-c",
                                "max_connections=60",
                                NULL};

    (void)snprintf(port, sizeof(port), "%d", server->port);
    (void)snprintf(data, sizeof(data), "%s/data", server->dir);
    postmaster_stop(server);
    server->postmaster = program_start(server, args, NULL);
    for (int waited = 0; waited < START_MS_MAX && server->postmaster > 0; waited += TICK_MS) {
        if (waitpid(server->postmaster, NULL, WNOHANG) == server->postmaster) {
            server->postmaster = 0;
            return false;
        }
        if (postmaster_ready(server))
            return true;
        tick();
    }
    postmaster_stop(server);
    return false;
}

static bool cluster_create(const hf_pg_server *server)
{
    static const char hba[] = "local all all trust\n"
                              "local replication all trust\n"
                              "host all hf_password 127.0.0.1/32 scram-sha-256\n"
                              "host all all 127.0.0.1/32 trust\n"
                              "host replication all 127.0.0.1/32 trust\n";
    static const char sql[] = "CREATE DATABASE holdfast;\n"
                              "CREATE ROLE hf_password LOGIN PASSWORD '" HF_PG_PASSWORD "';\n";
    static const char *const initdb[] = {"initdb",          "--no-sync",  "--auth=trust",
                                         "--encoding=UTF8", "--locale=C", "--username=holdfast",
                                         "--pgdata=data",   NULL};
    static const char *const single[] = {"postgres", "--single", "-D", "data", "postgres", NULL};
    char path[PATH_SIZE * 2];
    FILE *file;
    bool written;

    if (!program_run(server, initdb, NULL))
        return false;
    (void)snprintf(path, sizeof(path), "%s/data/pg_hba.conf", server->dir);
    file = fopen(path, "w");
    written = file && fputs(hba, file) >= 0;
    if (file && fclose(file))
        written = false;
    return written && program_run(server, single, sql);
}

static bool cluster_copy(const hf_pg_server *server)
{
    char port[16];
    const char *const args[] = {
        "pg_basebackup", "-h", "127.0.0.1", "-p",     port, "-U",   "holdfast",  "-D",
        "data",          "-R", "-X",        "stream", "-c", "fast", "--no-sync", NULL};

    (void)snprintf(port, sizeof(port), "%d", server->primary_port);
    return program_run(server, args, NULL);
}

/* The end of the log is the best explanation there is. */
static void log_tail(const hf_pg_server *server, char *out, size_t size)
{
    char path[PATH_SIZE * 2];
    FILE *file;
    size_t used = 0;

    (void)snprintf(path, sizeof(path), "%s/log", server->dir);
    file = fopen(path, "r");
    if (file && fseek(file, -(long)(size / 2), SEEK_END) != 0)
        rewind(file);
    if (file) {
        used = fread(out, 1, size / 2, file);
        (void)fclose(file);
    }
    out[used] = '\0';
    for (char *at = out; *at; at++)
        if (*at == '\n')
            *at = ' ';
}

/* Serves commands until the test program closes its end. */
static void guardian_serve(hf_pg_server *server, int control)
{
    char letter;

    while (read(control, &letter, 1) == 1) {
        char answer[ANSWER_SIZE] = "ok";
        bool done = true;

        switch ((enum command)letter) {
        case COMMAND_CREATE:
            done = cluster_create(server);
            break;
        case COMMAND_COPY:
            done = cluster_copy(server);
            break;
        case COMMAND_CRASH:
            postmaster_stop(server);
            break;
        case COMMAND_START:
            done = postmaster_start(server);
            break;
        }
        if (!done)
            log_tail(server, answer, sizeof(answer));
        if (write(control, answer, sizeof(answer)) != (ssize_t)sizeof(answer))
            break;
    }
}

/* In a session of its own, so that signals to the test's process group do not reach it. */
static void guardian_run(hf_pg_server *server, int control)
{
    int kept;

    (void)setsid();
    (void)signal(SIGPIPE, SIG_IGN);
    kept = dup2(control, STDERR_FILENO + 1);
    closefrom(STDERR_FILENO + 2);
    guardian_serve(server, kept);
    postmaster_stop(server);
    (void)nftw(server->dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

/* ---- inside the test program */

static hf_status server_ask(hf_pg_server *server, enum command command, const char *what,
                            hf_err *err)
{
    char letter = (char)command;
    char answer[ANSWER_SIZE + 1] = "";
    size_t have = 0;

    if (send(server->control, &letter, 1, MSG_NOSIGNAL) != 1)
        return hf_err_set(err, HF_ERROR, "%s: the guardian is gone", what);
    while (have < ANSWER_SIZE) {
        ssize_t got = read(server->control, answer + have, ANSWER_SIZE - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return hf_err_set(err, HF_ERROR, "%s: the guardian died", what);
        have += (size_t)got;
    }
    if (strcmp(answer, "ok") != 0)
        return hf_err_set(err, HF_ERROR, "%s: %s", what, answer);
    return HF_OK;
}

/* Makes the folder and the guardian; the cluster comes next. `primary_port` is 0 unless it will be
 * a standby. */
static hf_status server_new(int primary_port, hf_pg_server **out_server, hf_err *err)
{
    const char *temporary = getenv("TMPDIR");
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    hf_pg_server *server = hf_alloc(sizeof(*server));
    int ends[2];

    if (!server)
        return hf_err_nomem(err, "PostgreSQL server");
    server->primary_port = primary_port;
    server->port = port_find();
    (void)snprintf(server->uri, sizeof(server->uri), "postgresql://holdfast@127.0.0.1:%d/holdfast",
                   server->port);
    /* The name of a socket must fit into 107 bytes. */
    (void)snprintf(server->dir, sizeof(server->dir), "%s/hf_pg_XXXXXX",
                   temporary && strlen(temporary) <= 60 ? temporary : "/tmp");
    if (!bin_find(server->bin)) {
        hf_alloc_free(server);
        return hf_err_set(err, HF_NOTFOUND, "no initdb under /usr/lib/postgresql or in PATH");
    }
    if (!mkdtemp(server->dir) || (user && chown(server->dir, user->pw_uid, user->pw_gid)) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        hf_err_set(err, HF_IO, "cannot make %s: %s", server->dir, strerror(errno));
        hf_alloc_free(server);
        return HF_IO;
    }
    server->guardian = fork();
    if (server->guardian == 0) {
        (void)close(ends[0]);
        guardian_run(server, ends[1]);
    }
    (void)close(ends[1]);
    server->control = ends[0];
    *out_server = server;
    return HF_OK;
}

static void server_stop(hf_pg_server *server)
{
    (void)close(server->control);
    while (waitpid(server->guardian, NULL, 0) < 0 && errno == EINTR)
        continue;
    hf_alloc_free(server);
}

/* Somebody may take the port between the choice and the start, so it is tried again with another.
 */
static hf_status server_start(int primary_port, hf_pg_server **out_server, hf_err *err)
{
    hf_status st = HF_ERROR;

    *out_server = NULL;
    for (int attempt = 0; attempt < 3 && st == HF_ERROR; attempt++) {
        hf_pg_server *server = NULL;

        st = server_new(primary_port, &server, err);
        if (st)
            return st;
        st = primary_port ? server_ask(server, COMMAND_COPY, "pg_basebackup", err)
                          : server_ask(server, COMMAND_CREATE, "initdb", err);
        if (!st)
            st = server_ask(server, COMMAND_START, "start", err);
        if (st)
            server_stop(server);
        else
            *out_server = server;
    }
    return st;
}

hf_status hf_pg_start(hf_pg_server **out_server, hf_err *err)
{
    return server_start(0, out_server, err);
}

hf_status hf_pg_start_standby(hf_pg_server *primary, hf_pg_server **out_server, hf_err *err)
{
    return server_start(primary->port, out_server, err);
}

const char *hf_pg_uri(const hf_pg_server *server)
{
    return server->uri;
}

int hf_pg_port(const hf_pg_server *server)
{
    return server->port;
}

hf_status hf_pg_crash(hf_pg_server *server, hf_err *err)
{
    return server_ask(server, COMMAND_CRASH, "crash", err);
}

hf_status hf_pg_restart(hf_pg_server *server, hf_err *err)
{
    return server_ask(server, COMMAND_START, "restart", err);
}

void hf_pg_stop(hf_pg_server *server)
{
    if (server)
        server_stop(server);
}

int hf_pg_suite_run(const char *name, const hf_case *cases, size_t count)
{
    hf_pg_server *server = NULL;
    hf_err err = {0};
    int result;

    if (!getenv("HF_TEST_PG")) {
        if (hf_pg_start(&server, &err)) {
            (void)fprintf(stderr, "%s: cannot start PostgreSQL: %s\n", name, err.text);
            return EXIT_FAILURE;
        }
        (void)setenv("HF_TEST_PG", hf_pg_uri(server), 1);
    }
    result = hf_suite_run(name, cases, count);
    hf_pg_stop(server);
    return result;
}

hf_status hf_pg_driver(const char *build_dir, const hf_db_driver **out_driver, hf_err *err)
{
    char path[PATH_SIZE * 2];
    void *fault = NULL;
    hf_db_module_fn *module;
    void *library;

#ifdef HF_FAULT
    fault = hf_fault_shared();
#endif
    (void)snprintf(path, sizeof(path), "%s/holdfast-postgres.so", build_dir);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return hf_err_set(err, HF_NOTFOUND, "%s", dlerror());
    *(void **)&module = dlsym(library, HF_DB_MODULE_SYMBOL);
    if (!module)
        return hf_err_set(err, HF_INVALID, "%s has no " HF_DB_MODULE_SYMBOL, path);
    *out_driver = module(fault);
    return HF_OK;
}
