/* test_recall.c: answers that are remembered: found again, replaced, forgotten when their time or
   the room is over, and not missed when memory runs out. */
#include "server/recall.h"

#include <stdio.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/value.h"
#include "lib/suite.h"

static hf_err err;

static hf_recall *recall_open(void)
{
    hf_recall *recall = NULL;

    ck_assert_int_eq(hf_recall_open(&recall, &err), HF_OK);
    return recall;
}

static int64_t number_at(hf_recall *recall, const char *key, int64_t now_us)
{
    hf_mem *mem = hf_mem_new();
    hf_value found = hf_recall_get(recall, hf_slice_of(key), mem, now_us);
    int64_t number = found ? hf_int(found, "", -1) : -1;

    hf_mem_free(mem);
    return number;
}

static void number_put(hf_recall *recall, const char *key, int64_t number, int64_t until_us)
{
    hf_mem *mem = hf_mem_new();

    hf_recall_put(recall, hf_slice_of(key), hf_value_int(mem, number), until_us);
    hf_mem_free(mem);
}

/* The newest under a key counts, until its time is over or it is dropped. */
START_TEST(answers_are_found_until_their_time_is_over)
{
    hf_recall *recall = recall_open();

    number_put(recall, "a", 1, 100);
    number_put(recall, "b", 2, 100);
    number_put(recall, "a", 3, 200);
    ck_assert_int_eq(number_at(recall, "a", 150), 3);
    ck_assert_int_eq(number_at(recall, "b", 99), 2);
    ck_assert_int_eq(number_at(recall, "b", 100), -1);
    hf_recall_close(recall);
}
END_TEST

/* There is room for so many; the oldest go first. */
START_TEST(the_oldest_are_forgotten_first)
{
    hf_recall *recall = recall_open();
    char key[32];

    for (int i = 0; i < HF_RECALL_MAX + 10; i++) {
        (void)snprintf(key, sizeof(key), "key-%d", i);
        number_put(recall, key, i, 100);
    }
    ck_assert_int_eq(number_at(recall, "key-9", 1), -1);
    ck_assert_int_eq(number_at(recall, "key-10", 1), 10);
    hf_recall_close(recall);
}
END_TEST

/* What cannot be remembered is not remembered, and nothing else happens. */
START_TEST(memory_runs_out)
{
    hf_status st = HF_NOMEM;

    for (int64_t at = 1; st; at++) {
        hf_recall *recall = NULL;

        hf_fault_arm(HF_FAULT_ALLOC, at, false);
        st = hf_recall_open(&recall, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(st == HF_OK || st == HF_NOMEM);
        hf_recall_close(recall);
    }
    for (int64_t at = 1; at < 12; at++) {
        hf_recall *recall = recall_open();
        hf_mem *mem = hf_mem_new();
        hf_value value = hf_json_(mem, "{'a': [1, 2, 3]}");

        hf_fault_arm(HF_FAULT_ALLOC, at, false);
        hf_recall_put(recall, HF_SLICE("k"), value, 100);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        hf_mem_free(mem);
        hf_recall_close(recall);
    }
}
END_TEST

HF_SUITE_MAIN("server/recall", {answers_are_found_until_their_time_is_over, 0},
              {the_oldest_are_forgotten_first, 0}, {memory_runs_out, 0})
