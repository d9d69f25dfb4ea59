/* owner.c: who owns which SQLite file. Two rules: the side file is only removed by the one who
   holds its lock, and a lock counts only if the locked file still has the name, so that removing it
   is safe. The list of owned files is the one mutable global of the store layer: ownership is a
   property of the process, and two engines in it share nothing else. A mutex protects it. */
#define _GNU_SOURCE    /* F_OFD_SETLK: a lock of the open file, so that it also refuses our own    \
                          process */
#include "store/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"

enum {
    NOTE_BYTES_MAX = 320, /* "pid N on host NAME" */
    HOST_BYTES_MAX = 256,
    LOCK_TRIES = 100 /* the side file may be removed between opening and locking it */
};

struct hf_owner {
    char *path;
    char *side;   /* path of the side file */
    int fd;       /* holds the lock; -1 before */
    bool created; /* the file was absent, */
    bool empty;   /* or had no bytes, when the lock was taken */
    dev_t device;
    ino_t inode;
    bool listed;
    hf_owner *next;
};

static pthread_mutex_t owned_mutex = PTHREAD_MUTEX_INITIALIZER;
static hf_owner *owned_list;

static void owned_lock(void)
{
    int code = pthread_mutex_lock(&owned_mutex);

    HF_ASSERT(code == 0);
}

static void owned_unlock(void)
{
    int code = pthread_mutex_unlock(&owned_mutex);

    HF_ASSERT(code == 0);
}

static bool owned_add(hf_owner *owner)
{
    hf_owner *at;

    owned_lock();
    at = owned_list;
    while (at && (at->device != owner->device || at->inode != owner->inode))
        at = at->next;
    if (!at) {
        owner->next = owned_list;
        owned_list = owner;
        owner->listed = true;
    }
    owned_unlock();
    return owner->listed;
}

static void owned_remove(hf_owner *owner)
{
    hf_owner **at = &owned_list;

    owned_lock();
    while (*at && *at != owner)
        at = &(*at)->next;
    HF_ASSERT(*at);
    *at = owner->next;
    owner->listed = false;
    owned_unlock();
}

static hf_status errno_fail(hf_err *err, const char *doing, const char *path)
{
    char reason[128] = "unknown error";
    int number = errno;
    char buffer[128];
    hf_status st = HF_IO;

    (void)snprintf(reason, sizeof(reason), "%s", strerror_r(number, buffer, sizeof(buffer)));
    if (number == EACCES || number == EPERM)
        st = HF_DENIED;
    else if (number == EROFS)
        st = HF_READONLY;
    else if (number == ENOENT)
        st = HF_NOTFOUND;
    else if (number == ENOSPC || number == EDQUOT)
        st = HF_FULL;
    return hf_err_set(err, st, "cannot %s %s: %s", doing, path, reason);
}

