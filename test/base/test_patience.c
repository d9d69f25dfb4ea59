/* test_patience.c: a process that may not be late. */
#include "base/patience.h"

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/suite.h"

/* The exit code of a process that has `ms` and would otherwise end with 7 after a line, or never.
 */
static int child_ends(int64_t ms, bool ends)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (hf_patience_begin(ms, NULL))
            _exit(8);
        while (!ends)
            (void)pause();
        _exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Late is over, with 0; in time is as if nothing had been. */
START_TEST(a_process_ends_when_patience_does)
{
    ck_assert_int_eq(child_ends(10, false), 0);
    ck_assert_int_eq(child_ends(60000, true), 7);
}
END_TEST

HF_SUITE_MAIN("base/patience", {a_process_ends_when_patience_does, 0})
