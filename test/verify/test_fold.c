/* test_fold.c: histories that no world makes yet, folded without a database: retries, updates,
   timed waits, parallel groups, closing with work open. Each is given as a few events; what must be
   found is named, and everything else must be right. */
#include "verify/fold.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/id.h"
#include "lib/suite.h"
#include "model/event_codec.h"
#include "store/row.h"

enum { RUN = 7, CHUNK = 3, LONG_EVENTS = 100000, LONG_KIB_MAX = 8 * 1024 };

/* Sanitizers keep freed memory for a while, so that its amount says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MEMORY_COUNTS 0
#endif
#endif
#ifndef MEMORY_COUNTS
#define MEMORY_COUNTS 1
#endif

static const int64_t start_us = INT64_C(1767225600000000);

/* A history in the making and what was found in it. */
typedef struct story {
    hf_mem *mem;
    hf_event_builder events;
    int64_t now_us;
    hf_fold_run facts;
    hf_fold_command commands[4];
    size_t command_count;
    hf_fold_timer timers[4];
    size_t timer_count;
    hf_fold_activity activities[4];
    size_t activity_count;
    hf_fold_link links[4];
    size_t link_count;
    hf_fold_task task; /* key 0: none */
    char found[256];   /* "I07 I15 " */
    char last[1024];   /* sentence */
} story;

static void finding_keep(void *ctx, const hf_finding *finding)
{
    story *story_now = ctx;
    size_t len = strlen(story_now->found);

    (void)snprintf(story_now->found + len, sizeof(story_now->found) - len, "%s ",
                   finding->invariant);
    (void)snprintf(story_now->last, sizeof(story_now->last), "%s", finding->sentence);
}

static hf_ulid id_of(int64_t key)
{
    return hf_ulid_form(start_us, key, 0);
}

static hf_event_builder *say(story *story_now, hf_event_type type, int64_t step)
{
    story_now->now_us += 1000;
    hf_event_begin(&story_now->events, type, story_now->now_us, step);
    return &story_now->events;
}

static void attempt_say(story *story_now, hf_event_type type, int64_t step, int64_t attempt)
{
    hf_event_put_int(say(story_now, type, step), HF_KEY_ATTEMPT_NUMBER, attempt);
}

static void update_say(story *story_now, hf_event_type type, int64_t command)
{
    hf_event_builder *events = say(story_now, type, 0);

    hf_event_put_id(events, HF_KEY_UPDATE_ID, id_of(command));
    hf_event_put_text(events, HF_KEY_UPDATE_NAME, HF_SLICE("change"));
}

static void group_say(story *story_now, int64_t step, int64_t base, int64_t size, int64_t index,
                      const char *path)
{
    hf_event_builder *events = say(story_now, HF_EVENT_TIMER_SCHEDULED, step);

    hf_event_put_time(events, HF_KEY_FIRE_AT, start_us * 2);
    hf_event_put_text(events, HF_KEY_PARALLEL_GROUP_ID, HF_SLICE("group"));
    hf_event_put_int(events, HF_KEY_PARALLEL_GROUP_BASE_SEQUENCE, base);
    hf_event_put_int(events, HF_KEY_PARALLEL_GROUP_SIZE, size);
    hf_event_put_int(events, HF_KEY_PARALLEL_GROUP_INDEX, index);
    hf_event_put_json(events, HF_KEY_PARALLEL_GROUP_PATH, hf_slice_of(path));
}

static void timer_row(story *story_now, int64_t step, int64_t due_us)
{
    story_now->timers[story_now->timer_count++] = (hf_fold_timer){
        .key = 100 + step, .step = step, .status = HF_TIMER_STATUS_PENDING, .due_us = due_us};
}

static void command_row(story *story_now, hf_command_type type, int64_t key, int64_t state)
{
    int64_t number = ++story_now->facts.command_seq;

    story_now->commands[story_now->command_count++] =
        (hf_fold_command){.key = key,
                          .type = type,
                          .status = HF_COMMAND_STATUS_ACCEPTED,
                          .outcome = HF_NONE,
                          .command_seq = number,
                          .message_seq = ++story_now->facts.message_seq,
                          .state = state};
}

