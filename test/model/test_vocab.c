/* test_vocab.c: every list is sound, and has the words the contract has. */
#include <string.h>

#include "lib/suite.h"
#include "model/vocab.h"

static const hf_vocab *list_named(const char *name)
{
    for (size_t i = 0; hf_vocab_at(i); i++) {
        if (strcmp(hf_vocab_at(i)->name, name) == 0)
            return hf_vocab_at(i);
    }
    return NULL;
}

static size_t count_origin(const hf_vocab *list, hf_vocab_origin origin)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->items[i].origin == origin;
    return count;
}

/* No list has a number or a text twice, a zero, an empty text or a sentence that is none. */
START_TEST(lists_are_sound)
{
    size_t lists = 0;

    for (; hf_vocab_at(lists); lists++) {
        const hf_vocab *list = hf_vocab_at(lists);

        ck_assert_uint_gt(list->count, 0);
        ck_assert_uint_gt(strlen(list->title), 0);
        ck_assert_int_eq(list->sentence[strlen(list->sentence) - 1], '.');
        for (size_t i = 0; i < list->count; i++) {
            const hf_vocab_item *item = &list->items[i];

            ck_assert_int_gt(item->number, 0);
            ck_assert_uint_gt(strlen(item->text), 0);
            ck_assert_msg(item->sentence[strlen(item->sentence) - 1] == '.', "%s", item->name);
            ck_assert_msg(strncmp(item->name, "HF_", 3) == 0, "%s", item->name);
            for (size_t j = 0; j < i; j++) {
                ck_assert_msg(list->items[j].number != item->number, "%s: number %d twice",
                              list->name, item->number);
                ck_assert_msg(strcmp(list->items[j].text, item->text) != 0, "%s: %s twice",
                              list->name, item->text);
            }
        }
    }
    ck_assert_uint_gt(lists, 50);
    ck_assert_ptr_null(hf_vocab_at(lists));
}
END_TEST

/* Every text finds its row again and every number its text. */
START_TEST(texts_parse_back)
{
    for (size_t l = 0; hf_vocab_at(l); l++) {
        const hf_vocab *list = hf_vocab_at(l);

        for (size_t i = 0; i < list->count; i++) {
            const hf_vocab_item *item = &list->items[i];

            ck_assert_ptr_eq(hf_vocab_by_text(list, hf_slice_of(item->text)), item);
            ck_assert_ptr_eq(hf_vocab_by_number(list, item->number), item);
            ck_assert_str_eq(hf_vocab_text(list, item->number), item->text);
        }
    }
}
END_TEST

/* Parsing is exact, and what is not in a list leaves the result alone. */
START_TEST(unknown_words_are_refused)
{
    static const char *const wrong[] = {"",         "Running", "running ",
                                        " running", "runnin",  "runningg"};
    hf_run_status status = HF_RUN_STATUS_FAILED;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert(!hf_run_status_parse(hf_slice_of(wrong[i]), &status));
    ck_assert(!hf_run_status_parse(hf_slice_from("running\0", 8), &status));
    ck_assert(!hf_run_status_from(0, &status));
    ck_assert(!hf_run_status_from(-1, &status));
    ck_assert(!hf_run_status_from(99, &status));
    ck_assert(!hf_run_status_from(INT64_MAX, &status));
    ck_assert(!hf_run_status_from(INT64_MIN, &status));
    ck_assert(!hf_run_status_from((INT64_C(1) << 32) + 1, &status));
    ck_assert_int_eq((int)status, HF_RUN_STATUS_FAILED);
    ck_assert_str_eq(hf_run_status_text((hf_run_status)0), "unknown");
    ck_assert_str_eq(hf_run_status_text((hf_run_status)99), "unknown");
}
END_TEST

