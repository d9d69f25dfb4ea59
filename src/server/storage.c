/* storage.c: see storage.h. A file appears whole: it is written under another name and renamed. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "server/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"

#define REFERENCE_SCHEMA "durable-workflow.v2.external-payload-reference.v1"

enum { PATH_SIZE = 1024, FILE_MODE = 0600, FOLDER_MODE = 0700, BLOB_BYTES_MAX = 64 << 20 };

hf_status hf_storage_find(const char *folder, char out_root[PATH_MAX], hf_err *err)
{
    struct stat about;

    if (realpath(folder, out_root) && !stat(out_root, &about) && S_ISDIR(about.st_mode))
        return HF_OK;
    out_root[0] = '\0';
    return hf_err_set(err, HF_INVALID, "%s is not a directory that can be used", folder);
}

static hf_status digest_print(hf_slice bytes, char out_hex[HF_SHA256_TEXT_SIZE], hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;
    hf_status st = hf_sha256_new(&sha, err);

    if (!st)
        st = hf_sha256_digest(sha, bytes, digest, err);
    hf_sha256_free(sha);
    if (!st)
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_hex);
    return st;
}

/* ROOT/NAMESPACE/avro/ab/abcdef...; the names of namespaces hold no slashes and are not dots. */
static hf_status path_print(const hf_storage *storage, const char *hex, char out[PATH_SIZE],
                            hf_err *err)
{
    int len;

    if (!storage->root)
        return hf_err_set(err, HF_INVALID,
                          "external_storage_unavailable: this server has no storage directory");
    if (strcmp(storage->space, ".") == 0 || strcmp(storage->space, "..") == 0)
        return hf_err_set(err, HF_INVALID, "external_storage_unavailable: not for this namespace");
    len = snprintf(out, PATH_SIZE, "%s/%s/avro/%.2s/%s", storage->root, storage->space, hex, hex);
    return len > 0 && len < PATH_SIZE
               ? HF_OK
               : hf_err_set(err, HF_INVALID, "the path of the storage directory is too long");
}

static hf_status io_failed(hf_err *err, const char *what, const char *path)
{
    return hf_err_set(err, errno == ENOSPC ? HF_FULL : HF_IO, "%s %s: %s", what, path,
                      strerror(errno));
}

