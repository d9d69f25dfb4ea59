/* test_worker_command.c: batches of commands from workers: what each becomes, and every mistake. */
#include "base/fault.h"
#include "base/json.h"
#include "base/value.h"
#include "decide/worker_command.h"
#include "lib/suite.h"

static hf_mem *mem;
static hf_worker_command *commands;
static size_t count;
static hf_value errors;

static hf_status read_batch(const char *json)
{
    hf_value value = NULL;
    hf_err err = {0};
    hf_status st;

    mem = mem ? mem : hf_mem_new();
    ck_assert_msg(!hf_json_read(mem, hf_slice_of(json), NULL, &value, &err), "%s: %s", json,
                  err.text);
    st = hf_worker_commands_read(mem, value, &commands, &count, &errors, &err);
    return st;
}

static const hf_decision_row *only(const char *json)
{
    ck_assert_int_eq(read_batch(json), HF_OK);
    ck_assert_msg(!errors, "%s", hf_text(mem, errors));
    ck_assert_uint_eq(count, 1);
    return &commands[0].row;
}

static bool slice_is(hf_slice slice, const char *text)
{
    return hf_slice_equal(slice, hf_slice_of(text));
}

/* Each command with all of its fields becomes the decision that the engine's own code would make.
 */
START_TEST(commands_become_decisions)
{
    const hf_decision_row *row;

    row = only("[{\"type\":\"schedule_activity\",\"activity_type\":\"charge\",\"queue\":\"q\","
               "\"arguments\":[1],\"start_to_close_timeout\":5,\"heartbeat_timeout\":1.5,"
               "\"schedule_to_close_timeout\":60,\"schedule_to_start_timeout\":7,"
               "\"retry_policy\":{\"max_attempts\":3,\"backoff_seconds\":[1,2.5],"
               "\"non_retryable_error_types\":[\"a\",\"b\"]}}]");
    ck_assert_int_eq(row->kind, HF_DECISION_SCHEDULE_ACTIVITY);
    ck_assert(slice_is(row->name, "charge") && slice_is(row->activity.queue, "q"));
    ck_assert(slice_is(row->value.bytes, "[1]") &&
              slice_is(row->activity.retry.no_retry_on, "a,b"));
    ck_assert_int_eq(row->activity.start_to_close_us, 5000000);
    ck_assert_int_eq(row->activity.heartbeat_us, 1500000);
    ck_assert_int_eq(row->activity.retry.max_attempts, 3);
    ck_assert_int_eq(row->activity.retry.backoff_us[1], 2500000);
    row = only("[{\"type\":\"start_timer\",\"delay_seconds\":0}]");
    ck_assert_int_eq(row->timer.delay_us, 0);
    row = only("[{\"type\":\"start_child_workflow\",\"workflow_type\":\"c\",\"arguments\":[],"
               "\"parent_close_policy\":\"terminate\",\"run_timeout_seconds\":5,"
               "\"retry_policy\":{\"max_attempts\":null}}]");
    ck_assert_int_eq(row->child.on_parent_close, HF_PARENT_CLOSE_TERMINATE);
    ck_assert_int_eq(row->child.retry.max_attempts, -1);
    row = only("[{\"type\":\"complete_update\",\"update_id\":\"U\",\"result\":7}]");
    ck_assert_int_eq(row->kind, HF_DECISION_APPLY_UPDATE);
    ck_assert(slice_is(commands[0].update_id, "U") && slice_is(row->value.bytes, "7"));
    row = only("[{\"type\":\"fail_update\",\"update_id\":\"U\",\"message\":\"no\","
               "\"exception_type\":\"T\",\"non_retryable\":true}]");
    ck_assert(slice_is(row->failure.type, "T") && !row->failure.retryable);
    row = only("[{\"type\":\"record_side_effect\",\"result\":null}]");
    ck_assert_int_eq(row->kind, HF_DECISION_RECORD_SIDE_EFFECT);
    row = only("[{\"type\":\"record_version_marker\",\"change_id\":\"x\",\"version\":2,"
               "\"min_supported\":-1,\"max_supported\":2}]");
    ck_assert_int_eq(row->version.min_supported, -1);
    row = only("[{\"type\":\"upsert_search_attributes\",\"attributes\":{\"k\":1}}]");
    ck_assert(slice_is(row->value.bytes, "{\"k\":1}"));
    row = only("[{\"type\":\"open_condition_wait\",\"condition_key\":\"paid\"}]");
    ck_assert_int_eq(row->wait.timeout_us, HF_DECISION_NO_TIMEOUT);
    row = only("[{\"type\":\"open_signal_wait\",\"signal_name\":\"go\",\"timeout_seconds\":0}]");
    ck_assert_int_eq(row->wait.timeout_us, 0);
    row = only("[{\"type\":\"complete_workflow\",\"result\":{\"codec\":\"json\",\"blob\":\"1\"}}]");
    ck_assert(slice_is(row->value.bytes, "1"));
    row = only("[{\"type\":\"fail_workflow\",\"message\":\"no\",\"exception_class\":\"C\"}]");
    ck_assert(slice_is(row->failure.type, "C") && row->failure.retryable);
    row = only("[{\"type\":\"continue_as_new\",\"workflow_type\":\"next\",\"queue\":\"q2\","
               "\"connection\":null}]");
    ck_assert(slice_is(row->next.type, "next") && slice_is(row->next.queue, "q2"));
    hf_mem_free(mem);
}
END_TEST

