/* test_corruption.c: every kind of damage of corruption.def, in several places: verify finds it and
   names the right invariant. One store per engine is built, damaged, checked and restored. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "holdfast/tool.h"
#include "lib/campaign.h"
#include "lib/check_store.h"
#include "lib/forge.h"
#include "lib/world.h"
#include "model/event_codec.h"

enum { GROUPS = 3, LIVES = 12, CORRUPTIONS_MIN = 200 };

typedef struct life {
    const char *name;
    int64_t run;
    int64_t instance;
    int64_t second; /* the run that continues it */
} life;

typedef struct corruption {
    const char *name;
    int invariant;
    const char *life;
    const char *script;
    void (*edit)(hf_db *db, int64_t run);
} corruption;

/* ---- the lives */

static char id_text[GROUPS][LIVES][32];

static const char *id_make(int group, int at, const char *name)
{
    (void)snprintf(id_text[group][at], sizeof(id_text[0][0]), "%s-%d", name, group);
    return id_text[group][at];
}

static void life_keep(life *lives, int at, const char *name, const hf_world_run *run)
{
    lives[at] = (life){.name = name, .run = run->base.run, .instance = run->base.instance};
}

#define OK(call) hf_test_ok((call), &err, #call)

/* The instance of a whole life is known by its id alone. */
static void life_find(hf_db *db, const char *id, life *out_life)
{
    const hf_db_value param = hf_db_text(hf_slice_of(id));
    hf_db_cursor *cursor = NULL;
    hf_err err = {0};
    bool row = false;

    OK(hf_db_query_text(db, "SELECT current_run, key FROM instance WHERE id = ?1", &param, 1,
                        &cursor, &err));
    OK(hf_db_step(cursor, &row, &err));
    ck_assert(row);
    *out_life = (life){.name = "life",
                       .run = hf_db_column_int(cursor, 0),
                       .instance = hf_db_column_int(cursor, 1)};
    hf_db_end(cursor);
}

/* life: a whole one; open: waits for its first turn; pending, claimed: an activity; timer: a timer;
   waiting: a signal not yet applied; signals: two applied; parent: of an open child; told: of a
   child that has finished; chain: two runs. */
static void lives_make(hf_world *world, int group, life *lives)
{
    hf_world_run run = {0};
    hf_world_run other = {0};
    hf_err err = {0};

    OK(hf_world_life(world, id_make(group, 0, "life"), &err));
    OK(hf_world_start(world, id_make(group, 1, "open"), &run, &err));
    life_keep(lives, 1, "open", &run);
    OK(hf_world_start(world, id_make(group, 2, "pending"), &run, &err));
    OK(hf_world_activity(world, &run, &err));
    life_keep(lives, 2, "pending", &run);
    OK(hf_world_start(world, id_make(group, 3, "claimed"), &run, &err));
    OK(hf_world_activity(world, &run, &err));
    OK(hf_world_claim(world, &run, &err));
    life_keep(lives, 3, "claimed", &run);
    OK(hf_world_start(world, id_make(group, 4, "timer"), &run, &err));
    OK(hf_world_timer(world, &run, 60000000, &err));
    life_keep(lives, 4, "timer", &run);
    OK(hf_world_start(world, id_make(group, 5, "waiting"), &run, &err));
    OK(hf_world_signal(world, &run, "go", 30, &err));
    life_keep(lives, 5, "waiting", &run);
    OK(hf_world_start(world, id_make(group, 6, "signals"), &run, &err));
    for (int i = 0; i < 2; i++) {
        OK(hf_world_signal(world, &run, "go", 30, &err));
        OK(hf_world_apply(world, &run, "go", &err));
    }
    life_keep(lives, 6, "signals", &run);
    OK(hf_world_start(world, id_make(group, 7, "parent"), &run, &err));
    OK(hf_world_child(world, &run, id_make(group, 8, "child"), &other, &err));
    life_keep(lives, 7, "parent", &run);
    OK(hf_world_start(world, id_make(group, 9, "told"), &run, &err));
    OK(hf_world_child(world, &run, id_make(group, 10, "done"), &other, &err));
    OK(hf_world_finish(world, &other, &err));
    life_keep(lives, 9, "told", &run);
    OK(hf_world_start(world, id_make(group, 11, "chain"), &run, &err));
    OK(hf_world_continue(world, &run, &other, &err));
    life_keep(lives, 11, "chain", &run);
    lives[11].second = other.base.run;
}