static void closed(story *story_now, hf_event_type type, hf_run_status status,
                   hf_closed_reason reason)
{
    (void)say(story_now, type, 0);
    story_now->facts.status = status;
    story_now->facts.closed_reason = reason;
    story_now->facts.closed_us = story_now->now_us;
    story_now->task.key = 0;
}

static void story_begin(story *story_now)
{
    *story_now =
        (story){.mem = hf_mem_new(),
                .now_us = start_us,
                .facts = {.number = 1,
                          .status = HF_RUN_STATUS_WAITING,
                          .closed_reason = HF_NONE,
                          .closed_us = HF_NONE,
                          .execution_deadline_us = HF_NONE,
                          .run_deadline_us = HF_NONE},
                .task = {.key = 50, .kind = HF_TASK_TYPE_WORKFLOW, .status = HF_TASK_STATUS_READY}};
    ck_assert_ptr_nonnull(story_now->mem);
    hf_event_builder_init(&story_now->events, story_now->mem);
    (void)say(story_now, HF_EVENT_START_ACCEPTED, 0);
    (void)say(story_now, HF_EVENT_WORKFLOW_STARTED, 0);
}

static hf_status rows_add(hf_fold *fold, const story *story_now, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < story_now->command_count; i++)
        st = hf_fold_command_add(fold, &story_now->commands[i], err);
    for (size_t i = 0; !st && i < story_now->timer_count; i++)
        st = hf_fold_timer_add(fold, &story_now->timers[i], err);
    for (size_t i = 0; !st && i < story_now->activity_count; i++)
        st = hf_fold_activity_add(fold, &story_now->activities[i], err);
    for (size_t i = 0; !st && i < story_now->link_count; i++)
        st = hf_fold_link_add(fold, &story_now->links[i], err);
    if (!st && story_now->task.key)
        st = hf_fold_task_add(fold, &story_now->task, err);
    return st;
}

/* One chunk of history as the run's next; moves facts and head. */
static hf_fold_chunk chunk_make(hf_sha256 *sha, hf_buf *body, const hf_event *events, size_t count,
                                hf_fold_run *facts, uint8_t head[HF_SHA256_BYTES])
{
    hf_event_chunk_place place = {.run_key = RUN, .first_seq = (uint64_t)facts->last_seq + 1};
    hf_fold_chunk chunk = {
        .first_seq = facts->last_seq + 1, .count = (int64_t)count, .format = HF_EVENT_CHUNK_FORMAT};
    hf_err err = {0};

    memcpy(place.previous, head, HF_SHA256_BYTES);
    ck_assert_msg(!hf_event_chunk_encode(events, count, body, &err), "%s", err.text);
    ck_assert(!hf_event_chunk_hash(sha, events, count, &place, head, &err));
    facts->last_seq += (int64_t)count;
    facts->history_bytes += (int64_t)body->len;
    facts->last_us = events[count - 1].time_us;
    chunk.body = hf_buf_slice(body);
    chunk.hash = hf_slice_from(head, HF_SHA256_BYTES);
    return chunk;
}

