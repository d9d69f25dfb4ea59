/* simvfs.c: the SQLite side of simulated files. The rule: an operation is on record exactly when it
   changed a file, in the order in which it did. It must never report success for something that it
   did not do. */
#include "lib/simvfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#include "base/assert.h"

enum { SECTOR_BYTES = 4096, SHM_LOCKS = SQLITE_SHM_NLOCK, REGIONS_MAX = 64 };

/* A file, named or not. Its place in the array of nodes is its number in the record. */
typedef struct node {
    hf_sim_bytes bytes;
    char name[HF_SIM_NAME_BYTES_MAX]; /* empty: it has none any more, or never had one */
    bool scratch;                     /* a temporary file: never on record */
    void *regions[REGIONS_MAX];       /* shared memory beside it */
    int region_count;
    int mapped; /* connections that use the shared memory */
} node;

typedef struct file {
    sqlite3_file base;
    hf_simvfs *vfs;
    node *on;
    int number;        /* of the node */
    struct file *next; /* open files */
    int lock;
    bool mapped;
    bool gone_at_close;
    bool sync_folder; /* the next sync includes it, as the Unix VFS does for a new journal or log */
    uint16_t shared;  /* shared memory locks, as bits */
    uint16_t exclusive;
} file;

typedef struct trap {
    int64_t seen;
    int64_t fail_at;
    bool persistent;
} trap;

struct hf_simvfs {
    sqlite3_vfs base;
    sqlite3_vfs *real; /* for time and randomness */
    char name[HF_SIM_NAME_BYTES_MAX];
    pthread_mutex_t mutex;
    node **nodes;
    int node_count;
    int node_room;
    file *open;
    bool recording;
    hf_sim_log log;
    trap traps[HF_SIMVFS_FAULTS];
    int64_t operation;
    int64_t crash_at;
    void (*pause)(void *ctx, int64_t us);
    void *pause_ctx;
};

static void vfs_lock(hf_simvfs *vfs)
{
    HF_ASSERT(pthread_mutex_lock(&vfs->mutex) == 0);
}

static void vfs_unlock(hf_simvfs *vfs)
{
    HF_ASSERT(pthread_mutex_unlock(&vfs->mutex) == 0);
}

static bool vfs_dead(const hf_simvfs *vfs)
{
    return vfs->crash_at && vfs->operation + 1 >= vfs->crash_at;
}

static bool trap_springs(hf_simvfs *vfs, hf_simvfs_fault which)
{
    trap *at = &vfs->traps[which];

    at->seen++;
    return at->fail_at && (at->seen == at->fail_at || (at->persistent && at->seen > at->fail_at));
}

/* As after a write that met a read-only disk; there is no errno behind the other faults. */
static int vfs_errno(hf_simvfs *vfs)
{
    bool fixed;

    vfs_lock(vfs);
    fixed = vfs->traps[HF_SIMVFS_READONLY].fail_at != 0;
    vfs_unlock(vfs);
    return fixed ? EROFS : 0;
}

/* ---- nodes */

static int node_find(const hf_simvfs *vfs, const char *name)
{
    for (int i = 0; i < vfs->node_count; i++)
        if (strcmp(vfs->nodes[i]->name, name) == 0)
            return i;
    return HF_SIM_NONE;
}

static int node_make(hf_simvfs *vfs, const char *name, bool scratch)
{
    node *made;

    if (strlen(name) >= HF_SIM_NAME_BYTES_MAX)
        return HF_SIM_NONE;
    if (vfs->node_count == vfs->node_room) {
        int room = vfs->node_room ? vfs->node_room * 2 : 8;
        node **grown = sqlite3_realloc64(vfs->nodes, (sqlite3_uint64)room * sizeof(*grown));

        if (!grown)
            return HF_SIM_NONE;
        vfs->nodes = grown;
        vfs->node_room = room;
    }
    made = sqlite3_malloc64(sizeof(*made));
    if (!made)
        return HF_SIM_NONE;
    *made = (node){.scratch = scratch};
    memcpy(made->name, name, strlen(name) + 1);
    vfs->nodes[vfs->node_count] = made;
    return vfs->node_count++;
}