/* The generated functions of a list agree with its rows. */
START_TEST(typed_functions_work)
{
    hf_event_type type = HF_EVENT_START_ACCEPTED;
    hf_wait_kind kind = HF_WAIT_KIND_ACTIVITY;

    ck_assert_str_eq(hf_event_type_text(HF_EVENT_ACTIVITY_TIMED_OUT), "ActivityTimedOut");
    ck_assert(hf_event_type_parse(HF_SLICE("WorkflowContinuedAsNew"), &type));
    ck_assert_int_eq((int)type, HF_EVENT_WORKFLOW_CONTINUED_AS_NEW);
    ck_assert(hf_event_type_from(101, &type));
    ck_assert_int_eq((int)type, HF_EVENT_STEP_COMPLETED);
    ck_assert(hf_wait_kind_parse(HF_SLICE("workflow-task"), &kind));
    ck_assert_int_eq((int)kind, HF_WAIT_KIND_WORKFLOW_TASK);
}
END_TEST

/* The counts are the contract's: 56 events and 159 keys, and so on for lists that are closed. */
START_TEST(counts_are_the_contracts)
{
    static const struct {
        const char *name;
        size_t contract;
        size_t own;
    } lists[] = {
        {"event_type", 56, 7},
        {"event_key", 160, 22},
        {"run_status", 8, 0},
        {"status_bucket", 3, 0},
        {"closed_reason", 7, 0},
        {"task_type", 3, 0},
        {"task_status", 5, 0},
        {"transport_state", 13, 0},
        {"replay_blocked_reason", 3, 0},
        {"history_shape", 14, 1},
        {"liveness_state", 20, 2},
        {"wait_kind", 7, 0},
        {"wait_status", 4, 0},
        {"wait_source_status", 9, 0},
        {"resume_source_kind", 10, 0},
        {"history_authority", 4, 0},
        {"command_type", 7, 4},
        {"command_status", 2, 0},
        {"target_scope", 2, 0},
        {"command_source", 5, 2},
        {"cmd_outcome", 22, 9},
        {"rejection_reason", 13, 4},
        {"duplicate_policy", 2, 0},
        {"update_status", 4, 0},
        {"signal_status", 3, 0},
        {"batch_status", 0, 4},
        {"batch_item_status", 0, 5},
        {"activity_status", 5, 0},
        {"attempt_status", 5, 0},
        {"timeout_kind", 6, 0},
        {"claim_reason", 6, 0},
        {"attempt_reason", 14, 0},
        {"workflow_task_reason", 14, 0},
        {"failure_category", 9, 0},
        {"propagation_kind", 7, 0},
        {"failure_source_kind", 8, 0},
        {"repair_blocked_reason", 5, 0},
        {"parent_close_policy", 3, 0},
        {"child_call_status", 7, 0},
        {"link_type", 2, 2},
        {"parallel_group_kind", 4, 0},
        {"timer_status", 3, 0},
        {"timer_kind", 2, 0},
        {"schedule_status", 3, 0},
        {"overlap_policy", 6, 0},
        {"trigger_outcome", 6, 0},
        {"message_channel", 7, 0},
        {"message_direction", 2, 0},
        {"consume_state", 4, 0},
        {"search_attribute_type", 7, 0},
        {"history_budget_pressure", 3, 0},
        {"sticky_replay_mode", 3, 0},
        {"timeline_kind", 11, 0},
        {"payload_codec", 2, 0},
    };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const hf_vocab *list = list_named(lists[i].name);

        ck_assert_msg(list != NULL, "%s", lists[i].name);
        ck_assert_msg(count_origin(list, HF_CONTRACT) == lists[i].contract, "%s: %zu published",
                      list->name, count_origin(list, HF_CONTRACT));
        ck_assert_msg(count_origin(list, HF_EXTENSION) == lists[i].own, "%s: %zu own", list->name,
                      count_origin(list, HF_EXTENSION));
    }
}
END_TEST

/* Stored numbers that databases hold are what they were; a change here is a change of the format.
 */