/* Makes the chunks of the story, then folds it with the nth allocation failing (0: none). */
static hf_status story_fold(story *story_now, int64_t nth, hf_err *err)
{
    hf_event *events = NULL;
    size_t count = 0;
    hf_report report;
    hf_fold *fold = NULL;
    hf_sha256 *sha = NULL;
    hf_buf bodies[32] = {0};
    uint8_t hashes[32][HF_SHA256_BYTES];
    hf_fold_chunk chunks[32];
    uint8_t head[HF_SHA256_BYTES] = {0};
    size_t chunk_count = 0;
    hf_fold_run facts = story_now->facts;
    hf_status st;

    ck_assert(!hf_event_builder_done(&story_now->events, &events, &count, err));
    ck_assert(!hf_sha256_new(&sha, err));
    for (size_t at = 0; at < count; at += CHUNK, chunk_count++) {
        size_t taken = count - at < CHUNK ? count - at : CHUNK;

        ck_assert(chunk_count < 32);
        chunks[chunk_count] =
            chunk_make(sha, &bodies[chunk_count], events + at, taken, &facts, head);
        memcpy(hashes[chunk_count], head, sizeof(head));
        chunks[chunk_count].hash = hf_slice_from(hashes[chunk_count], sizeof(head));
    }
    facts.head = hf_slice_from(head, sizeof(head));
    story_now->found[0] = '\0';
    hf_report_init(&report, finding_keep, story_now);
    hf_fault_arm(HF_FAULT_ALLOC, nth, false);
    st = hf_fold_new(&report, true, &fold, err);
    if (!st) {
        hf_fold_begin(fold, RUN, &facts);
        st = rows_add(fold, story_now, err);
    }
    for (size_t i = 0; !st && i < chunk_count; i++)
        st = hf_fold_chunk_add(fold, &chunks[i], err);
    if (!st)
        st = hf_fold_end(fold, err);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    hf_fold_free(fold);
    hf_report_fini(&report);
    for (size_t i = 0; i < chunk_count; i++)
        hf_buf_fini(&bodies[i]);
    hf_sha256_free(sha);
    return st;
}

static void story_end(story *story_now, const char *expected)
{
    hf_err err = {0};

    ck_assert_msg(!story_fold(story_now, 0, &err), "%s", err.text);
    ck_assert_msg(strcmp(story_now->found, expected) == 0, "found \"%s\", not \"%s\": %s",
                  story_now->found, expected, story_now->last);
    hf_mem_free(story_now->mem);
}

/* A start alone is right as long as something resumes it. */
START_TEST(start_is_clean)
{
    story story_now;

    story_begin(&story_now);
    story_end(&story_now, "");
    story_begin(&story_now);
    story_now.task.key = 0;
    story_end(&story_now, "I22 ");
    story_begin(&story_now);
    story_now.task.key = 0;
    story_now.facts.blocked = 1;
    story_end(&story_now, "");
}
END_TEST

/* An activity that fails, is tried again and completes; and one whose old attempt reports. */
START_TEST(attempts_follow_each_other)
{
    for (int old = 0; old < 2; old++) {
        story story_now;

        story_begin(&story_now);
        (void)say(&story_now, HF_EVENT_ACTIVITY_SCHEDULED, 1);
        attempt_say(&story_now, HF_EVENT_ACTIVITY_STARTED, 1, 1);
        hf_event_put_int(say(&story_now, HF_EVENT_ACTIVITY_RETRY_SCHEDULED, 1),
                         HF_KEY_RETRY_AFTER_ATTEMPT, 1);
        attempt_say(&story_now, HF_EVENT_ACTIVITY_STARTED, 1, 2);
        attempt_say(&story_now, HF_EVENT_ACTIVITY_COMPLETED, 1, old ? 1 : 2);
        story_end(&story_now, old ? "I26 " : "");
    }
}
END_TEST

/* An activity that runs in the engine's process has a row and no task; without the row it is lost.
 */
START_TEST(activities_have_rows)
{
    for (int row = 0; row < 2; row++) {
        story story_now;

        story_begin(&story_now);
        story_now.task.key = 0;
        (void)say(&story_now, HF_EVENT_ACTIVITY_SCHEDULED, 1);
        attempt_say(&story_now, HF_EVENT_ACTIVITY_STARTED, 1, 1);
        if (row)
            story_now.activities[story_now.activity_count++] = (hf_fold_activity){
                .key = 9, .step = 1, .status = HF_ACTIVITY_STATUS_RUNNING, .attempt = 1};
        story_end(&story_now, row ? "" : "I26 I22 ");
    }
}
END_TEST

