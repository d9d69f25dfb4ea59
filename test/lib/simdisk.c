/* simdisk.c: plays a log of file operations and decides what a crash leaves. The rule: whatever it
   leaves must be possible on a disk that honours syncs, and what a sync confirmed is never touched;
   a test that fails on an impossible disk would prove nothing. */
#include "lib/simdisk.h"

#include <sqlite3.h>
#include <string.h>

#include "base/assert.h"
#include "base/rng.h"

enum { SECTOR_SMALL = 512, SECTOR_BIG = 4096, PARTS = 1000 };

/* A file: as the operating system shows it, as it is sure to be on disk, and what lies between. */
typedef struct node {
    hf_sim_bytes now;
    hf_sim_bytes sure;
    size_t *pending; /* indexes of writes and truncations since the last sync */
    size_t pending_count;
    size_t pending_room;
} node;

/* A name: what it stands for, and what it may stand for until that is sure. */
typedef struct entry {
    int now;
    int sure;
    int *pending; /* what it was made to stand for since */
    size_t pending_count;
    size_t pending_room;
} entry;

struct hf_simdisk {
    const hf_sim_log *log;
    int64_t lies_from;
    size_t done; /* operations played */
    node *nodes;
    entry entries[HF_SIM_NAMES_MAX];
};

/* How one power loss treats what was not synced. */
typedef struct fate {
    hf_rng rng;
    size_t sector;
    uint64_t keep;  /* of PARTS pieces are kept whole, */
    uint64_t tear;  /* and so many are torn */
    bool lengthens; /* a file takes its new length before its new bytes */
    bool garbage;   /* and shows what lay there before instead of zeros */
} fate;

/* ---- bytes and the log */

static bool room_make(void **memory, size_t *room, size_t wanted, size_t item)
{
    size_t more = *room ? *room : 16;
    void *grown;

    if (wanted <= *room)
        return true;
    while (more < wanted)
        more *= 2;
    grown = sqlite3_realloc64(*memory, more * item);
    if (!grown)
        return false;
    *memory = grown;
    *room = more;
    return true;
}

bool hf_sim_bytes_resize(hf_sim_bytes *bytes, size_t len)
{
    void *memory = bytes->ptr;

    if (!room_make(&memory, &bytes->room, len, 1))
        return false;
    bytes->ptr = memory;
    if (len > bytes->len)
        memset(bytes->ptr + bytes->len, 0, len - bytes->len);
    bytes->len = len;
    return true;
}

bool hf_sim_bytes_write(hf_sim_bytes *bytes, size_t offset, const void *data, size_t len)
{
    if (offset + len > bytes->len && !hf_sim_bytes_resize(bytes, offset + len))
        return false;
    if (len)
        memcpy(bytes->ptr + offset, data, len);
    return true;
}

void hf_sim_bytes_fini(hf_sim_bytes *bytes)
{
    sqlite3_free(bytes->ptr);
    *bytes = (hf_sim_bytes){0};
}

static bool bytes_copy(hf_sim_bytes *to, const hf_sim_bytes *from)
{
    to->len = 0;
    return hf_sim_bytes_write(to, 0, from->ptr, from->len);
}

bool hf_sim_log_add(hf_sim_log *log, const hf_sim_op *op, const void *data)
{
    void *memory = log->ops;
    hf_sim_op noted = *op;

    if (!room_make(&memory, &log->room, log->count + 1, sizeof(*log->ops)))
        return false;
    log->ops = memory;
    noted.at = log->bytes.len;
    if (op->kind == HF_SIM_WRITE && !hf_sim_bytes_write(&log->bytes, noted.at, data, op->len))
        return false;
    log->ops[log->count++] = noted;
    return true;
}

int hf_sim_log_name(hf_sim_log *log, const char *name)
{
    for (int i = 0; i < log->name_count; i++)
        if (strcmp(log->names[i], name) == 0)
            return i;
    if (log->name_count == HF_SIM_NAMES_MAX || strlen(name) >= HF_SIM_NAME_BYTES_MAX)
        return HF_SIM_NONE;
    memcpy(log->names[log->name_count], name, strlen(name) + 1);
    return log->name_count++;
}

void hf_sim_log_fini(hf_sim_log *log)
{
    sqlite3_free(log->ops);
    hf_sim_bytes_fini(&log->bytes);
    *log = (hf_sim_log){0};
}

/* ---- what becomes of writes that were not synced */

