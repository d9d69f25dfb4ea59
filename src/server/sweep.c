/* sweep.c: see sweep.h. Whoever hands out a reference touches its file under a shared lock
   (storage.c); here a file is judged and removed under an exclusive one, so that none goes between
   being touched and being told of. */
#include "server/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/server_impl.h"

#define DAY_US   INT64_C(86400000000)
#define PAUSE_US INT64_C(3600000000)

enum { FOLDERS = 256, BATCH = 256 };

/* ---- files */

/* Whether the file went. */
static bool file_remove(int folder, const char *name, int64_t before_us)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat about;
    bool gone = false;

    if (fd < 0)
        return false;
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &about) && S_ISREG(about.st_mode) &&
        (int64_t)about.st_mtim.tv_sec * 1000000 + about.st_mtim.tv_nsec / 1000 < before_us)
        gone = !unlinkat(folder, name, 0);
    (void)close(fd);
    return gone;
}

static hf_status folder_sweep(const char *path, int64_t before_us, int64_t most,
                              int64_t *out_removed, bool *out_more, hf_err *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    if (!folder)
        return errno == ENOENT ? HF_OK
                               : hf_err_set(err, HF_IO, "look into %s: %s", path, strerror(errno));
    while (!*out_more && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        if (*out_removed == most)
            *out_more = true; /* perhaps */
        else
            *out_removed += file_remove(dirfd(folder), entry->d_name, before_us);
    }
    (void)closedir(folder);
    return HF_OK;
}

hf_status hf_sweep_files(const char *root, const char *space, int64_t before_us, int64_t most,
                         int64_t *out_removed, bool *out_more, hf_err *err)
{
    hf_status st = HF_OK;

    *out_removed = 0;
    *out_more = false;
    for (unsigned i = 0; !st && !*out_more && i < FOLDERS; i++) {
        char path[PATH_MAX];
        int len = snprintf(path, sizeof(path), "%s/%s/avro/%02x", root, space, i);

        if (len < 0 || len >= (int)sizeof(path))
            return hf_err_set(err, HF_INVALID, "the path of the storage directory is too long");
        st = folder_sweep(path, before_us, most, out_removed, out_more, err);
    }
    return st;
}

/* ---- namespaces */

/* All namespaces, in the arena. */
static hf_status spaces_read(hf_server *server, hf_mem *mem, hf_value *out_rows, hf_err *err)
{
    hf_status st = hf_namespaces(server->engine, mem, out_rows);

    return st ? hf_err_set(err, st, "%s", hf_errmsg(server->engine)) : HF_OK;
}

static hf_status row_sweep(hf_server *server, hf_value row, int64_t most, int64_t *out_removed,
                           bool *out_more, hf_err *err)
{
    int64_t days = hf_int(row, "retention_days", HF_NAMESPACE_FOR_EVER);

    *out_removed = 0;
    *out_more = false;
    if (days < 1) /* kept for ever */
        return HF_OK;
    return hf_sweep_files(server->storage_root, hf_str(row, "name", ""),
                          hf_clock_real_us(server->clock) - days * DAY_US, most, out_removed,
                          out_more, err);
}

hf_status hf_sweep_space(hf_server *server, const char *space, int64_t most, int64_t *out_removed,
                         bool *out_more, hf_err *err)
{
    hf_mem *mem;
    hf_value rows = NULL;
    hf_status st;

    *out_removed = 0;
    *out_more = false;
    if (!server->storage_root[0])
        return HF_OK;
    mem = hf_mem_new();
    st = mem ? spaces_read(server, mem, &rows, err) : hf_err_nomem(err, "namespaces");
    for (size_t i = 0; !st && i < hf_len(rows); i++)
        if (strcmp(hf_str(hf_at(rows, i), "name", ""), space) == 0)
            st = row_sweep(server, hf_at(rows, i), most, out_removed, out_more, err);
    hf_mem_free(mem);
    return st;
}

/* ---- by itself */

struct hf_sweeper {
    hf_server *server;
    hf_thread thread;
    hf_mutex lock;
    hf_cond wake;
    bool stop; /* under the lock */
};

static bool is_stopped(hf_sweeper *sweeper)
{
    bool stop;

    hf_mutex_lock(&sweeper->lock);
    stop = sweeper->stop;
    hf_mutex_unlock(&sweeper->lock);
    return stop;
}

/* A failure is not the server's: the next round tries again. */
static void round_run(hf_sweeper *sweeper)
{
    hf_mem *mem = hf_mem_new();
    hf_value rows = NULL;
    hf_err err = {0};
    hf_status st = mem ? spaces_read(sweeper->server, mem, &rows, &err) : HF_NOMEM;

    for (size_t i = 0; !st && i < hf_len(rows); i++) {
        int64_t removed = 0;
        bool more = true;

        while (!st && more && !is_stopped(sweeper)) {
            st = row_sweep(sweeper->server, hf_at(rows, i), BATCH, &removed, &more, &err);
            more = more && removed > 0;
        }
    }
    hf_mem_free(mem);
}

static void sweeper_run(void *ctx)
{
    hf_sweeper *sweeper = ctx;
    int64_t until_us;

    while (!is_stopped(sweeper)) {
        round_run(sweeper);
        until_us = hf_clock_mono_us(hf_clock_system()) + PAUSE_US;
        hf_mutex_lock(&sweeper->lock);
        while (!sweeper->stop &&
               hf_cond_wait_until(&sweeper->wake, &sweeper->lock, until_us) == HF_OK)
            ;
        hf_mutex_unlock(&sweeper->lock);
    }
}

hf_status hf_sweeper_open(hf_server *server, hf_sweeper **out_sweeper, hf_err *err)
{
    hf_sweeper *sweeper = hf_alloc(sizeof(*sweeper));
    hf_status st;

    if (!sweeper)
        return hf_err_nomem(err, "who removes files");
    sweeper->server = server;
    st = hf_mutex_init(&sweeper->lock, err);
    if (st) {
        hf_alloc_free(sweeper);
        return st;
    }
    st = hf_cond_init(&sweeper->wake, err);
    if (!st) {
        st = hf_thread_start(&sweeper->thread, "hf-sweep", sweeper_run, sweeper, err);
        if (st)
            hf_cond_fini(&sweeper->wake);
    }
    if (st) {
        hf_mutex_fini(&sweeper->lock);
        hf_alloc_free(sweeper);
        return st;
    }
    *out_sweeper = sweeper;
    return HF_OK;
}

void hf_sweeper_close(hf_sweeper *sweeper)
{
    if (!sweeper)
        return;
    hf_mutex_lock(&sweeper->lock);
    sweeper->stop = true;
    hf_cond_broadcast(&sweeper->wake);
    hf_mutex_unlock(&sweeper->lock);
    hf_thread_join(&sweeper->thread);
    hf_cond_fini(&sweeper->wake);
    hf_mutex_fini(&sweeper->lock);
    hf_alloc_free(sweeper);
}
