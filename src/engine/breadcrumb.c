/* breadcrumb.c: see breadcrumb.h. Must never stand in the way: whatever fails here ends in a crumb
   that lives in ordinary memory. */
#include "engine/breadcrumb.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { LEFT_MAX = 4 * HF_BREADCRUMB_SLOTS };

#define CRUMB_MAGIC INT64_C(0x32424d5552434648) /* "HFCRUMB2" */

typedef struct crumb_file {
    int64_t magic;
    _Atomic int64_t slots[HF_BREADCRUMB_SLOTS];
} crumb_file;

struct hf_breadcrumb {
    crumb_file *file;
    crumb_file own; /* in place of a file that could not be had */
    char path[HF_BREADCRUMB_PATH];
    size_t left_count;
    int64_t left[LEFT_MAX];
    size_t run_count;
    int64_t runs[LEFT_MAX];
};

/* Reads what a dead process left. A file of another form says nothing. */
static void left_read(hf_breadcrumb *crumb, const char *path)
{
    crumb_file found;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t got = fd >= 0 ? read(fd, &found, sizeof(found)) : -1;

    if (fd >= 0)
        (void)close(fd);
    if (got != (ssize_t)sizeof(found) || found.magic != CRUMB_MAGIC)
        return;
    for (size_t i = 0; i < HF_BREADCRUMB_SLOTS; i++) {
        int64_t key = atomic_load(&found.slots[i]);

        if (key == 0 || crumb->left_count == LEFT_MAX)
            continue;
        crumb->left[crumb->left_count++] = key;
        if (i < HF_BREADCRUMB_RUNS || key < 0)
            crumb->runs[crumb->run_count++] = key < 0 ? -key : key;
    }
}

/* Every block is written before it is mapped: a store to a hole on a full disk would be a signal.
 */