static const life *life_get(const life *lives, hf_slice name)
{
    for (int i = 0; i < LIVES; i++)
        if (lives[i].name && hf_slice_equal(name, hf_slice_of(lives[i].name)))
            return &lives[i];
    ck_abort_msg("no life is called %.*s", (int)name.len, name.ptr);
    return NULL;
}

/* ---- scripts */

static void word_add(hf_buf *out, const life *lives, hf_slice word, hf_engine_kind kind)
{
    const life *found;

    if (hf_slice_equal(word, HF_SLICE("blob"))) {
        hf_buf_add_text(out, kind == HF_ENGINE_SQLITE ? "BLOB" : "BYTEA");
        return;
    }
    if (word.ptr[0] == '2') {
        found = life_get(lives, hf_slice_from(word.ptr + 1, word.len - 1));
        hf_buf_add_format(out, "%lld", (long long)found->second);
    } else if (word.ptr[word.len - 1] == '!') {
        found = life_get(lives, hf_slice_from(word.ptr, word.len - 1));
        hf_buf_add_format(out, "%lld", (long long)found->instance);
    } else {
        hf_buf_add_format(out, "%lld", (long long)life_get(lives, word)->run);
    }
}

static void script_run(hf_db *db, const char *script, const life *lives, hf_engine_kind kind)
{
    hf_buf text = {0};
    hf_err err = {0};

    while (*script) {
        const char *brace = strchr(script, '{');
        const char *end = brace ? strchr(brace, '}') : NULL;

        if (!end) {
            hf_buf_add_text(&text, script);
            break;
        }
        hf_buf_add(&text, script, (size_t)(brace - script));
        word_add(&text, lives, hf_slice_from(brace + 1, (size_t)(end - brace - 1)), kind);
        script = end + 1;
    }
    if (text.len)
        OK(hf_db_script(db, hf_buf_text(&text), &err));
    hf_buf_fini(&text);
}

static const char *const tables[] = {
    "meta",        "migration",  "counter",
    "namespace",   "instance",   "run",
    "history",     "payload",    "command",
    "dedup",       "definition", "inbox",
    "message",     "task",       "timer",
    "activity",    "link",       "batch_item",
    "run_summary", "schedule",   "schedule_history",
    "batch",       "worker",     "imported_run",
    "correlation", "slot",       "bucket",
    "answer_link",
};

static void tables_script(hf_db *db, const char *format_drop, const char *middle, const char *tail)
{
    hf_buf text = {0};
    hf_err err = {0};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        hf_buf_add_format(&text, "%s%s%s%s%s;", format_drop, tables[i], middle, tables[i], tail);
    OK(hf_db_script(db, hf_buf_text(&text), &err));
    hf_buf_fini(&text);
}

static void store_keep(hf_db *db)
{
    tables_script(db, "CREATE TABLE kept_", " AS SELECT * FROM ", "");
}

static void store_restore(hf_db *db)
{
    hf_err err = {0};

    OK(hf_db_begin(db, HF_DB_WRITE, &err));
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char text[128];

        (void)snprintf(text, sizeof(text), "DELETE FROM %s", tables[i]);
        OK(hf_db_script(db, text, &err));
    }
    tables_script(db, "INSERT INTO ", " SELECT * FROM kept_", "");
    OK(hf_db_script(
        db,
        "CREATE UNIQUE INDEX IF NOT EXISTS run_open ON run (instance) WHERE closed_us "
        "IS NULL; CREATE UNIQUE INDEX IF NOT EXISTS command_message ON command "
        "(instance, message_seq); CREATE UNIQUE INDEX IF NOT EXISTS link_pair ON link "
        "(parent_run, child_run, kind); CREATE UNIQUE INDEX IF NOT EXISTS task_workflow "
        "ON task (run, (CASE kind WHEN 1 THEN 0 ELSE key END)); "
        "CREATE UNIQUE INDEX IF NOT EXISTS schedule_slot ON "
        "schedule_history (schedule, slot_us) WHERE slot_us IS NOT NULL",
        &err));
    OK(hf_db_commit(db, &err));
}