/* A local activity that is open waits to be tried again: it has a row like any other. */
START_TEST(open_local_activities_have_one)
{
    story story_now;

    story_begin(&story_now);
    hf_event_put_bool(say(&story_now, HF_EVENT_ACTIVITY_SCHEDULED, 1), HF_KEY_LOCAL_ACTIVITY, true);
    story_end(&story_now, "I26 ");
}
END_TEST

/* An update is accepted, applied and answered once; a closed run leaves none open. */
START_TEST(updates_are_answered_once)
{
    static const struct {
        int accepted, applied, completed;
        bool close;
        int64_t state;
        const char *found;
    } rows[] = {
        {1, 1, 1, false, HF_UPDATE_STATUS_COMPLETED, ""},
        {1, 0, 1, false, HF_UPDATE_STATUS_FAILED, ""},
        {1, 0, 0, false, HF_UPDATE_STATUS_ACCEPTED, ""},
        {1, 1, 2, false, HF_UPDATE_STATUS_COMPLETED, "I15 "},
        {1, 2, 1, false, HF_UPDATE_STATUS_COMPLETED, "I14 "},
        {2, 1, 1, false, HF_UPDATE_STATUS_COMPLETED, "I13 "},
        {1, 1, 1, false, HF_UPDATE_STATUS_ACCEPTED, "I15 "},
        {1, 1, 0, false, HF_UPDATE_STATUS_COMPLETED, "I15 "},
        {1, 0, 0, true, HF_UPDATE_STATUS_ACCEPTED, "I15 "},
        {0, 0, 0, false, HF_UPDATE_STATUS_ACCEPTED, "I13 "},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        story story_now;

        story_begin(&story_now);
        command_row(&story_now, HF_COMMAND_TYPE_UPDATE, 20, rows[i].state);
        for (int j = 0; j < rows[i].accepted; j++)
            update_say(&story_now, HF_EVENT_UPDATE_ACCEPTED, 20);
        for (int j = 0; j < rows[i].applied; j++)
            update_say(&story_now, HF_EVENT_UPDATE_APPLIED, 20);
        for (int j = 0; j < rows[i].completed; j++)
            update_say(&story_now, HF_EVENT_UPDATE_COMPLETED, 20);
        if (rows[i].applied || rows[i].completed)
            story_now.facts.message_cursor = 1;
        if (rows[i].close)
            closed(&story_now, HF_EVENT_WORKFLOW_COMPLETED, HF_RUN_STATUS_COMPLETED,
                   HF_CLOSED_REASON_COMPLETED);
        story_end(&story_now, rows[i].found);
    }
}
END_TEST

/* Signals of different names may be applied in any order, those of one name may not. */
START_TEST(signals_keep_order_by_name)
{
    for (int same = 0; same < 2; same++) {
        story story_now;

        story_begin(&story_now);
        for (int i = 0; i < 2; i++) {
            hf_event_builder *events;

            command_row(&story_now, HF_COMMAND_TYPE_SIGNAL, 20 + i, HF_SIGNAL_STATUS_APPLIED);
            events = say(&story_now, HF_EVENT_SIGNAL_RECEIVED, 0);
            hf_event_put_id(events, HF_KEY_WORKFLOW_COMMAND_ID, id_of(20 + i));
        }
        for (int i = 1; i >= 0; i--) {
            hf_event_builder *events = say(&story_now, HF_EVENT_SIGNAL_APPLIED, 0);

            hf_event_put_id(events, HF_KEY_SIGNAL_ID, id_of(20 + i));
            hf_event_put_text(events, HF_KEY_SIGNAL_NAME,
                              same || i ? HF_SLICE("pay") : HF_SLICE("ship"));
        }
        story_now.facts.message_cursor = 2;
        story_end(&story_now, same ? "I14 " : "");
    }
}
END_TEST

/* The timeout of a wait is a timer on the wait's own step: it neither opens nor resolves it, and a
   signal wait is over when it fires. */
