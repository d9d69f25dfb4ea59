/* suite.h: the few lines every test program shares. A program lists its cases in a table and calls
   hf_suite_run; each case runs in a process of its own (Check's fork mode), so that an assertion or
   a crash ends only that case. */
#ifndef HF_TEST_LIB_SUITE_H
#define HF_TEST_LIB_SUITE_H

#include <check.h>

typedef struct hf_case {
    const TTest *test;
    double timeout_s; /* 0: 60 s */
} hf_case;

/* Runs the cases and prints Check's summary. Returns the exit code for main(). */
int hf_suite_run(const char *name, const hf_case *cases, size_t count);

/* HF_SUITE_MAIN("base/slice", {splits_at_separators}, {slow_case, 300}) */
#define HF_SUITE_MAIN(name, ...)                                                                   \
    int main(void)                                                                                 \
    {                                                                                              \
        const hf_case cases[] = {__VA_ARGS__};                                                     \
                                                                                                   \
        return hf_suite_run(name, cases, sizeof(cases) / sizeof(cases[0]));                        \
    }

#endif
