/* test_task.c: the table of states of a task: every pair of a state and a move is visited. */
#include "task/task.h"

#include "lib/suite.h"

/* Rows: states; columns: moves; X: there is none. */
enum { X = -1 };
static const int expected[HF_TASK_STATES][HF_TASK_MOVES] = {
    [HF_TASK_UNKNOWN] = {HF_TASK_OFFERED, X, X, X, HF_TASK_CLAIMED, X, X, X},
    [HF_TASK_OFFERED] = {X, HF_TASK_CLAIMED, X, X, X, X, HF_TASK_WITHDRAWN, X},
    [HF_TASK_CLAIMED] = {X, X, HF_TASK_CLAIMED, HF_TASK_OFFERED, X, HF_TASK_REPORTED,
                         HF_TASK_WITHDRAWN, HF_TASK_EXPIRED},
    [HF_TASK_REPORTED] = {X, X, X, X, X, X, X, X},
    [HF_TASK_WITHDRAWN] = {X, X, X, X, X, X, X, X},
    [HF_TASK_EXPIRED] = {X, X, X, X, X, X, X, X},
};

START_TEST(every_move_is_in_the_table)
{
    for (int from = 0; from < HF_TASK_STATES; from++) {
        bool leaves = false;

        for (int on = 0; on < HF_TASK_MOVES; on++) {
            hf_task_state to = HF_TASK_UNKNOWN;
            bool moves = hf_task_next((hf_task_state)from, (hf_task_move)on, &to);

            ck_assert_int_eq(moves ? (int)to : X, expected[from][on]);
            leaves |= moves;
        }
        ck_assert_int_eq(hf_task_over((hf_task_state)from), !leaves);
    }
}
END_TEST

/* A message about another hand-out does not fit. */
START_TEST(a_key_is_one_hand_out)
{
    const hf_task_key key = {HF_TASK_ACTIVITY, 7, 2, 3};
    const hf_task_key others[] = {{HF_TASK_WORKFLOW, 7, 2, 3},
                                  {HF_TASK_ACTIVITY, 8, 2, 3},
                                  {HF_TASK_ACTIVITY, 7, 1, 3},
                                  {HF_TASK_ACTIVITY, 7, 2, 4}};

    ck_assert(hf_task_key_equal(&key, &key));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        ck_assert(!hf_task_key_equal(&key, &others[i]));
}
END_TEST

HF_SUITE_MAIN("task/task", {every_move_is_in_the_table, 0}, {a_key_is_one_hand_out, 0})