/* The members of a barrier know their place; it fixes their step. */
START_TEST(parallel_groups_fix_the_step)
{
    const hf_decision_row *row =
        only("[{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_path\":["
             "{\"parallel_group_id\":\"parallel-calls:4:3\",\"parallel_group_kind\":\"mixed\","
             "\"parallel_group_base_sequence\":4,\"parallel_group_size\":3,"
             "\"parallel_group_index\":2}]}]");

    ck_assert_int_eq(row->step, 6);
    ck_assert_uint_eq(row->group_count, 1);
    ck_assert_int_eq(row->groups[0].size, 3);
    hf_mem_free(mem);
}
END_TEST

/* A batch with a mistake is refused as a whole, and the mistake is named where it is. */
START_TEST(b199_batches_are_checked_before_anything_is_used)
{
    static const struct {
        const char *json, *key;
    } cases[] = {
        {"[]", "commands.0"},
        {"7", "commands.0"},
        {"[{\"type\":\"dance\"}]", "commands.0.type"},
        {"[{}]", "commands.0.type"},
        {"[{\"type\":\"start_service_operation\"}]", "commands.0.type"},
        {"[{\"type\":\"start_timer\"}]", "commands.0.delay_seconds"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":-1}]", "commands.0.delay_seconds"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":\"1\"}]", "commands.0.delay_seconds"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"retry_policy\":{}}]",
         "commands.0.retry_policy"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"timeout_seconds\":1}]",
         "commands.0.timeout_seconds"},
        {"[{\"type\":\"schedule_activity\"}]", "commands.0.activity_type"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"worker_session\":{}}]",
         "commands.0.worker_session"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"start_to_close_timeout\":9,"
         "\"schedule_to_close_timeout\":8}]",
         "commands.0.schedule_to_close_timeout"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"start_to_close_timeout\":9,"
         "\"heartbeat_timeout\":10}]",
         "commands.0.heartbeat_timeout"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"retry_policy\":"
         "{\"max_attempts\":0}}]",
         "commands.0.retry_policy.max_attempts"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"retry_policy\":"
         "{\"max_attempts\":1,\"backoff_seconds\":[-1,-2]}}]",
         "commands.0.retry_policy.backoff_seconds"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"arguments\":"
         "{\"codec\":\"x\",\"blob\":\"\"}}]",
         "commands.0.arguments"},
        {"[{\"type\":\"start_child_workflow\",\"workflow_type\":\"c\","
         "\"execution_timeout_seconds\":1,\"run_timeout_seconds\":2}]",
         "commands.0.run_timeout_seconds"},
        {"[{\"type\":\"start_child_workflow\",\"workflow_type\":\"c\","
         "\"parent_close_policy\":\"adopt\"}]",
         "commands.0.parent_close_policy"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_id\":\"g\"}]",
         "commands.0.parallel_group_path"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_path\":[]}]",
         "commands.0.parallel_group_path"},
        {"[{\"type\":\"complete_workflow\"},{\"type\":\"start_timer\",\"delay_seconds\":1}]",
         "commands.1"},
        {"[{\"type\":\"complete_workflow\"},{\"type\":\"fail_workflow\",\"message\":\"x\"}]",
         "commands.1"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(read_batch(cases[i].json), HF_OK);
        ck_assert_msg(errors && hf_value_find(errors, hf_slice_of(cases[i].key)), "%s: %s",
                      cases[i].json, errors ? hf_text(mem, errors) : "no mistake");
        ck_assert_uint_eq(count, 0);
    }
    hf_mem_free(mem);
}
END_TEST

#define GROUP(id, kind, base, size, index)                                                         \
    "{\"parallel_group_id\":\"" id "\",\"parallel_group_kind\":\"" kind                            \
    "\",\"parallel_group_base_sequence\":" #base ",\"parallel_group_size\":" #size                 \
    ",\"parallel_group_index\":" #index "}"
#define TIMER_IN(path)                                                                             \
    "[{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_path\":" path "}]"

/* Whatever a command carries is carried out or refused by its name. */
START_TEST(n48_what_is_not_carried_out_is_refused)
{
    const hf_decision_row *row;
    static const struct {
        const char *json, *key;
    } cases[] = {
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"newer_field\":null}]",
         "commands.0.newer_field"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"connection\":\"redis\"}]",
         "commands.0.connection"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"worker_session\":{}}]",
         "commands.0.worker_session"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"cancellation_policy\":\"x\"}]",
         "commands.0.cancellation_policy"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"retry_policy\":{"
         "\"max_attempts\":2,\"maximum_interval\":3}}]",
         "commands.0.retry_policy"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"retry_policy\":{"
         "\"max_attempts\":2,\"backoff_seconds\":5}}]",
         "commands.0.retry_policy.backoff_seconds"},
        {"[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"retry_policy\":{"
         "\"max_attempts\":2,\"non_retryable_error_types\":\"T\"}}]",
         "commands.0.retry_policy.non_retryable_error_types"},
        {"[{\"type\":\"start_child_workflow\",\"workflow_type\":\"c\",\"retry_policy\":{"
         "\"max_attempts\":2,\"backoff_seconds\":[-1]}}]",
         "commands.0.retry_policy.backoff_seconds"},
        {"[{\"type\":\"start_child_workflow\",\"workflow_type\":\"c\",\"retry_policy\":{"
         "\"max_attempts\":2,\"non_retryable_error_types\":[\"a,b\"]}}]",
         "commands.0.retry_policy.non_retryable_error_types"},
        {"[{\"type\":\"record_side_effect\",\"result\":1,\"workflow_stream\":{}}]",
         "commands.0.workflow_stream"},
        {"[{\"type\":\"open_condition_wait\",\"condition_wait_occurrence_id\":\"\"}]",
         "commands.0.condition_wait_occurrence_id"},
        {"[{\"type\":\"open_signal_wait\",\"signal_name\":\"s\",\"condition_wait_occurrence_id\":"
         "\"o\"}]",
         "commands.0.condition_wait_occurrence_id"},
        {"[{\"type\":\"open_signal_wait\",\"signal_name\":\"s\",\"parallel_group_path\":[" GROUP(
             "parallel-calls:1:1", "mixed", 1, 1, 0) "]}]",
         "commands.0.parallel_group_path"},
        {"[{\"type\":\"open_condition_wait\",\"parallel_group_id\":\"parallel-calls:1:1\"}]",
         "commands.0.parallel_group_id"},
        {TIMER_IN("[" GROUP("select-calls:1:1", "mixed", 1, 1, 0) "]"),
         "commands.0.parallel_group_path"},
        {TIMER_IN("[" GROUP("parallel-activities:1:1", "activity", 1, 1, 0) "]"),
         "commands.0.parallel_group_path"},
        {TIMER_IN("[" GROUP("parallel-calls:9223372036854775807:2", "mixed", 9223372036854775807, 2,
                            1) "]"),
         "commands.0.parallel_group_path"},
        {TIMER_IN(
             "[{\"parallel_group_id\":\"parallel-timers:1:1\",\"parallel_group_kind\":\"timer\","
             "\"parallel_group_base_sequence\":1,\"parallel_group_size\":1,"
             "\"parallel_group_index\":0,\"parallel_group_mode\":\"select\"}]"),
         "commands.0.parallel_group_path"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_size\":1}]",
         "commands.0.parallel_group_path"},
        {"[{\"type\":\"start_timer\",\"delay_seconds\":1,\"parallel_group_id\":\"parallel-timers:1:"
         "2\","
         "\"parallel_group_kind\":\"timer\",\"parallel_group_base_sequence\":1,"
         "\"parallel_group_size\":2,\"parallel_group_index\":0,\"parallel_group_path\":[" GROUP(
             "parallel-timers:1:1", "timer", 1, 1, 0) "]}]",
         "commands.0.parallel_group_path"},
        {"[{\"type\":\"upsert_search_attributes\",\"attributes\":{\"k\":\"1\"},"
         "\"attribute_types\":{\"k\":\"int\"}}]",
         "commands.0.attribute_types"},
        {"[{\"type\":\"upsert_search_attributes\",\"attributes\":{\"k\":1},"
         "\"attribute_types\":{\"k\":\"money\"}}]",
         "commands.0.attribute_types"},
        {"[{\"type\":\"upsert_search_attributes\",\"attributes\":{\"k\":1},"
         "\"attribute_types\":{\"l\":\"int\"}}]",
         "commands.0.attribute_types"},
        {"[{\"type\":\"upsert_memo\",\"entries\":{\"codec\":\"avro\",\"blob\":\"AA==\"}}]",
         "commands.0.entries"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(read_batch(cases[i].json), HF_OK);
        ck_assert_msg(errors && hf_value_find(errors, hf_slice_of(cases[i].key)), "%s: %s",
                      cases[i].json, errors ? hf_text(mem, errors) : "no mistake");
    }
    (void)only("[{\"type\":\"upsert_search_attributes\",\"attributes\":{\"k\":1,\"l\":[\"a\"]},"
               "\"attribute_types\":{\"k\":\"int\",\"l\":\"keyword_list\"}}]");
    row = only(
        "[{\"type\":\"start_child_workflow\",\"workflow_type\":\"c\",\"retry_policy\":{"
        "\"max_attempts\":3,\"backoff_seconds\":[1,2],\"non_retryable_error_types\":[\"T\"]}}]");
    ck_assert_int_eq(row->child.retry.max_attempts, 3);
    ck_assert_int_eq(row->child.retry.backoff_us[1], 2000000);
    ck_assert(hf_slice_equal(row->child.retry.no_retry_on, HF_SLICE("T")));
    hf_mem_free(mem);
}
END_TEST

/* Every allocation fails once. */
START_TEST(memory_may_run_out)
{
    hf_value value = NULL;
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    mem = hf_mem_new();
    ck_assert(!hf_json_read(
        mem,
        HF_SLICE("[{\"type\":\"schedule_activity\",\"activity_type\":\"a\",\"arguments\":[1],"
                 "\"retry_policy\":{\"max_attempts\":2,\"backoff_seconds\":[1],"
                 "\"non_retryable_error_types\":[\"x\"]}},{\"type\":\"dance\"}]"),
        NULL, &value, &err));
    for (int64_t nth = 1; st == HF_NOMEM; nth++) {
        hf_mem *own = hf_mem_new();

        hf_fault_arm(HF_FAULT_ALLOC, nth, true);
        st = hf_worker_commands_read(own, value, &commands, &count, &errors, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        hf_mem_free(own);
        ck_assert_int_lt(nth, 1000);
    }
    ck_assert_int_eq(st, HF_OK);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("decide/worker_command", {commands_become_decisions, 0},
              {parallel_groups_fix_the_step, 0},
              {b199_batches_are_checked_before_anything_is_used, 0},
              {n48_what_is_not_carried_out_is_refused, 0}, {memory_may_run_out, 0})