static void fate_draw(fate *how, uint64_t seed)
{
    static const uint64_t keeps[] = {0, 100, 500, 900, 990};

    *how = (fate){0};
    hf_rng_init_seeded(&how->rng, seed);
    how->sector = hf_rng_below(&how->rng, 2) ? SECTOR_SMALL : SECTOR_BIG;
    how->keep = keeps[hf_rng_below(&how->rng, sizeof(keeps) / sizeof(keeps[0]))];
    how->tear = hf_rng_below(&how->rng, 3) ? 60 : 0;
    how->lengthens = hf_rng_below(&how->rng, 2) == 0;
    how->garbage = hf_rng_below(&how->rng, 4) == 0;
}

/* The piece did not make it, but the length of the file did. */
static bool piece_hole(fate *how, hf_sim_bytes *bytes, size_t offset, size_t len)
{
    size_t before = bytes->len;

    if (!how->lengthens || offset + len <= before)
        return true;
    if (!hf_sim_bytes_resize(bytes, offset + len))
        return false;
    if (how->garbage)
        hf_rng_fill(&how->rng, bytes->ptr + before, bytes->len - before);
    return true;
}

/* One sector of a write: kept, torn in the middle of the sector, or lost. */
static bool piece_apply(fate *how, hf_sim_bytes *bytes, size_t offset, const uint8_t *data,
                        size_t len)
{
    uint64_t lot = hf_rng_below(&how->rng, PARTS);
    size_t middle = offset / how->sector * how->sector + how->sector / 2;
    size_t front = middle > offset ? middle - offset : 0; /* bytes before the middle */

    if (front > len)
        front = len;
    if (lot < how->keep)
        return hf_sim_bytes_write(bytes, offset, data, len);
    if (lot >= how->keep + how->tear)
        return piece_hole(how, bytes, offset, len);
    if (hf_rng_below(&how->rng, 2))
        return hf_sim_bytes_write(bytes, offset, data, front);
    return len == front || hf_sim_bytes_write(bytes, offset + front, data + front, len - front);
}

static bool op_survive(fate *how, const hf_sim_log *log, const hf_sim_op *op, hf_sim_bytes *bytes)
{
    size_t at = (size_t)op->offset;
    size_t end = at + op->len;
    const uint8_t *data = log->bytes.ptr + op->at;

    if (op->kind == HF_SIM_TRUNCATE)
        return hf_rng_below(&how->rng, PARTS) >= how->keep || hf_sim_bytes_resize(bytes, at);
    while (at < end) {
        size_t next = (at / how->sector + 1) * how->sector;

        if (next > end)
            next = end;
        if (!piece_apply(how, bytes, at, data, next - at))
            return false;
        data += next - at;
        at = next;
    }
    return true;
}

static bool node_survive(fate *how, const hf_sim_log *log, const node *file,
                         hf_sim_bytes *out_bytes)
{
    bool good = bytes_copy(out_bytes, &file->sure);

    for (size_t i = 0; good && i < file->pending_count; i++)
        good = op_survive(how, log, &log->ops[file->pending[i]], out_bytes);
    return good;
}

/* ---- playing the log */

static bool op_apply(const hf_sim_log *log, const hf_sim_op *op, hf_sim_bytes *bytes)
{
    if (op->kind == HF_SIM_TRUNCATE)
        return hf_sim_bytes_resize(bytes, (size_t)op->offset);
    return hf_sim_bytes_write(bytes, (size_t)op->offset, log->bytes.ptr + op->at, op->len);
}

static bool entry_set(entry *name, int to, bool sure)
{
    void *memory = name->pending;

    name->now = to;
    if (sure) {
        name->sure = to;
        name->pending_count = 0;
        return true;
    }
    if (!room_make(&memory, &name->pending_room, name->pending_count + 1, sizeof(*name->pending)))
        return false;
    name->pending = memory;
    name->pending[name->pending_count++] = to;
    return true;
}

static bool node_change(hf_simdisk *disk, size_t index)
{
    const hf_sim_op *op = &disk->log->ops[index];
    node *file = &disk->nodes[op->node];
    void *memory = file->pending;

    if (!room_make(&memory, &file->pending_room, file->pending_count + 1, sizeof(*file->pending)))
        return false;
    file->pending = memory;
    file->pending[file->pending_count++] = index;
    return op_apply(disk->log, op, &file->now);
}

static bool node_sync(hf_simdisk *disk, int number, bool with_folder)
{
    node *file = &disk->nodes[number];
    bool good = true;

    for (size_t i = 0; good && i < file->pending_count; i++)
        good = op_apply(disk->log, &disk->log->ops[file->pending[i]], &file->sure);
    file->pending_count = 0;
    for (int i = 0; good && i < disk->log->name_count; i++)
        if (with_folder || disk->entries[i].now == number)
            good = entry_set(&disk->entries[i], disk->entries[i].now, true);
    return good;
}