START_TEST(stored_numbers_stay)
{
    ck_assert_int_eq(HF_EVENT_START_ACCEPTED, 1);
    ck_assert_int_eq(HF_EVENT_ACTIVITY_SCHEDULED, 28);
    ck_assert_int_eq(HF_EVENT_ACTIVITY_COMPLETED, 32);
    ck_assert_int_eq(HF_EVENT_SCHEDULE_TRIGGER_SKIPPED, 56);
    ck_assert_int_eq(HF_EVENT_NOTE_RECORDED, 107);
    ck_assert_int_eq(HF_KEY_SEQUENCE, 1);
    ck_assert_int_eq(HF_KEY_RESULT, 12);
    ck_assert_int_eq(HF_KEY_LAST_SKIPPED_AT, 159);
    ck_assert_int_eq(HF_KEY_CRASH_COUNT, 170);
    ck_assert_int_eq(HF_RUN_STATUS_COMPLETED, 6);
    ck_assert_int_eq(HF_TASK_STATUS_LEASED, 2);
    ck_assert_int_eq(HF_PAYLOAD_CODEC_AVRO, 2);
    ck_assert_int_eq(HF_CMD_OUTCOME_REJECTED_DUPLICATE, 101);
}
END_TEST

/* A refused outcome is known by its number, and its text says the same. */
START_TEST(outcomes_know_refusal)
{
    for (size_t i = 0; i < hf_cmd_outcome_list.count; i++) {
        const hf_vocab_item *item = &hf_cmd_outcome_list.items[i];

        ck_assert_int_eq(hf_cmd_outcome_rejected((hf_cmd_outcome)item->number),
                         strncmp(item->text, "rejected_", 9) == 0);
    }
}
END_TEST

/* Buckets follow the status; an instance without a run is in none. */
START_TEST(statuses_fall_into_buckets)
{
    ck_assert_int_eq(hf_run_status_bucket(HF_RUN_STATUS_WAITING), HF_STATUS_BUCKET_RUNNING);
    ck_assert_int_eq(hf_run_status_bucket(HF_RUN_STATUS_COMPLETED), HF_STATUS_BUCKET_COMPLETED);
    ck_assert_int_eq(hf_run_status_bucket(HF_RUN_STATUS_TERMINATED), HF_STATUS_BUCKET_FAILED);
    ck_assert_int_eq(hf_run_status_bucket(HF_RUN_STATUS_RESERVED), 0);
    ck_assert(hf_run_status_closed(HF_RUN_STATUS_CANCELLED));
    ck_assert(!hf_run_status_closed(HF_RUN_STATUS_PENDING));
    ck_assert(!hf_run_status_closed(HF_RUN_STATUS_RESERVED));
}
END_TEST

/* Each repair blocked reason has its look; only the two that need a person have a badge. */
START_TEST(repair_reasons_have_looks)
{
    const hf_repair_blocked_look *look;
    int badges = 0;

    for (size_t i = 0; i < hf_repair_blocked_reason_list.count; i++) {
        look = hf_repair_blocked_look_get(
            (hf_repair_blocked_reason)hf_repair_blocked_reason_list.items[i].number);
        ck_assert_ptr_nonnull(look);
        badges += look->badge;
    }
    ck_assert_int_eq(badges, 2);
    look = hf_repair_blocked_look_get(HF_REPAIR_BLOCKED_UNSUPPORTED_HISTORY);
    ck_assert_str_eq(look->label, "Replay Blocked");
    ck_assert_str_eq(look->tone, "dark");
    ck_assert_ptr_null(hf_repair_blocked_look_get((hf_repair_blocked_reason)0));
}
END_TEST

HF_SUITE_MAIN("model/vocab", {lists_are_sound, 0}, {texts_parse_back, 0},
              {unknown_words_are_refused, 0}, {typed_functions_work, 0},
              {counts_are_the_contracts, 0}, {stored_numbers_stay, 0}, {outcomes_know_refusal, 0},
              {statuses_fall_into_buckets, 0}, {repair_reasons_have_looks, 0})