START_TEST(waits_time_out)
{
    story story_now;
    hf_event_builder *events;

    story_begin(&story_now);
    (void)say(&story_now, HF_EVENT_SIGNAL_WAIT_OPENED, 1);
    events = say(&story_now, HF_EVENT_TIMER_SCHEDULED, 1);
    hf_event_put_text(events, HF_KEY_TIMER_KIND, HF_SLICE("signal_timeout"));
    hf_event_put_time(events, HF_KEY_FIRE_AT, story_now.now_us + 1000);
    events = say(&story_now, HF_EVENT_TIMER_FIRED, 1);
    hf_event_put_text(events, HF_KEY_TIMER_KIND, HF_SLICE("signal_timeout"));
    (void)say(&story_now, HF_EVENT_CONDITION_WAIT_OPENED, 2);
    events = say(&story_now, HF_EVENT_TIMER_SCHEDULED, 2);
    hf_event_put_text(events, HF_KEY_TIMER_KIND, HF_SLICE("condition_timeout"));
    (void)say(&story_now, HF_EVENT_CONDITION_WAIT_SATISFIED, 2);
    (void)say(&story_now, HF_EVENT_TIMER_CANCELLED, 2); /* says no kind, the timer had one */
    (void)say(&story_now, HF_EVENT_SIDE_EFFECT_RECORDED, 3);
    story_end(&story_now, "");
}
END_TEST

/* A pending timeout has its row, with the wait open beside it; firing twice or early is found. */
START_TEST(timers_are_checked)
{
    static const struct {
        bool row;
        int fired;
        int64_t due_after_us;
        const char *found;
    } rows[] = {
        {true, 0, 5000000, ""},   {false, 0, 5000000, "I30 "}, {false, 1, 1000, ""},
        {false, 1, 5000, "I29 "}, {false, 2, 1000, "I07 "},    {true, 1, 1000, "I30 "},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        story story_now;
        int64_t due_us;

        story_begin(&story_now);
        due_us = story_now.now_us + 1000 + rows[i].due_after_us;
        hf_event_put_time(say(&story_now, HF_EVENT_TIMER_SCHEDULED, 1), HF_KEY_FIRE_AT, due_us);
        if (rows[i].row)
            timer_row(&story_now, 1, due_us);
        for (int j = 0; j < rows[i].fired; j++)
            (void)say(&story_now, HF_EVENT_TIMER_FIRED, 1);
        story_end(&story_now, rows[i].found);
    }
}
END_TEST

/* A group of two is right, in order or not; a nested one is not counted; a stray member is found.
 */
START_TEST(groups_agree)
{
    static const char one[] = "[{\"id\":\"group\"}]";
    static const char two[] = "[{\"id\":\"outer\"},{\"id\":\"group\"}]";
    static const struct {
        int64_t size, first, second;
        const char *path, *other_path, *found;
    } rows[] = {
        {2, 0, 1, one, one, ""},         {2, 1, 0, one, one, "I10 I10 "},
        {3, 0, 1, one, one, "I10 "},     {3, 0, 1, two, two, ""},
        {2, 0, 0, one, one, "I10 I10 "}, {2, 0, 1, one, two, "I10 "},
        {2, 0, 2, one, one, "I10 I10 "},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        story story_now;

        story_begin(&story_now);
        group_say(&story_now, 1, 1, rows[i].size, rows[i].first, rows[i].path);
        group_say(&story_now, 2, 1, rows[i].size, rows[i].second, rows[i].other_path);
        timer_row(&story_now, 1, start_us * 2);
        timer_row(&story_now, 2, start_us * 2);
        story_end(&story_now, rows[i].found);
    }
}
END_TEST