/* Part of what was to be synced is on disk, the rest never will be, although the system still shows
 * it. */
static bool node_sync_fail(hf_simdisk *disk, int number)
{
    node *file = &disk->nodes[number];
    hf_sim_bytes left = {0};
    fate how;

    fate_draw(&how, disk->done);
    if (!node_survive(&how, disk->log, file, &left)) {
        hf_sim_bytes_fini(&left);
        return false;
    }
    hf_sim_bytes_fini(&file->sure);
    file->sure = left;
    file->pending_count = 0;
    return true;
}

static bool op_play(hf_simdisk *disk, size_t index)
{
    const hf_sim_op *op = &disk->log->ops[index];
    bool lies = disk->lies_from && (int64_t)index + 1 >= disk->lies_from;

    switch (op->kind) {
    case HF_SIM_CREATE:
        return entry_set(&disk->entries[op->name], op->node, false);
    case HF_SIM_DELETE:
        return entry_set(&disk->entries[op->name], HF_SIM_NONE, op->sure && !lies);
    case HF_SIM_WRITE:
    case HF_SIM_TRUNCATE:
        return node_change(disk, index);
    case HF_SIM_SYNC:
        return lies || node_sync(disk, op->node, op->sure);
    case HF_SIM_SYNC_FAILED:
        return lies || node_sync_fail(disk, op->node);
    }
    return false;
}

hf_simdisk *hf_simdisk_new(const hf_sim_log *log, int64_t lies_from)
{
    hf_simdisk *disk = sqlite3_malloc64(sizeof(*disk));
    size_t nodes = (size_t)log->node_count * sizeof(node);

    if (!disk)
        return NULL;
    *disk = (hf_simdisk){.log = log, .lies_from = lies_from, .nodes = sqlite3_malloc64(nodes + 1)};
    for (int i = 0; i < HF_SIM_NAMES_MAX; i++)
        disk->entries[i] = (entry){.now = HF_SIM_NONE, .sure = HF_SIM_NONE};
    if (!disk->nodes) {
        sqlite3_free(disk);
        return NULL;
    }
    memset(disk->nodes, 0, nodes);
    return disk;
}

void hf_simdisk_free(hf_simdisk *disk)
{
    if (!disk)
        return;
    for (int i = 0; i < disk->log->node_count; i++) {
        hf_sim_bytes_fini(&disk->nodes[i].now);
        hf_sim_bytes_fini(&disk->nodes[i].sure);
        sqlite3_free(disk->nodes[i].pending);
    }
    for (int i = 0; i < HF_SIM_NAMES_MAX; i++)
        sqlite3_free(disk->entries[i].pending);
    sqlite3_free(disk->nodes);
    sqlite3_free(disk);
}

bool hf_simdisk_forward(hf_simdisk *disk, int64_t op)
{
    bool good = true;

    HF_ASSERT(op >= (int64_t)disk->done && op <= (int64_t)disk->log->count);
    while (good && (int64_t)disk->done < op)
        good = op_play(disk, disk->done++);
    return good;
}

bool hf_simdisk_kill(const hf_simdisk *disk, hf_simdisk_file *found, void *ctx)
{
    bool good = true;

    for (int i = 0; good && i < disk->log->name_count; i++) {
        int at = disk->entries[i].now;

        if (at != HF_SIM_NONE)
            good =
                found(ctx, disk->log->names[i], disk->nodes[at].now.ptr, disk->nodes[at].now.len);
    }
    return good;
}

bool hf_simdisk_lose_power(const hf_simdisk *disk, uint64_t seed, hf_simdisk_file *found, void *ctx)
{
    hf_sim_bytes left = {0};
    bool good = true;
    fate how;

    fate_draw(&how, seed ^ (disk->done * UINT64_C(0x9e3779b97f4a7c15)));
    for (int i = 0; good && i < disk->log->name_count; i++) {
        const entry *name = &disk->entries[i];
        size_t which = (size_t)hf_rng_below(&how.rng, name->pending_count + 1);
        int at = which ? name->pending[which - 1] : name->sure;

        if (at == HF_SIM_NONE)
            continue;
        good = node_survive(&how, disk->log, &disk->nodes[at], &left) &&
               found(ctx, disk->log->names[i], left.ptr, left.len);
    }
    hf_sim_bytes_fini(&left);
    return good;
}