/* Every folder on the way to the file. */
static hf_status folders_make(const hf_storage *storage, char *path, hf_err *err)
{
    for (char *at = path + strlen(storage->root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (mkdir(path, FOLDER_MODE) && errno != EEXIST) {
            hf_status st = io_failed(err, "make the folder", path);

            *at = '/';
            return st;
        }
        *at = '/';
    }
    return HF_OK;
}

static hf_status file_write(const char *path, hf_slice bytes, hf_err *err)
{
    char draft[PATH_SIZE + 8];
    hf_status st = HF_OK;
    size_t done = 0;
    int fd;

    (void)snprintf(draft, sizeof(draft), "%s.XXXXXX", path);
    fd = mkstemp(draft);
    if (fd < 0)
        return io_failed(err, "write", path);
    while (!st && done < bytes.len) {
        ssize_t wrote = write(fd, bytes.ptr + done, bytes.len - done);

        if (wrote > 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            st = io_failed(err, "write", path);
    }
    if (!st && fsync(fd))
        st = io_failed(err, "write", path);
    (void)close(fd);
    if (!st && rename(draft, path))
        st = io_failed(err, "write", path);
    if (st)
        (void)unlink(draft);
    return st;
}

/* A file that is there is told to stay for a while: the sweep (sweep.c) goes by its time, and
   judges it under a lock, too. False: there is none, or it is just going. */
static bool file_keep(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat about;
    bool there;

    if (fd < 0)
        return false;
    there = !flock(fd, LOCK_SH) && !futimens(fd, NULL) && !fstat(fd, &about) && about.st_nlink > 0;
    (void)close(fd);
    return there;
}

hf_status hf_storage_put(const hf_storage *storage, hf_slice blob, hf_value *out_reference,
                         hf_err *err)
{
    char hex[HF_SHA256_TEXT_SIZE];
    char path[PATH_SIZE];
    hf_status st = digest_print(blob, hex, err);

    if (!st)
        st = path_print(storage, hex, path, err);
    if (!st && !file_keep(path)) {
        st = folders_make(storage, path, err);
        if (!st)
            st = file_write(path, blob, err);
    }
    if (st)
        return st;
    *out_reference = hf_json_(storage->mem,
                              "{'schema': '" REFERENCE_SCHEMA "', 'uri': 'file://%s', 'sha256': "
                              "%s, 'size_bytes': %zu, 'codec': 'avro'}",
                              path, hex, blob.len);
    return *out_reference ? HF_OK : hf_err_nomem(err, "a reference");
}

static hf_status file_read(const hf_storage *storage, const char *path, size_t size,
                           hf_slice *out_bytes, hf_err *err)
{
    char *bytes = hf_mem_alloc(storage->mem, size + 1);
    size_t done = 0;
    ssize_t got = 1;
    int fd;

    if (!bytes)
        return hf_err_nomem(err, "a payload");
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return hf_err_set(err, HF_INVALID, "external_payload_missing: %s", strerror(errno));
    while (got > 0 && done <= size) { /* one byte more than it should have shows */
        got = read(fd, bytes + done, size + 1 - done);
        if (got > 0)
            done += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    (void)close(fd);
    if (got < 0)
        return io_failed(err, "read", path);
    if (done != size)
        return hf_err_set(err, HF_INVALID, "external_payload_integrity: the size is not %zu", size);
    *out_bytes = hf_slice_from(bytes, size);
    return HF_OK;
}

hf_status hf_storage_get(const hf_storage *storage, hf_value reference, hf_slice *out_blob,
                         hf_err *err)
{
    const char *sent = hf_str(reference, "sha256", "");
    const char *uri = hf_str(reference, "uri", "");
    int64_t size = hf_int(reference, "size_bytes", hf_int(reference, "size", -1));
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    char found[HF_SHA256_TEXT_SIZE];
    char path[PATH_SIZE];
    hf_status st;

    if (strcmp(hf_str(reference, "schema", ""), REFERENCE_SCHEMA) != 0 ||
        !hf_hex_parse(hf_slice_of(sent), digest, sizeof(digest)) || size < 0 ||
        size > BLOB_BYTES_MAX)
        return hf_err_set(err, HF_INVALID, "external_payload_reference: it is not a reference");
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
    st = path_print(storage, hex, path, err);
    if (!st && (strncmp(uri, "file://", 7) != 0 || strcmp(uri + 7, path) != 0))
        st = hf_err_set(err, HF_INVALID,
                        "external_payload_reference: it lies outside of the storage directory");
    if (!st)
        st = file_read(storage, path, (size_t)size, out_blob, err);
    if (!st)
        st = digest_print(*out_blob, found, err);
    if (!st && strcmp(hex, found) != 0)
        st = hf_err_set(err, HF_INVALID, "external_payload_integrity: the SHA-256 does not fit");
    return st;
}

/* ---- whole values */

/* What becomes of an object; *out_value NULL: its members are looked at. */
typedef hf_status change_fn(const hf_storage *storage, size_t threshold, hf_value object,
                            hf_value *out_value, hf_err *err);

/* Values are bounded in depth, and so is this. */
static hf_status value_walk(const hf_storage *storage, size_t threshold, change_fn *change,
                            hf_value value, hf_value *out_value, hf_err *err)
{
    hf_value_kind kind = hf_value_kind_of(value);
    hf_value_list *list;
    hf_status st = HF_OK;
    hf_slice key;
    hf_value item = NULL;

    *out_value = NULL;
    if (kind == HF_VALUE_OBJECT)
        st = change(storage, threshold, value, out_value, err);
    if (st || *out_value)
        return st;
    *out_value = value;
    if (kind != HF_VALUE_OBJECT && kind != HF_VALUE_ARRAY)
        return HF_OK;
    list = kind == HF_VALUE_OBJECT ? hf_value_object(storage->mem) : hf_value_array(storage->mem);
    for (size_t i = 0; !st && i < hf_len(value); i++) {
        if (kind == HF_VALUE_OBJECT)
            (void)hf_value_member(value, i, &key, &item);
        else
            item = hf_at(value, i);
        st = value_walk(storage, threshold, change, item, &item, err);
        if (kind == HF_VALUE_OBJECT)
            hf_value_set(list, key, item);
        else
            hf_value_append(list, item);
    }
    *out_value = hf_value_finish(list);
    return st ? st : *out_value ? HF_OK : hf_err_nomem(err, "a payload");
}

static hf_status object_inline(const hf_storage *storage, size_t threshold, hf_value object,
                               hf_value *out_value, hf_err *err)
{
    hf_value reference = hf_value_find(object, HF_SLICE("external_storage"));
    hf_slice blob;
    hf_status st;

    (void)threshold;
    if (hf_value_kind_of(reference) != HF_VALUE_OBJECT || !hf_value_find(object, HF_SLICE("codec")))
        return HF_OK;
    st = hf_storage_get(storage, reference, &blob, err);
    if (st)
        return st;
    *out_value = hf_json_(storage->mem, "{'codec': %p, 'blob': %p}",
                          (const void *)hf_value_find(object, HF_SLICE("codec")),
                          (const void *)hf_value_string(storage->mem, blob));
    return *out_value ? HF_OK : hf_err_nomem(err, "a payload");
}

static hf_status object_outline(const hf_storage *storage, size_t threshold, hf_value object,
                                hf_value *out_value, hf_err *err)
{
    hf_slice blob = hf_value_slice(hf_value_find(object, HF_SLICE("blob")));
    hf_value reference = NULL;
    hf_status st;

    if (blob.len <= threshold || strcmp(hf_str(object, "codec", ""), "avro") != 0)
        return HF_OK;
    st = hf_storage_put(storage, blob, &reference, err);
    if (st)
        return st;
    *out_value = hf_json_(storage->mem, "{'codec': 'avro', 'external_storage': %p}",
                          (const void *)reference);
    return *out_value ? HF_OK : hf_err_nomem(err, "a reference");
}

hf_status hf_storage_inline(const hf_storage *storage, hf_value value, hf_value *out_value,
                            hf_err *err)
{
    return value_walk(storage, 0, object_inline, value, out_value, err);
}

hf_status hf_storage_outline(const hf_storage *storage, size_t threshold, hf_value value,
                             hf_value *out_value, hf_err *err)
{
    return value_walk(storage, threshold, object_outline, value, out_value, err);
}