/* "pid 123 on host x", or nothing when the note is not there yet or is not one of ours. */
static void note_read(int fd, char out_note[NOTE_BYTES_MAX])
{
    ssize_t got = pread(fd, out_note, NOTE_BYTES_MAX - 1, 0);
    size_t len = got > 0 ? (size_t)got : 0;

    if (len > 0 && out_note[len - 1] == '\n')
        len--;
    out_note[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (out_note[i] < ' ' || out_note[i] > '~')
            out_note[0] = '\0'; /* it ends up on terminals */
    if (strncmp(out_note, "pid ", 4) != 0)
        out_note[0] = '\0';
}

static hf_status note_write(int fd, const char *side, hf_err *err)
{
    char host[HOST_BYTES_MAX] = "unknown";
    char note[NOTE_BYTES_MAX];
    int len;

    if (gethostname(host, sizeof(host)) == 0)
        host[sizeof(host) - 1] = '\0';
    len = snprintf(note, sizeof(note), "pid %jd on host %s\n", (intmax_t)getpid(), host);
    HF_ASSERT(len > 0 && (size_t)len < sizeof(note));
    if (ftruncate(fd, 0) != 0 || pwrite(fd, note, (size_t)len, 0) != len)
        return errno_fail(err, "write", side);
    return HF_OK;
}

static hf_status owned_fail(const hf_owner *owner, hf_err *err)
{
    char note[NOTE_BYTES_MAX];
    const char *slash = strrchr(owner->path, '/');

    note_read(owner->fd, note);
    return hf_err_set(
        err, HF_OWNED, "another engine%s%s%s owns %s; stop it, or open the store read-only",
        note[0] ? " (" : "", note, note[0] ? ")" : "", slash ? slash + 1 : owner->path);
}

/* One try. *out_held: the lock is ours and the file still has its name. */
static hf_status side_try(hf_owner *owner, bool *out_held, hf_err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat locked;
    struct stat named;

    *out_held = false;
    owner->fd = open(owner->side, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (owner->fd < 0)
        return errno_fail(err, "open", owner->side);
    if (fcntl(owner->fd, F_OFD_SETLK, &whole) != 0) {
        if (errno == EAGAIN || errno == EACCES)
            return owned_fail(owner, err);
        return errno_fail(err, "lock", owner->side);
    }
    if (fstat(owner->fd, &locked) != 0)
        return errno_fail(err, "look at", owner->side);
    *out_held = stat(owner->side, &named) == 0 && named.st_dev == locked.st_dev &&
                named.st_ino == locked.st_ino;
    return HF_OK;
}

static hf_status side_lock(hf_owner *owner, hf_err *err)
{
    bool held = false;
    hf_status st = HF_OK;

    for (int i = 0; !st && !held && i < LOCK_TRIES; i++) {
        st = side_try(owner, &held, err);
        if (!held && owner->fd >= 0) {
            (void)close(owner->fd);
            owner->fd = -1;
        }
    }
    if (!st && !held)
        st = hf_err_set(err, HF_BUSY, "the owner's file %s changes all the time", owner->side);
    return st;
}

/* Under the lock nobody else makes or opens the file for writing, so what is found now is what was
   there. */
static hf_status file_claim(hf_owner *owner, bool create, hf_err *err)
{
    struct stat found;
    int fd;

    if (create) {
        fd = open(owner->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0 && errno != EEXIST)
            return errno_fail(err, "create", owner->path);
        owner->created = fd >= 0;
        if (fd >= 0)
            (void)close(fd); /* a new file: no connection of this process can have locks on it */
    }
    if (stat(owner->path, &found) != 0)
        return errno_fail(err, "find", owner->path);
    owner->empty = found.st_size == 0;
    owner->device = found.st_dev;
    owner->inode = found.st_ino;
    return owned_add(owner) ? HF_OK : owned_fail(owner, err);
}

static hf_status names_make(hf_owner *owner, const char *path, hf_err *err)
{
    hf_buf side = {0};

    hf_buf_add_text(&side, path);
    hf_buf_add_text(&side, "-owner");
    owner->path = hf_alloc_text(path, strlen(path));
    owner->side = hf_buf_ok(&side) ? hf_alloc_text(side.ptr, side.len) : NULL;
    hf_buf_fini(&side);
    return owner->path && owner->side ? HF_OK : hf_err_nomem(err, "the owner of a store");
}

hf_status hf_owner_take(const char *path, bool create, hf_owner **out_owner, hf_err *err)
{
    hf_owner *owner = hf_alloc(sizeof(*owner));
    hf_status st;

    *out_owner = NULL;
    if (!owner)
        return hf_err_nomem(err, "the owner of a store");
    owner->fd = -1;
    st = names_make(owner, path, err);
    if (!st)
        st = side_lock(owner, err);
    if (!st)
        st = file_claim(owner, create, err);
    if (!st)
        st = note_write(owner->fd, owner->side, err);
    if (st) {
        hf_owner_undo(owner);
        hf_owner_release(owner);
        return st;
    }
    *out_owner = owner;
    return HF_OK;
}

void hf_owner_undo(hf_owner *owner)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};

    if (!owner->listed || !(owner->created || owner->empty))
        return;
    if (owner->created)
        (void)unlink(owner->path);
    else if (truncate(owner->path, 0) != 0)
        return; /* the next opening finds a store that was not finished, and finishes it */
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        hf_buf name = {0};

        hf_buf_add_text(&name, owner->path);
        hf_buf_add_text(&name, endings[i]);
        if (hf_buf_ok(&name))
            (void)unlink(hf_buf_text(&name));
        hf_buf_fini(&name);
    }
}

void hf_owner_release(hf_owner *owner)
{
    if (!owner)
        return;
    if (owner->listed)
        owned_remove(owner);
    if (owner->fd >= 0) {
        (void)unlink(owner->side); /* before the lock goes with the descriptor */
        (void)close(owner->fd);
    }
    hf_alloc_free(owner->side);
    hf_alloc_free(owner->path);
    hf_alloc_free(owner);
}
