/* crumb_file.c: see crumb_file.h. Must never stand in the way. */
#include "engine/crumb_file.h"

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

bool hf_crumb_file_read(const char *path, void *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t got = fd >= 0 ? read(fd, out, size) : -1;

    if (fd >= 0)
        (void)close(fd);
    return got == (ssize_t)size;
}

/* Every block is written before it is mapped: a store to a hole on a full disk would be a signal.
 */
void *hf_crumb_file_map(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    void *mapped = MAP_FAILED;

    if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size)
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

void hf_crumb_file_unmap(void *mapped, size_t size, const char *path)
{
    (void)munmap(mapped, size);
    (void)unlink(path);
}

/* False: it cannot be had. */
static bool folder_make(char out_path[HF_CRUMB_PATH])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    const char *temp = getenv("TMPDIR");
    int len;

    if (state && state[0] == '/')
        len = snprintf(out_path, HF_CRUMB_PATH, "%s", state);
    else if (home && home[0] == '/')
        len = snprintf(out_path, HF_CRUMB_PATH, "%s/.local/state", home);
    else
        len = snprintf(out_path, HF_CRUMB_PATH, "%s", temp && temp[0] == '/' ? temp : "/tmp");
    if (len <= 0 || len >= HF_CRUMB_PATH - 32)
        return false;
    for (char *at = out_path + 1; *at; at++) { /* folders that are there already stay as they are */
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(out_path, 0700);
        *at = '/';
    }
    (void)mkdir(out_path, 0700);
    (void)snprintf(out_path + len, HF_CRUMB_PATH - (size_t)len, "/holdfast");
    return mkdir(out_path, 0700) == 0 || errno == EEXIST;
}

static atomic_int made; /* files, by this process, each before it is there */

/* Whether a name PREFIX-PID-NUMBER is of a process that is gone, or of another that had this one's
   number: in a container every process of a program may have the same. */
static bool is_left(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    char *end = NULL;
    long number = -1;
    long pid;

    if (strncmp(name, prefix, len) != 0 || name[len] != '-')
        return false;
    pid = strtol(name + len + 1, &end, 10);
    if (*end == '-')
        number = strtol(end + 1, NULL, 10);
    if (pid <= 0 || number < 0)
        return false;
    if (pid == (long)getpid())
        return number >= atomic_load(&made);
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static bool path_fill(char out_path[HF_CRUMB_PATH], const char *folder, const char *name)
{
    int len = snprintf(out_path, HF_CRUMB_PATH, "%s/%s", folder, name);

    return len > 0 && len < HF_CRUMB_PATH;
}

bool hf_crumb_file_next(const char *prefix, hf_crumb_read *read, void *ctx,
                        char out_path[HF_CRUMB_PATH])
{
    char folder[HF_CRUMB_PATH];
    char name[HF_CRUMB_PREFIX + 48];
    const struct dirent *entry;
    DIR *dir;

    if (!folder_make(folder) || !(dir = opendir(folder)))
        return false;
    while ((entry = readdir(dir))) {
        if (!is_left(entry->d_name, prefix) || !path_fill(out_path, folder, entry->d_name))
            continue;
        read(ctx, out_path);
        (void)unlink(out_path);
    }
    (void)closedir(dir);
    (void)snprintf(name, sizeof(name), "%s-%ld-%d", prefix, (long)getpid(),
                   atomic_fetch_add(&made, 1));
    return path_fill(out_path, folder, name);
}