/* ---- bytes */

/* Changes the bytes that `read` finds with `change` and puts them back with `write` (?1 bytes, ?2
   run). */
static void bytes_change(hf_db *db, int64_t run, const char *read, const char *write,
                         hf_slice (*change)(char *bytes, size_t len))
{
    hf_mem *mem = hf_mem_new();
    hf_slice bytes;

    ck_assert_ptr_nonnull(mem);
    bytes = hf_forge_bytes(db, mem, read, run);
    bytes = change((char *)bytes.ptr, bytes.len);
    hf_forge_exec(db, write, (const hf_db_value[]){hf_db_blob(bytes), hf_db_int(run)}, 2);
    hf_mem_free(mem);
}

static hf_slice bytes_flip(char *bytes, size_t len)
{
    bytes[len / 2] = (char)(bytes[len / 2] ^ 1);
    return hf_slice_from(bytes, len);
}

static hf_slice bytes_cut(char *bytes, size_t len)
{
    return hf_slice_from(bytes, len - 1);
}

static hf_slice text_replace(char *bytes, size_t len, const char *old, char fresh)
{
    size_t size = strlen(old);

    for (size_t i = 0; i + size <= len; i++) {
        if (memcmp(bytes + i, old, size) == 0) {
            bytes[i + size - 1] = fresh;
            return hf_slice_from(bytes, len);
        }
    }
    ck_abort_msg("the chunk does not hold %s", old);
    return (hf_slice){0};
}

static hf_slice type_change(char *bytes, size_t len)
{
    return text_replace(bytes, len, "charge", 'y');
}

static hf_slice inline_change(char *bytes, size_t len)
{
    return text_replace(bytes, len, "[42", '3');
}

/* Format, count of events, then the number of the first event's type. */
static hf_slice number_change(char *bytes, size_t len)
{
    ck_assert(len > 3);
    bytes[2] = 99;
    return hf_slice_from(bytes, len);
}

#define HEAD_READ     "SELECT head FROM run WHERE key = ?1"
#define HEAD_WRITE    "UPDATE run SET head = ?1 WHERE key = ?2"
#define HASH_READ     "SELECT hash FROM history WHERE run = ?1 AND first_seq = 3"
#define HASH_WRITE    "UPDATE history SET hash = ?1 WHERE run = ?2 AND first_seq = 3"
#define BODY_READ     "SELECT body FROM history WHERE run = ?1 AND first_seq = 3"
#define BODY_WRITE    "UPDATE history SET body = ?1 WHERE run = ?2 AND first_seq = 3"
#define PAYLOAD_READ  "SELECT body FROM payload WHERE run = ?1"
#define PAYLOAD_WRITE "UPDATE payload SET body = ?1 WHERE run = ?2"
#define DIGEST_READ   "SELECT digest FROM payload WHERE run = ?1"
#define DIGEST_WRITE  "UPDATE payload SET digest = ?1 WHERE run = ?2"

static void head_flip(hf_db *db, int64_t run)
{
    bytes_change(db, run, HEAD_READ, HEAD_WRITE, bytes_flip);
}

static void hash_flip(hf_db *db, int64_t run)
{
    bytes_change(db, run, HASH_READ, HASH_WRITE, bytes_flip);
}

static void hash_cut(hf_db *db, int64_t run)
{
    bytes_change(db, run, HASH_READ, HASH_WRITE, bytes_cut);
}

static void body_flip(hf_db *db, int64_t run)
{
    bytes_change(db, run, BODY_READ, BODY_WRITE, type_change);
}

static void inline_flip(hf_db *db, int64_t run)
{
    bytes_change(db, run, BODY_READ, BODY_WRITE, inline_change);
}