static void regions_free(node *on)
{
    for (int i = 0; i < on->region_count; i++)
        sqlite3_free(on->regions[i]);
    on->region_count = 0;
}

/* Counts an operation and, when one is kept, puts it on record. The caller has done it. */
static int op_note(hf_simvfs *vfs, hf_sim_op op, const void *data)
{
    vfs->operation++;
    vfs->log.node_count = vfs->node_count;
    if (!vfs->recording || hf_sim_log_add(&vfs->log, &op, data))
        return SQLITE_OK;
    return SQLITE_IOERR_NOMEM;
}

/* ---- one file */

static file *file_of(sqlite3_file *base)
{
    return (file *)base;
}

static int file_close(sqlite3_file *base)
{
    file *self = file_of(base);
    file **at = &self->vfs->open;

    vfs_lock(self->vfs);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    if (self->gone_at_close)
        self->on->name[0] = '\0';
    vfs_unlock(self->vfs);
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *out, int amount, sqlite3_int64 offset)
{
    file *self = file_of(base);
    const hf_sim_bytes *bytes = &self->on->bytes;
    size_t at = (size_t)offset;
    size_t wanted = (size_t)amount;
    size_t have;
    int code = SQLITE_OK;

    vfs_lock(self->vfs);
    if (vfs_dead(self->vfs) || trap_springs(self->vfs, HF_SIMVFS_READ)) {
        code = SQLITE_IOERR_READ;
    } else {
        have = at < bytes->len ? bytes->len - at : 0;
        if (have > wanted)
            have = wanted;
        if (have)
            memcpy(out, bytes->ptr + at, have);
        if (have < wanted) {
            memset((uint8_t *)out + have, 0, wanted - have);
            code = SQLITE_IOERR_SHORT_READ;
        }
    }
    vfs_unlock(self->vfs);
    return code;
}

static int file_write(sqlite3_file *base, const void *data, int amount, sqlite3_int64 offset)
{
    file *self = file_of(base);
    hf_simvfs *vfs = self->vfs;
    int code = SQLITE_OK;

    vfs_lock(vfs);
    if (vfs_dead(vfs) || trap_springs(vfs, HF_SIMVFS_WRITE))
        code = SQLITE_IOERR_WRITE;
    else if (trap_springs(vfs, HF_SIMVFS_FULL))
        code = SQLITE_FULL;
    else if (trap_springs(vfs, HF_SIMVFS_READONLY))
        code = SQLITE_IOERR_WRITE;
    else if (!hf_sim_bytes_write(&self->on->bytes, (size_t)offset, data, (size_t)amount))
        code = SQLITE_IOERR_NOMEM;
    else if (!self->on->scratch)
        code = op_note(vfs,
                       (hf_sim_op){.kind = HF_SIM_WRITE,
                                   .node = self->number,
                                   .offset = offset,
                                   .len = (size_t)amount},
                       data);
    vfs_unlock(vfs);
    return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    file *self = file_of(base);
    hf_simvfs *vfs = self->vfs;
    int code = SQLITE_OK;

    vfs_lock(vfs);
    if (vfs_dead(vfs) || trap_springs(vfs, HF_SIMVFS_WRITE))
        code = SQLITE_IOERR_TRUNCATE;
    else if (!hf_sim_bytes_resize(&self->on->bytes, (size_t)size))
        code = SQLITE_IOERR_NOMEM;
    else if (!self->on->scratch)
        code = op_note(
            vfs, (hf_sim_op){.kind = HF_SIM_TRUNCATE, .node = self->number, .offset = size}, NULL);
    vfs_unlock(vfs);
    return code;
}