/* A child that failed; a child that continued as a new run has a second link without a step. */
START_TEST(children_are_linked)
{
    story story_now;

    story_begin(&story_now);
    (void)say(&story_now, HF_EVENT_CHILD_WORKFLOW_SCHEDULED, 1);
    (void)say(&story_now, HF_EVENT_CHILD_RUN_STARTED, 1);
    (void)say(&story_now, HF_EVENT_CHILD_RUN_FAILED, 1);
    (void)say(&story_now, HF_EVENT_CHILD_WORKFLOW_SCHEDULED, 2);
    story_now.links[0] = (hf_fold_link){.key = 1,
                                        .kind = HF_LINK_TYPE_CHILD_WORKFLOW,
                                        .step = 1,
                                        .policy = HF_PARENT_CLOSE_ABANDON,
                                        .child_exists = true};
    story_now.links[1] = story_now.links[0];
    story_now.links[1].step = 2;
    story_now.links[1].child_open = true;
    story_now.links[2] = story_now.links[1];
    story_now.links[2].step = HF_NONE;
    story_now.link_count = 3;
    story_end(&story_now, "");
}
END_TEST

/* Closing cancels what is open, and little may follow: answers, policies, the archive. */
START_TEST(little_follows_the_end)
{
    for (int late = 0; late < 2; late++) {
        story story_now;

        story_begin(&story_now);
        (void)say(&story_now, HF_EVENT_ACTIVITY_SCHEDULED, 1);
        (void)say(&story_now, HF_EVENT_ACTIVITY_CANCELLED, 1);
        (void)say(&story_now, HF_EVENT_SIGNAL_WAIT_OPENED, 2);
        closed(&story_now, HF_EVENT_WORKFLOW_CANCELLED, HF_RUN_STATUS_CANCELLED,
               HF_CLOSED_REASON_CANCELLED);
        (void)say(&story_now, HF_EVENT_PARENT_CLOSE_POLICY_APPLIED, 0);
        (void)say(&story_now, HF_EVENT_ARCHIVE_REQUESTED, 0);
        (void)say(&story_now, late ? HF_EVENT_SIDE_EFFECT_RECORDED : HF_EVENT_WORKFLOW_ARCHIVED, 0);
        story_end(&story_now, late ? "I04 " : "");
    }
}
END_TEST

/* Each closing event stands for one status and one reason. */
START_TEST(closing_events_give_the_status)
{
    static const struct {
        hf_event_type type;
        hf_run_status status;
        hf_closed_reason reason;
    } rows[] = {
        {HF_EVENT_WORKFLOW_COMPLETED, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_COMPLETED},
        {HF_EVENT_WORKFLOW_CONTINUED_AS_NEW, HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_CONTINUED},
        {HF_EVENT_WORKFLOW_FAILED, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_FAILED},
        {HF_EVENT_WORKFLOW_TIMED_OUT, HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_TIMED_OUT},
        {HF_EVENT_WORKFLOW_CANCELLED, HF_RUN_STATUS_CANCELLED, HF_CLOSED_REASON_CANCELLED},
        {HF_EVENT_WORKFLOW_TERMINATED, HF_RUN_STATUS_TERMINATED, HF_CLOSED_REASON_TERMINATED},
    };
    const size_t count = sizeof(rows) / sizeof(rows[0]);

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            story story_now;

            story_begin(&story_now);
            closed(&story_now, rows[i].type, rows[j].status, rows[j].reason);
            story_end(&story_now, i == j ? "" : "I20 ");
        }
    }
}
END_TEST