static void body_cut(hf_db *db, int64_t run)
{
    bytes_change(db, run, BODY_READ, BODY_WRITE, bytes_cut);
}

static void type_unknown(hf_db *db, int64_t run)
{
    bytes_change(db, run, BODY_READ, BODY_WRITE, number_change);
}

static void payload_flip(hf_db *db, int64_t run)
{
    bytes_change(db, run, PAYLOAD_READ, PAYLOAD_WRITE, bytes_flip);
}

static void payload_cut(hf_db *db, int64_t run)
{
    bytes_change(db, run, PAYLOAD_READ, PAYLOAD_WRITE, bytes_cut);
}

static void digest_flip(hf_db *db, int64_t run)
{
    bytes_change(db, run, DIGEST_READ, DIGEST_WRITE, bytes_flip);
}

/* ---- events */

static void start_other_edit(hf_forge *forge)
{
    forge->events[0].type = HF_EVENT_START_REJECTED;
}

static void start_twice_edit(hf_forge *forge)
{
    hf_forge_blank(hf_forge_find(forge, HF_EVENT_TIMER_SCHEDULED, 0), HF_EVENT_WORKFLOW_STARTED);
}

static void close_missing_edit(hf_forge *forge)
{
    hf_forge_blank(hf_forge_find(forge, HF_EVENT_WORKFLOW_COMPLETED, 0), HF_EVENT_FAILURE_HANDLED);
}

static void close_open_edit(hf_forge *forge)
{
    hf_forge_blank(hf_forge_find(forge, HF_EVENT_ACTIVITY_STARTED, 0), HF_EVENT_WORKFLOW_FAILED);
}

static void close_early_edit(hf_forge *forge)
{
    hf_forge_blank(hf_forge_find(forge, HF_EVENT_TIMER_FIRED, 0), HF_EVENT_WORKFLOW_COMPLETED);
}

static void time_back_edit(hf_forge *forge)
{
    hf_forge_find(forge, HF_EVENT_TIMER_SCHEDULED, 0)->time_us -= 1000000;
}

static void resolve_twice_edit(hf_forge *forge)
{
    hf_forge_find(forge, HF_EVENT_ACTIVITY_COMPLETED, 1)->step = 1;
}

static void resolve_unopened_edit(hf_forge *forge)
{
    hf_forge_find(forge, HF_EVENT_TIMER_FIRED, 0)->step = 99;
}

static void resolve_shape_edit(hf_forge *forge)
{
    hf_forge_blank(hf_forge_find(forge, HF_EVENT_ACTIVITY_COMPLETED, 0),
                   HF_EVENT_CONDITION_WAIT_SATISFIED);
}

static void resolve_id_edit(hf_forge *forge)
{
    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_TIMER_FIRED, 0),
                 (hf_event_field){.key = HF_KEY_TIMER_ID, .id = {{1, 2, 3}}});
}

static void open_twice_edit(hf_forge *forge)
{
    hf_forge_find(forge, HF_EVENT_ACTIVITY_SCHEDULED, 1)->step = 1;
}

static void step_gap_edit(hf_forge *forge)
{
    hf_forge_find(forge, HF_EVENT_ACTIVITY_SCHEDULED, 0)->step = 4;
    hf_forge_find(forge, HF_EVENT_ACTIVITY_STARTED, 0)->step = 4;
}

static void group_set(hf_forge *forge, int64_t index)
{
    hf_event *event = hf_forge_find(forge, HF_EVENT_ACTIVITY_SCHEDULED, 0);

    hf_forge_set(forge, event,
                 (hf_event_field){.key = HF_KEY_PARALLEL_GROUP_ID, .text = HF_SLICE("group")});
    hf_forge_set(forge, event,
                 (hf_event_field){.key = HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, .number = 1});
    hf_forge_set(forge, event, (hf_event_field){.key = HF_KEY_PARALLEL_GROUP_SIZE, .number = 2});
    hf_forge_set(forge, event,
                 (hf_event_field){.key = HF_KEY_PARALLEL_GROUP_INDEX, .number = index});
}

