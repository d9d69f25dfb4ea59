/* remote_crumb.c: see remote_crumb.h. Must never stand in the way. */
#include "engine/remote_crumb.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/crypto.h"
#include "base/value.h"
#include "engine/crumb_file.h"

#define CRUMB_MAGIC INT64_C(0x3252574246484648)

enum { WORKER_BYTES = 192, KIND_BYTES = 16, TASK_BYTES = 64, LEFT_MAX = 64 };

typedef struct crumb_slot {
    _Atomic int64_t attempt; /* 0: nothing runs */
    int64_t namespace_key;
    char kind[KIND_BYTES];
    char task_id[TASK_BYTES];
} crumb_slot;

typedef struct crumb_file {
    int64_t magic;
    char worker[WORKER_BYTES];
    crumb_slot slots[HF_REMOTE_CRUMB_SLOTS];
} crumb_file;

/* What a dead process ran. */
typedef struct crumb_left {
    char worker[WORKER_BYTES];
    char kind[KIND_BYTES];
    char task_id[TASK_BYTES];
    int64_t attempt;
    int64_t namespace_key;
} crumb_left;

struct hf_remote_crumb {
    crumb_file *file;
    crumb_file own; /* in place of a file that could not be had */
    char path[HF_CRUMB_PATH];
    size_t left_count;
    crumb_left left[LEFT_MAX];
};

/* A text of a file that anybody may have written. */
static void text_take(char *out, size_t size, const char *from)
{
    size_t len = strnlen(from, size - 1);

    memcpy(out, from, len);
    out[len] = '\0';
}

static void left_read(void *ctx, const char *path)
{
    hf_remote_crumb *crumb = ctx;
    crumb_file found;

    if (!hf_crumb_file_read(path, &found, sizeof(found)) || found.magic != CRUMB_MAGIC)
        return;
    for (size_t i = 0; i < HF_REMOTE_CRUMB_SLOTS && crumb->left_count < LEFT_MAX; i++) {
        crumb_left *left = &crumb->left[crumb->left_count];

        left->attempt = atomic_load(&found.slots[i].attempt);
        if (left->attempt <= 0)
            continue;
        left->namespace_key = found.slots[i].namespace_key;
        text_take(left->worker, sizeof(left->worker), found.worker);
        text_take(left->kind, sizeof(left->kind), found.slots[i].kind);
        text_take(left->task_id, sizeof(left->task_id), found.slots[i].task_id);
        crumb->left_count++;
    }
}

static bool prefix_make(hf_slice program, char out[HF_CRUMB_PREFIX])
{
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;
    bool made = !hf_sha256_new(&sha, NULL) && !hf_sha256_digest(sha, program, digest, NULL);

    hf_sha256_free(sha);
    if (made) {
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
        (void)snprintf(out, HF_CRUMB_PREFIX, "worker-%.24s", hex);
    }
    return made;
}

/* What dead processes left, then a file of this one's own. */
static void files_open(hf_remote_crumb *crumb, const char *prefix)
{
    crumb_file *mapped = NULL;

    if (hf_crumb_file_next(prefix, left_read, crumb, crumb->path))
        mapped = hf_crumb_file_map(crumb->path, &crumb->own, sizeof(crumb->own));
    if (mapped)
        crumb->file = mapped;
}

hf_status hf_remote_crumb_open(hf_slice program, const char *worker, hf_remote_crumb **out_crumb,
                               hf_err *err)
{
    hf_remote_crumb *crumb = hf_alloc(sizeof(*crumb));
    char prefix[HF_CRUMB_PREFIX];

    if (!crumb)
        return hf_err_nomem(err, "the breadcrumb");
    crumb->own.magic = CRUMB_MAGIC;
    text_take(crumb->own.worker, sizeof(crumb->own.worker), worker);
    crumb->file = &crumb->own;
    if (prefix_make(program, prefix))
        files_open(crumb, prefix);
    *out_crumb = crumb;
    return HF_OK;
}

void hf_remote_crumb_close(hf_remote_crumb *crumb)
{
    if (!crumb)
        return;
    if (crumb->file != &crumb->own)
        hf_crumb_file_unmap(crumb->file, sizeof(*crumb->file), crumb->path);
    hf_alloc_free(crumb);
}

void hf_remote_crumb_put(hf_remote_crumb *crumb, size_t slot, const hf_remote_crumb_task *task)
{
    crumb_slot *at = &crumb->file->slots[slot];

    HF_ASSERT(slot < HF_REMOTE_CRUMB_SLOTS);
    if (strlen(task->task_id) >= sizeof(at->task_id))
        return;
    text_take(at->kind, sizeof(at->kind), task->kind);
    text_take(at->task_id, sizeof(at->task_id), task->task_id);
    at->namespace_key = task->namespace_key;
    atomic_store(&at->attempt, task->attempt);
}

void hf_remote_crumb_clear(hf_remote_crumb *crumb, size_t slot)
{
    HF_ASSERT(slot < HF_REMOTE_CRUMB_SLOTS);
    atomic_store(&crumb->file->slots[slot].attempt, 0);
}

hf_value hf_remote_crumb_left(const hf_remote_crumb *crumb, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < crumb->left_count; i++) {
        const crumb_left *left = &crumb->left[i];

        hf_value_append(list, hf_json_(mem,
                                       "{'kind': %s, 'task_id': %s, 'attempt': %lld, "
                                       "'lease_owner': %s, 'namespace_key': %lld}",
                                       left->kind, left->task_id, (long long)left->attempt,
                                       left->worker, (long long)left->namespace_key));
    }
    return hf_value_finish(list);
}

void hf_remote_crumb_told(hf_remote_crumb *crumb)
{
    crumb->left_count = 0;
}