static int file_sync(sqlite3_file *base, int flags)
{
    file *self = file_of(base);
    hf_simvfs *vfs = self->vfs;
    hf_sim_op op = {.kind = HF_SIM_SYNC, .node = self->number};
    int code = SQLITE_OK;

    (void)flags;
    if (vfs->pause)
        vfs->pause(vfs->pause_ctx, 0);
    vfs_lock(vfs);
    if (vfs_dead(vfs)) {
        code = SQLITE_IOERR_FSYNC;
    } else if (!self->on->scratch) {
        bool fails = trap_springs(vfs, HF_SIMVFS_SYNC);

        op.kind = fails ? HF_SIM_SYNC_FAILED : HF_SIM_SYNC;
        op.sure = self->sync_folder;
        code = op_note(vfs, op, NULL);
        if (fails)
            code = SQLITE_IOERR_FSYNC;
        else
            self->sync_folder = false;
    }
    vfs_unlock(vfs);
    return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *out_size)
{
    file *self = file_of(base);
    int code = SQLITE_OK;

    vfs_lock(self->vfs);
    if (vfs_dead(self->vfs))
        code = SQLITE_IOERR_FSTAT;
    else
        *out_size = (sqlite3_int64)self->on->bytes.len;
    vfs_unlock(self->vfs);
    return code;
}

/* The strongest lock that another connection has on the same file. */
static int lock_of_others(const file *self)
{
    int strongest = SQLITE_LOCK_NONE;

    for (const file *at = self->vfs->open; at; at = at->next)
        if (at != self && at->on == self->on && at->lock > strongest)
            strongest = at->lock;
    return strongest;
}

static int file_lock(sqlite3_file *base, int level)
{
    file *self = file_of(base);
    int others;
    int code = SQLITE_OK;

    vfs_lock(self->vfs);
    others = lock_of_others(self);
    if (level > self->lock) {
        if (level == SQLITE_LOCK_SHARED && others >= SQLITE_LOCK_PENDING)
            code = SQLITE_BUSY;
        else if (level == SQLITE_LOCK_RESERVED && others >= SQLITE_LOCK_RESERVED)
            code = SQLITE_BUSY;
        else if (level == SQLITE_LOCK_EXCLUSIVE && others >= SQLITE_LOCK_SHARED)
            code = SQLITE_BUSY;
        if (code == SQLITE_OK)
            self->lock = level;
        else if (level == SQLITE_LOCK_EXCLUSIVE && others < SQLITE_LOCK_RESERVED)
            self->lock = SQLITE_LOCK_PENDING; /* no new readers: those that are there will end */
    }
    vfs_unlock(self->vfs);
    return code;
}

static int file_unlock(sqlite3_file *base, int level)
{
    file *self = file_of(base);

    vfs_lock(self->vfs);
    if (level < self->lock)
        self->lock = level;
    vfs_unlock(self->vfs);
    return SQLITE_OK;
}

static int file_reserved(sqlite3_file *base, int *out_reserved)
{
    file *self = file_of(base);

    vfs_lock(self->vfs);
    *out_reserved =
        self->lock >= SQLITE_LOCK_RESERVED || lock_of_others(self) >= SQLITE_LOCK_RESERVED;
    vfs_unlock(self->vfs);
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *argument)
{
    if (what != SQLITE_FCNTL_LAST_ERRNO)
        return SQLITE_NOTFOUND;
    *(int *)argument = vfs_errno(file_of(base)->vfs);
    return SQLITE_OK;
}

static int file_sector(sqlite3_file *base)
{
    (void)base;
    return SECTOR_BYTES;
}