static void group_short_edit(hf_forge *forge)
{
    group_set(forge, 0);
}

static void group_outside_edit(hf_forge *forge)
{
    group_set(forge, 2);
}

static void attempt_gap_edit(hf_forge *forge)
{
    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_ACTIVITY_STARTED, 0),
                 (hf_event_field){.key = HF_KEY_ATTEMPT_NUMBER, .number = 3});
}

static void attempt_old_edit(hf_forge *forge)
{
    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_ACTIVITY_COMPLETED, 1),
                 (hf_event_field){.key = HF_KEY_ATTEMPT_NUMBER, .number = 7});
}

static void timer_early_edit(hf_forge *forge)
{
    hf_event *fired = hf_forge_find(forge, HF_EVENT_TIMER_FIRED, 0);

    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_TIMER_SCHEDULED, 0),
                 (hf_event_field){.key = HF_KEY_FIRE_AT, .time_us = fired->time_us + 1});
}

static void receive_twice_edit(hf_forge *forge)
{
    *hf_forge_find(forge, HF_EVENT_SIGNAL_RECEIVED, 1) =
        *hf_forge_find(forge, HF_EVENT_SIGNAL_RECEIVED, 0);
    hf_forge_find(forge, HF_EVENT_SIGNAL_RECEIVED, 1)->time_us =
        hf_forge_find(forge, HF_EVENT_SIGNAL_APPLIED, 0)->time_us;
}

static hf_ulid signal_id(hf_forge *forge, size_t nth)
{
    hf_ulid id = {0};

    ck_assert(
        hf_event_id(hf_forge_find(forge, HF_EVENT_SIGNAL_APPLIED, nth), HF_KEY_SIGNAL_ID, &id));
    return id;
}

static void apply_twice_edit(hf_forge *forge)
{
    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_SIGNAL_APPLIED, 1),
                 (hf_event_field){.key = HF_KEY_SIGNAL_ID, .id = signal_id(forge, 0)});
}

/* Both were received before either was applied; the second one is applied first. */
static void apply_order_edit(hf_forge *forge)
{
    hf_event *wait = hf_forge_find(forge, HF_EVENT_SIGNAL_WAIT_OPENED, 0);
    hf_event *received = hf_forge_find(forge, HF_EVENT_SIGNAL_RECEIVED, 1);
    hf_ulid first = signal_id(forge, 0);
    hf_ulid second = signal_id(forge, 1);
    hf_event moved = *received;

    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_SIGNAL_APPLIED, 0),
                 (hf_event_field){.key = HF_KEY_SIGNAL_ID, .id = second});
    hf_forge_set(forge, hf_forge_find(forge, HF_EVENT_SIGNAL_APPLIED, 1),
                 (hf_event_field){.key = HF_KEY_SIGNAL_ID, .id = first});
    moved.time_us = wait->time_us;
    for (hf_event *event = received; event > wait; event--)
        *event = event[-1];
    *wait = moved;
    for (size_t i = 1; i < forge->count; i++)
        if (forge->events[i].time_us < forge->events[i - 1].time_us)
            forge->events[i].time_us = forge->events[i - 1].time_us;
}

static void answer_unknown_edit(hf_forge *forge)
{
    hf_event *event = hf_forge_find(forge, HF_EVENT_SIGNAL_RECEIVED, 0);

    hf_forge_blank(event, HF_EVENT_UPDATE_COMPLETED);
    hf_forge_set(forge, event,
                 (hf_event_field){.key = HF_KEY_UPDATE_ID, .id = {{0, 0, 0, 0, 0, 0, 9, 9, 9}}});
}