static void file_map(hf_breadcrumb *crumb)
{
    const crumb_file blank = {.magic = CRUMB_MAGIC};
    int fd = open(crumb->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    void *mapped = MAP_FAILED;

    if (fd >= 0 && write(fd, &blank, sizeof(blank)) == (ssize_t)sizeof(blank))
        mapped = mmap(NULL, sizeof(blank), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    if (mapped != MAP_FAILED)
        crumb->file = mapped;
    else
        crumb->path[0] = '\0';
}

static bool path_fill(hf_breadcrumb *crumb, const char *front, const char *between,
                      const char *name)
{
    int len = snprintf(crumb->path, sizeof(crumb->path), "%s%s%s", front, between, name);

    if (len > 0 && (size_t)len < sizeof(crumb->path))
        return true;
    crumb->path[0] = '\0';
    return false;
}

static void sqlite_open(hf_breadcrumb *crumb, const char *address)
{
    const char *path = strncmp(address, "sqlite:", 7) == 0 ? address + 7 : address;

    if (strstr(path, ":memory:") || !path_fill(crumb, path, "-", "crumb"))
        return;
    left_read(crumb, crumb->path);
    file_map(crumb);
}

/* The folder for files that several processes share a store with; false when there is none. */
bool hf_breadcrumb_folder(char out_path[HF_BREADCRUMB_PATH])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    const char *temp = getenv("TMPDIR");
    int len;

    if (state && state[0] == '/')
        len = snprintf(out_path, HF_BREADCRUMB_PATH, "%s", state);
    else if (home && home[0] == '/')
        len = snprintf(out_path, HF_BREADCRUMB_PATH, "%s/.local/state", home);
    else
        len = snprintf(out_path, HF_BREADCRUMB_PATH, "%s", temp && temp[0] == '/' ? temp : "/tmp");
    if (len <= 0 || len >= HF_BREADCRUMB_PATH - 32)
        return false;
    for (char *at = out_path + 1; *at; at++) { /* folders that are there already stay as they are */
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(out_path, 0700);
        *at = '/';
    }
    (void)mkdir(out_path, 0700);
    (void)snprintf(out_path + len, HF_BREADCRUMB_PATH - (size_t)len, "/holdfast");
    return mkdir(out_path, 0700) == 0 || errno == EEXIST;
}

bool hf_breadcrumb_gone(long pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* crumb-STOREID-PID-NUMBER */
static void postgres_open(hf_breadcrumb *crumb, const char *store_id)
{
    static atomic_int made; /* by this process, whose number may have been another's before */
    char folder[HF_BREADCRUMB_PATH];
    char prefix[80];
    char name[128];
    int first = atomic_load(&made);
    struct dirent *entry;
    DIR *dir;

    if (!hf_breadcrumb_folder(folder) || !(dir = opendir(folder)))
        return;
    (void)snprintf(prefix, sizeof(prefix), "crumb-%s-", store_id);
    while ((entry = readdir(dir))) {
        char *end = NULL;
        long pid;
        long number;

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        pid = strtol(entry->d_name + strlen(prefix), &end, 10);
        number = *end == '-' ? strtol(end + 1, NULL, 10) : -1;
        if (pid <= 0 || number < 0 || !path_fill(crumb, folder, "/", entry->d_name))
            continue;
        if (pid == (long)getpid() ? number < first : !hf_breadcrumb_gone(pid))
            continue;
        left_read(crumb, crumb->path);
        (void)unlink(crumb->path);
    }
    (void)closedir(dir);
    (void)snprintf(name, sizeof(name), "%s%ld-%d", prefix, (long)getpid(),
                   atomic_fetch_add(&made, 1));
    if (path_fill(crumb, folder, "/", name))
        file_map(crumb);
}

/* The id that the store was given when it was made; "" when it cannot be read. */
static void store_id_read(hf_store *store, char out_id[64])
{
    const hf_db_value name = hf_db_text(HF_SLICE("store_id"));
    hf_db_cursor *cursor = NULL;
    bool found = false;

    out_id[0] = '\0';
    if (hf_db_query(hf_store_writer(store), HF_STMT_META_GET, &name, 1, &cursor, NULL) == HF_OK &&
        hf_db_step(cursor, &found, NULL) == HF_OK && found) {
        hf_slice id = hf_db_column_bytes(cursor, 0);

        (void)snprintf(out_id, 64, "%.*s", (int)(id.len < 63 ? id.len : 63), id.ptr);
    }
    hf_db_end(cursor);
}

hf_status hf_breadcrumb_open(hf_store *store, hf_breadcrumb **out_crumb, hf_err *err)
{
    hf_breadcrumb *crumb = hf_alloc(sizeof(*crumb));
    char id[64];

    if (!crumb)
        return hf_err_nomem(err, "the breadcrumb");
    crumb->file = &crumb->own;
    if (strcmp(hf_store_engine(store), "sqlite") == 0) {
        sqlite_open(crumb, hf_store_address(store));
    } else {
        store_id_read(store, id);
        if (id[0])
            postgres_open(crumb, id);
    }
    *out_crumb = crumb;
    return HF_OK;
}

void hf_breadcrumb_close(hf_breadcrumb *crumb)
{
    if (!crumb)
        return;
    if (crumb->file != &crumb->own)
        (void)munmap(crumb->file, sizeof(*crumb->file));
    if (crumb->path[0])
        (void)unlink(crumb->path);
    hf_alloc_free(crumb);
}

int64_t hf_breadcrumb_put(hf_breadcrumb *crumb, size_t slot, int64_t key)
{
    HF_ASSERT(slot < HF_BREADCRUMB_SLOTS);
    return atomic_exchange(&crumb->file->slots[slot], key);
}

bool hf_breadcrumb_left(const hf_breadcrumb *crumb, int64_t key)
{
    for (size_t i = 0; i < crumb->left_count; i++)
        if (crumb->left[i] == key)
            return true;
    return false;
}

int64_t hf_breadcrumb_run_left(const hf_breadcrumb *crumb, size_t nth)
{
    return nth < crumb->run_count ? crumb->runs[nth] : 0;
}
