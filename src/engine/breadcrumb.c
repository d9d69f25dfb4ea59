/* breadcrumb.c: see breadcrumb.h. Must never stand in the way: whatever fails here ends in a crumb
   that lives in ordinary memory. */
#include "engine/breadcrumb.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/crumb_file.h"

enum { LEFT_MAX = 4 * HF_BREADCRUMB_SLOTS };

#define CRUMB_MAGIC INT64_C(0x32424d5552434648) /* "HFCRUMB2" */

typedef struct crumb_file {
    int64_t magic;
    _Atomic int64_t slots[HF_BREADCRUMB_SLOTS];
} crumb_file;

struct hf_breadcrumb {
    crumb_file *file;
    crumb_file own; /* in place of a file that could not be had */
    char path[HF_CRUMB_PATH];
    size_t left_count;
    int64_t left[LEFT_MAX];
    size_t run_count;
    int64_t runs[LEFT_MAX];
};

/* Reads what a dead process left. A file of another form says nothing. */
static void left_read(void *ctx, const char *path)
{
    hf_breadcrumb *crumb = ctx;
    crumb_file found;

    if (!hf_crumb_file_read(path, &found, sizeof(found)) || found.magic != CRUMB_MAGIC)
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

static void file_map(hf_breadcrumb *crumb)
{
    const crumb_file blank = {.magic = CRUMB_MAGIC};
    crumb_file *mapped = hf_crumb_file_map(crumb->path, &blank, sizeof(blank));

    if (mapped)
        crumb->file = mapped;
}

static void sqlite_open(hf_breadcrumb *crumb, const char *address)
{
    const char *path = strncmp(address, "sqlite:", 7) == 0 ? address + 7 : address;
    int len =
        strstr(path, ":memory:") ? 0 : snprintf(crumb->path, sizeof(crumb->path), "%s-crumb", path);

    if (len <= 0 || (size_t)len >= sizeof(crumb->path))
        return;
    left_read(crumb, crumb->path);
    file_map(crumb);
}

static void postgres_open(hf_breadcrumb *crumb, const char *store_id)
{
    char prefix[HF_CRUMB_PREFIX];

    (void)snprintf(prefix, sizeof(prefix), "crumb-%s", store_id);
    if (hf_crumb_file_next(prefix, left_read, crumb, crumb->path))
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
        hf_crumb_file_unmap(crumb->file, sizeof(*crumb->file), crumb->path);
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