/* As the Unix VFS says of every disk: a write does not harm the bytes around it. */
static int file_traits(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_shm_map(sqlite3_file *base, int region, int size, int extend,
                        void volatile **out_memory)
{
    file *self = file_of(base);
    node *on = self->on;
    int code = SQLITE_OK;

    *out_memory = NULL;
    vfs_lock(self->vfs);
    if (!self->mapped) {
        self->mapped = true;
        on->mapped++;
    }
    if (vfs_dead(self->vfs) || region >= REGIONS_MAX)
        code = SQLITE_IOERR_SHMMAP;
    while (code == SQLITE_OK && extend && on->region_count <= region) {
        void *made = sqlite3_malloc(size);

        if (!made) {
            code = SQLITE_IOERR_NOMEM;
        } else {
            memset(made, 0, (size_t)size);
            on->regions[on->region_count++] = made;
        }
    }
    if (code == SQLITE_OK && region < on->region_count)
        *out_memory = on->regions[region];
    vfs_unlock(self->vfs);
    return code;
}

static bool shm_free_for(const file *self, uint16_t mask, bool exclusive)
{
    for (const file *at = self->vfs->open; at; at = at->next) {
        if (at == self || at->on != self->on)
            continue;
        if ((at->exclusive & mask) || (exclusive && (at->shared & mask)))
            return false;
    }
    return true;
}

static int file_shm_lock(sqlite3_file *base, int first, int count, int flags)
{
    file *self = file_of(base);
    uint16_t mask = (uint16_t)(((1U << count) - 1U) << first);
    bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    int code = SQLITE_OK;

    HF_ASSERT(first >= 0 && first + count <= SHM_LOCKS);
    vfs_lock(self->vfs);
    if (flags & SQLITE_SHM_UNLOCK) {
        self->shared = (uint16_t)(self->shared & ~mask);
        self->exclusive = (uint16_t)(self->exclusive & ~mask);
    } else if (!shm_free_for(self, mask, exclusive)) {
        code = SQLITE_BUSY;
    } else if (exclusive) {
        self->exclusive = (uint16_t)(self->exclusive | mask);
    } else {
        self->shared = (uint16_t)(self->shared | mask);
    }
    vfs_unlock(self->vfs);
    return code;
}

static void file_shm_barrier(sqlite3_file *base)
{
    file *self = file_of(base);

    vfs_lock(self->vfs); /* taking a lock is a barrier */
    vfs_unlock(self->vfs);
}

/* The last one to go takes the memory with it, as the first one to come clears what it finds. */
static int file_shm_unmap(sqlite3_file *base, int delete_it)
{
    file *self = file_of(base);

    (void)delete_it;
    vfs_lock(self->vfs);
    if (self->mapped) {
        self->mapped = false;
        self->shared = self->exclusive = 0;
        if (--self->on->mapped == 0)
            regions_free(self->on);
    }
    vfs_unlock(self->vfs);
    return SQLITE_OK;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 2, /* with shared memory, without mapping the file itself */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- the file system */

static hf_simvfs *vfs_of(sqlite3_vfs *base)
{
    return (hf_simvfs *)base;
}

/* Finds the file or makes it. */
static int node_open(hf_simvfs *vfs, const char *name, int flags, int *out_number)
{
    hf_sim_op op = {.kind = HF_SIM_CREATE};

    *out_number = name ? node_find(vfs, name) : HF_SIM_NONE;
    if (*out_number != HF_SIM_NONE)
        return SQLITE_OK;
    if (!(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    *out_number = node_make(vfs, name ? name : "", !name);
    if (*out_number == HF_SIM_NONE)
        return SQLITE_IOERR_NOMEM;
    if (!name)
        return SQLITE_OK;
    op.node = *out_number;
    op.name = hf_sim_log_name(&vfs->log, name);
    HF_ASSERT(op.name != HF_SIM_NONE);
    return op_note(vfs, op, NULL);
}

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *out_file, int flags,
                    int *out_flags)
{
    hf_simvfs *vfs = vfs_of(base);
    file *self = file_of(out_file);
    const int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    int number = HF_SIM_NONE;
    int code;

    memset(self, 0, sizeof(*self));
    vfs_lock(vfs);
    code = vfs_dead(vfs) ? SQLITE_CANTOPEN : node_open(vfs, name, flags, &number);
    if (code == SQLITE_OK) {
        self->base.pMethods = &file_methods;
        self->vfs = vfs;
        self->on = vfs->nodes[number];
        self->number = number;
        self->gone_at_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
        self->sync_folder = (flags & SQLITE_OPEN_CREATE) && (flags & journals);
        self->next = vfs->open;
        vfs->open = self;
        if (out_flags)
            *out_flags = flags;
    }
    vfs_unlock(vfs);
    return code;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int sync_folder)
{
    hf_simvfs *vfs = vfs_of(base);
    hf_sim_op op = {.kind = HF_SIM_DELETE, .sure = sync_folder != 0};
    int code = SQLITE_OK;

    vfs_lock(vfs);
    op.node = node_find(vfs, name);
    if (vfs_dead(vfs)) {
        code = SQLITE_IOERR_DELETE;
    } else if (op.node == HF_SIM_NONE) {
        code = SQLITE_IOERR_DELETE_NOENT;
    } else {
        vfs->nodes[op.node]->name[0] = '\0';
        op.name = hf_sim_log_name(&vfs->log, name);
        code = op_note(vfs, op, NULL);
    }
    vfs_unlock(vfs);
    return code;
}

static int vfs_access(sqlite3_vfs *base, const char *name, int flags, int *out_yes)
{
    hf_simvfs *vfs = vfs_of(base);
    int code = SQLITE_OK;
    int at;

    vfs_lock(vfs);
    at = node_find(vfs, name);
    if (vfs_dead(vfs))
        code = SQLITE_IOERR_ACCESS;
    else /* as on Unix: an empty file does not count as existing */
        *out_yes =
            at != HF_SIM_NONE && (flags != SQLITE_ACCESS_EXISTS || vfs->nodes[at]->bytes.len > 0);
    vfs_unlock(vfs);
    return code;
}

static int vfs_full_path(sqlite3_vfs *base, const char *name, int room, char *out_path)
{
    (void)base;
    (void)sqlite3_snprintf(room, out_path, "%s", name);
    return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *base, int bytes, char *out)
{
    sqlite3_vfs *real = vfs_of(base)->real;

    return real->xRandomness(real, bytes, out);
}

static int vfs_sleep(sqlite3_vfs *base, int us)
{
    const hf_simvfs *vfs = vfs_of(base);

    if (!vfs->pause)
        return vfs->real->xSleep(vfs->real, us);
    vfs->pause(vfs->pause_ctx, us);
    return us;
}

static int vfs_time(sqlite3_vfs *base, double *out_days)
{
    sqlite3_vfs *real = vfs_of(base)->real;

    return real->xCurrentTime(real, out_days);
}

static int vfs_last_error(sqlite3_vfs *base, int room, char *out)
{
    (void)room;
    (void)out;
    return vfs_errno(vfs_of(base));
}

static void nodes_free(hf_simvfs *vfs)
{
    HF_ASSERT(!vfs->open);
    for (int i = 0; i < vfs->node_count; i++) {
        regions_free(vfs->nodes[i]);
        hf_sim_bytes_fini(&vfs->nodes[i]->bytes);
        sqlite3_free(vfs->nodes[i]);
    }
    vfs->node_count = 0;
}

hf_simvfs *hf_simvfs_new(const char *name)
{
    hf_simvfs *vfs;

    HF_ASSERT(sqlite3_initialize() == SQLITE_OK && strlen(name) < HF_SIM_NAME_BYTES_MAX);
    vfs = sqlite3_malloc64(sizeof(*vfs));
    if (!vfs)
        return NULL;
    memset(vfs, 0, sizeof(*vfs));
    memcpy(vfs->name, name, strlen(name) + 1);
    vfs->real = sqlite3_vfs_find(NULL);
    HF_ASSERT(pthread_mutex_init(&vfs->mutex, NULL) == 0);
    vfs->base = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(file),
        .mxPathname = HF_SIM_NAME_BYTES_MAX,
        .zName = vfs->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
    };
    HF_ASSERT(sqlite3_vfs_register(&vfs->base, 0) == SQLITE_OK);
    return vfs;
}

void hf_simvfs_free(hf_simvfs *vfs)
{
    if (!vfs)
        return;
    HF_ASSERT(sqlite3_vfs_unregister(&vfs->base) == SQLITE_OK);
    nodes_free(vfs);
    sqlite3_free(vfs->nodes);
    hf_sim_log_fini(&vfs->log);
    HF_ASSERT(pthread_mutex_destroy(&vfs->mutex) == 0);
    sqlite3_free(vfs);
}

void hf_simvfs_reset(hf_simvfs *vfs)
{
    nodes_free(vfs);
    hf_sim_log_fini(&vfs->log);
    memset(vfs->traps, 0, sizeof(vfs->traps));
    vfs->recording = false;
    vfs->operation = 0;
    vfs->crash_at = 0;
}

const char *hf_simvfs_name(const hf_simvfs *vfs)
{
    return vfs->name;
}

bool hf_simvfs_put(hf_simvfs *vfs, const char *name, const uint8_t *bytes, size_t len)
{
    int at = node_make(vfs, name, false);

    return at != HF_SIM_NONE && hf_sim_bytes_write(&vfs->nodes[at]->bytes, 0, bytes, len);
}

bool hf_simvfs_take(void *vfs, const char *name, const uint8_t *bytes, size_t len)
{
    return hf_simvfs_put(vfs, name, bytes, len);
}

/* One file as the record's beginning. */
static bool node_recorded(hf_simvfs *vfs, int number)
{
    const node *on = vfs->nodes[number];
    hf_sim_op op = {.kind = HF_SIM_CREATE, .node = number};

    op.name = hf_sim_log_name(&vfs->log, on->name);
    if (op.name == HF_SIM_NONE || op_note(vfs, op, NULL) != SQLITE_OK)
        return false;
    op.kind = HF_SIM_WRITE;
    op.len = on->bytes.len;
    if (op_note(vfs, op, on->bytes.ptr) != SQLITE_OK)
        return false;
    op.kind = HF_SIM_SYNC;
    return op_note(vfs, op, NULL) == SQLITE_OK;
}

bool hf_simvfs_record(hf_simvfs *vfs)
{
    bool good = true;

    vfs_lock(vfs);
    HF_ASSERT(!vfs->recording);
    vfs->recording = true;
    vfs->operation = 0;
    for (int i = 0; good && i < vfs->node_count; i++)
        if (vfs->nodes[i]->name[0] && !vfs->nodes[i]->scratch)
            good = node_recorded(vfs, i);
    vfs_unlock(vfs);
    return good;
}

const hf_sim_log *hf_simvfs_log(const hf_simvfs *vfs)
{
    return &vfs->log;
}

int64_t hf_simvfs_operation(const hf_simvfs *vfs)
{
    return vfs->operation;
}

void hf_simvfs_fail(hf_simvfs *vfs, hf_simvfs_fault fault, int64_t nth, bool persistent)
{
    vfs_lock(vfs);
    vfs->traps[fault] = (trap){.fail_at = nth, .persistent = persistent};
    vfs_unlock(vfs);
}

int64_t hf_simvfs_seen(hf_simvfs *vfs, hf_simvfs_fault fault)
{
    int64_t seen;

    vfs_lock(vfs);
    seen = vfs->traps[fault].seen;
    vfs_unlock(vfs);
    return seen;
}

void hf_simvfs_pause(hf_simvfs *vfs, void (*pause)(void *ctx, int64_t us), void *ctx)
{
    vfs->pause = pause;
    vfs->pause_ctx = ctx;
}

void hf_simvfs_crash_at(hf_simvfs *vfs, int64_t op)
{
    vfs_lock(vfs);
    vfs->crash_at = op;
    vfs_unlock(vfs);
}
