/* suite.c: one Check suite per program. HF_TEST_ONLY=substring runs the cases whose name contains
 * it. */
#include "lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_TIMEOUT_S = 60 };

int hf_suite_run(const char *name, const hf_case *cases, size_t count)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);
    const char *only = getenv("HF_TEST_ONLY");
    int failed;

    for (size_t i = 0; i < count; i++) {
        TCase *group;

        if (only && !strstr(cases[i].test->name, only))
            continue;
        group = tcase_create(cases[i].test->name);
        tcase_set_timeout(group, cases[i].timeout_s > 0 ? cases[i].timeout_s : CASE_TIMEOUT_S);
        tcase_add_test(group, cases[i].test);
        suite_add_tcase(suite, group);
    }
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
