/* sqlite_path.c: paths of SQLite stores. Must never open the file: closing it again would drop the
   locks that other connections of this process hold on it. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "store/sqlite_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

static hf_status errno_fail(hf_err *err, hf_status otherwise, const char *sentence,
                            const char *path)
{
    char reason[128] = "unknown error";
    int number = errno;
    hf_status st = otherwise;

    (void)strerror_r(number, reason, sizeof(reason));
    if (number == EACCES || number == EPERM)
        st = HF_DENIED;
    else if (number == ENAMETOOLONG || number == ELOOP)
        st = HF_INVALID;
    else if (number == ENOMEM)
        st = HF_NOMEM;
    return hf_err_set(err, st, "%s %s: %s", path, sentence, reason);
}

static hf_status path_resolve(const char *path, char **out_real, hf_err *err)
{
    char found[PATH_MAX];

    if (!realpath(path, found))
        return errno_fail(err, HF_NOTFOUND, "cannot be found", path);
    *out_real = hf_alloc_text(found, strlen(found));
    return *out_real ? HF_OK : hf_err_nomem(err, "a path");
}

/* The folder of `path` as text that must be freed: "." when there is none in it. */
char *hf_sqlite_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return hf_alloc_text(".", 1);
    return hf_alloc_text(path, slash == path ? 1 : (size_t)(slash - path));
}

static hf_status folder_writable(const char *path, hf_err *err)
{
    char *folder = hf_sqlite_folder(path);
    hf_status st = HF_OK;

    if (!folder)
        return hf_err_nomem(err, "a path");
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        st = hf_err_set(
            err, HF_READONLY,
            "the folder %s may not be written by this user, and a store keeps files beside itself: "
            "change its permissions, or open the store read-only",
            folder);
    hf_alloc_free(folder);
    return st;
}

/* Where a file that does not exist will be. */
static hf_status path_absent(const char *path, hf_sqlite_use use, char **out_real, hf_err *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *folder = hf_sqlite_folder(path);
    char *real = NULL;
    hf_buf whole = {0};
    struct stat found;
    hf_status st = HF_OK;

    if (!folder) {
        st = hf_err_nomem(err, "a path");
    } else if (lstat(path, &found) == 0) {
        st = hf_err_set(err, HF_NOTFOUND, "%s is a symbolic link to a file that does not exist",
                        path);
    } else if (stat(folder, &found) != 0) {
        st = errno == ENOENT ? hf_err_set(err, HF_NOTFOUND,
                                          "the folder %s does not exist: make it first", folder)
                             : errno_fail(err, HF_NOTFOUND, "cannot be reached", folder);
    } else if (use != HF_SQLITE_USE_CREATE) {
        st = hf_err_set(err, HF_NOTFOUND,
                        "there is no store at %s: check the path, or start an engine on it", path);
    } else if (*name == '\0') {
        st = hf_err_set(err, HF_NOTASTORE, "%s names a folder, not a file", path);
    } else {
        st = path_resolve(folder, &real, err);
    }
    if (!st) {
        hf_buf_add_format(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
        *out_real = hf_buf_ok(&whole) ? hf_alloc_text(whole.ptr, whole.len) : NULL;
        st = *out_real ? folder_writable(*out_real, err) : hf_err_nomem(err, "a path");
    }
    hf_buf_fini(&whole);
    hf_alloc_free(real);
    hf_alloc_free(folder);
    return st;
}

static hf_status path_present(const char *path, hf_sqlite_use use, const struct stat *found,
                              char **out_real, hf_err *err)
{
    hf_status st;

    if (S_ISDIR(found->st_mode))
        return hf_err_set(err, HF_NOTASTORE, "%s is a folder, not a store: name a file in it",
                          path);
    if (!S_ISREG(found->st_mode))
        return hf_err_set(err, HF_NOTASTORE, "%s is not a regular file, so it cannot be a store",
                          path);
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
        return hf_err_set(err, HF_DENIED, "%s may not be read by this user: change its permissions",
                          path);
    st = path_resolve(path, out_real, err);
    if (st || use == HF_SQLITE_USE_READ)
        return st;
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return hf_err_set(
            err, HF_READONLY,
            errno == EROFS
                ? "%s is on a read-only file system: open the store read-only"
                : "%s may not be written by this user: change its permissions, or open the "
                  "store read-only",
            path);
    if (found->st_nlink >
        1) /* the lock and the WAL go by name: a second name would be a second store */
        return hf_err_set(err, HF_INVALID, "%s has %ju hard links: give the store one name only",
                          path, (uintmax_t)found->st_nlink);
    return folder_writable(*out_real, err);
}

hf_status hf_sqlite_path(const char *path, hf_sqlite_use use, char **out_real, hf_err *err)
{
    struct stat found;
    char *real = NULL;
    hf_status st;

    if (stat(path, &found) == 0)
        st = path_present(path, use, &found, &real, err);
    else if (errno == ENOENT)
        st = path_absent(path, use, &real, err);
    else if (errno == ENOTDIR)
        st = hf_err_set(err, HF_NOTFOUND, "a part of %s that should be a folder is a file", path);
    else
        st = errno_fail(err, HF_IO, "cannot be reached", path);
    if (st) {
        hf_alloc_free(real);
        real = NULL;
    }
    *out_real = real;
    return st;
}