#define EDIT(name)                                                                                 \
    static void name(hf_db *db, int64_t run)                                                       \
    {                                                                                              \
        hf_forge_run(db, run, name##_edit);                                                        \
    }
EDIT(start_other)
EDIT(start_twice)
EDIT(close_missing)
EDIT(close_open)
EDIT(close_early)
EDIT(time_back)
EDIT(resolve_twice)
EDIT(resolve_unopened)
EDIT(resolve_shape)
EDIT(resolve_id)
EDIT(open_twice)
EDIT(step_gap)
EDIT(group_short)
EDIT(group_outside)
EDIT(attempt_gap)
EDIT(attempt_old)
EDIT(timer_early)
EDIT(receive_twice)
EDIT(apply_twice)
EDIT(apply_order)
EDIT(answer_unknown)

static const corruption corruptions[] = {
#define BREAK(name, invariant, life, script, edit) {name, invariant, life, script, edit},
#include "verify/corruption.def"
#undef BREAK
};

/* ---- the check */

typedef struct tally {
    char wanted[8];
    bool hit;
    int count;
    hf_buf text;
} tally;

static void finding_keep(void *ctx, const hf_finding *finding)
{
    tally *found = ctx;

    found->hit = found->hit || strcmp(finding->invariant, found->wanted) == 0;
    found->count++;
    hf_buf_add_format(&found->text, "\n  %s %s %s", finding->invariant, finding->keys,
                      finding->sentence);
}

static void verify_now(const char *address, tally *found)
{
    const hf_verify_options options = {.size = sizeof(options)};
    hf_err err = {0};

    hf_buf_clear(&found->text);
    found->hit = false;
    found->count = 0;
    OK(hf_verify(address, &options, finding_keep, NULL, found, NULL, &err));
}

static int corruption_try(hf_test_place *place, hf_db *db, const corruption *what,
                          const life *lives, tally *found)
{
    hf_engine_kind kind = hf_test_place_kind(place);
    hf_err err = {0};
    int missed = 0;

    (void)snprintf(found->wanted, sizeof(found->wanted), "I%02d", what->invariant);
    OK(hf_db_begin(db, HF_DB_WRITE, &err));
    script_run(db, what->script, lives, kind);
    if (what->edit)
        what->edit(db, life_get(lives, hf_slice_of(what->life))->run);
    OK(hf_db_commit(db, &err));
    verify_now(hf_test_place_address(place), found);
    if (!found->hit) {
        (void)fprintf(stderr, "%s: %s was not named, but%s\n", what->name, found->wanted,
                      found->count ? hf_buf_text(&found->text) : " nothing");
        missed = 1;
    }
    store_restore(db);
    return missed;
}

/* At least 200 corruptions of at least 40 kinds, of each kind one in a short run: each is found and
   named. */
HF_BOTH_ENGINES(corruptions_are_named)
{
    hf_test_place *place = hf_test_place_new(kind);
    life lives[GROUPS][LIVES] = {0};
    const size_t kinds = sizeof(corruptions) / sizeof(corruptions[0]);
    tally found = {0};
    hf_world world;
    hf_db *db = NULL;
    hf_err err = {0};
    int missed = 0;

    ck_assert(kinds >= 40 && kinds * GROUPS >= CORRUPTIONS_MIN);
    OK(hf_world_open(&world, hf_test_place_address(place), NULL, &err));
    for (int group = 0; group < GROUPS; group++)
        lives_make(&world, group, lives[group]);
    hf_world_close(&world);
    OK(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err));
    for (int group = 0; group < GROUPS; group++)
        life_find(db, id_text[group][0], &lives[group][0]);
    store_keep(db);
    verify_now(hf_test_place_address(place), &found);
    ck_assert_msg(found.count == 0, "the store was not clean:%s", hf_buf_text(&found.text));
    for (int group = 0; group < GROUPS; group += hf_campaign_stride(GROUPS, 1))
        for (size_t i = 0; i < kinds; i++)
            missed += corruption_try(place, db, &corruptions[i], lives[group], &found);
    verify_now(hf_test_place_address(place), &found);
    ck_assert_msg(found.count == 0, "the store was not restored:%s", hf_buf_text(&found.text));
    hf_db_close(db);
    hf_buf_fini(&found.text);
    ck_assert_msg(missed == 0, "%d corruptions were not named", missed);
    hf_test_place_free(place);
}

HF_PG_SUITE_MAIN("verify/corruption", HF_BOTH_SLOW(corruptions_are_named, 300))