/* Every allocation of a fold failed once: it says so, nothing leaks, and at last it works. */
START_TEST(survives_no_memory)
{
    hf_status st = HF_NOMEM;

    for (int64_t nth = 1; st; nth++) {
        story story_now;
        hf_err err = {0};

        story_begin(&story_now);
        command_row(&story_now, HF_COMMAND_TYPE_SIGNAL, 20, HF_SIGNAL_STATUS_APPLIED);
        hf_event_put_id(say(&story_now, HF_EVENT_SIGNAL_RECEIVED, 0), HF_KEY_WORKFLOW_COMMAND_ID,
                        id_of(20));
        hf_event_put_id(say(&story_now, HF_EVENT_SIGNAL_APPLIED, 0), HF_KEY_SIGNAL_ID, id_of(20));
        group_say(&story_now, 1, 1, 1, 0, "[]");
        timer_row(&story_now, 1, start_us * 2);
        (void)say(&story_now, HF_EVENT_SIGNAL_WAIT_OPENED, 2); /* and a cursor that is wrong */
        st = story_fold(&story_now, nth, &err);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "allocation %lld: status %d: %s",
                      (long long)nth, (int)st, err.text);
        if (!st)
            ck_assert_str_eq(story_now.found, "I17 ");
        hf_mem_free(story_now.mem);
        ck_assert(nth < 10000);
    }
}
END_TEST

/* A run of a hundred thousand events needs no more memory than a short one. */
START_TEST(long_runs_need_little_memory)
{
    hf_mem *mem = hf_mem_new();
    hf_fold_run facts = {.number = 1,
                         .status = HF_RUN_STATUS_WAITING,
                         .closed_reason = HF_NONE,
                         .closed_us = HF_NONE,
                         .execution_deadline_us = HF_NONE,
                         .run_deadline_us = HF_NONE,
                         .head = HF_SLICE("0123456789abcdef0123456789abcdef")};
    uint8_t head[HF_SHA256_BYTES] = {0};
    struct rusage before;
    struct rusage after;
    hf_sha256 *sha = NULL;
    hf_buf body = {0};
    hf_fold *fold = NULL;
    hf_report report;
    hf_err err = {0};

    ck_assert(!hf_sha256_new(&sha, &err));
    hf_report_init(&report, NULL, NULL);
    ck_assert(!hf_fold_new(&report, true, &fold, &err));
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
    hf_fold_begin(fold, RUN, &facts);
    for (int64_t step = 0; step * 3 < LONG_EVENTS; step++) {
        hf_event_builder events;
        hf_event *made = NULL;
        size_t count = 0;
        hf_fold_chunk chunk;

        hf_mem_reset(mem);
        hf_event_builder_init(&events, mem);
        hf_event_begin(&events, step ? HF_EVENT_ACTIVITY_COMPLETED : HF_EVENT_START_ACCEPTED,
                       start_us, step);
        if (!step)
            hf_event_begin(&events, HF_EVENT_WORKFLOW_STARTED, start_us, 0);
        hf_event_begin(&events, HF_EVENT_ACTIVITY_SCHEDULED, start_us, step + 1);
        hf_event_begin(&events, HF_EVENT_ACTIVITY_STARTED, start_us, step + 1);
        hf_event_put_int(&events, HF_KEY_ATTEMPT_NUMBER, 1);
        ck_assert(!hf_event_builder_done(&events, &made, &count, &err));
        chunk = chunk_make(sha, &body, made, count, &facts, head);
        ck_assert(!hf_fold_chunk_add(fold, &chunk, &err));
    }
    ck_assert_int_eq(report.count, 0);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
    ck_assert_int_ge(hf_fold_events(fold), LONG_EVENTS);
    ck_assert_msg(!MEMORY_COUNTS || after.ru_maxrss - before.ru_maxrss < LONG_KIB_MAX,
                  "grew by %ld KiB", after.ru_maxrss - before.ru_maxrss);
    hf_fold_free(fold);
    hf_report_fini(&report);
    hf_buf_fini(&body);
    hf_sha256_free(sha);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("verify/fold", {start_is_clean, 0}, {attempts_follow_each_other, 0},
              {activities_have_rows, 0}, {open_local_activities_have_one, 0},
              {updates_are_answered_once, 0}, {signals_keep_order_by_name, 0}, {waits_time_out, 0},
              {timers_are_checked, 0}, {groups_agree, 0}, {children_are_linked, 0},
              {little_follows_the_end, 0}, {closing_events_give_the_status, 0},
              {survives_no_memory, 0}, {long_runs_need_little_memory, 0})
