/* test_profile.c: profiles and the pages of docs: what is set wins in its order, and nothing that
   is not there is taken for something. */
#include "cli/exit.h"

#include "cli/program.h" /* last: its names are short */

/* A folder of settings inside the case's own; end() removes files alone. */
static void tidy(void)
{
    (void)remove("conf/profiles.json");
    (void)rmdir("conf");
    end();
}

/* Flag, environment, profile, settings file: in this order. */
START_TEST(a_profile_has_its_place)
{
    const char *const *home = ENV("HF_CONFIG_HOME=conf");

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    ck_assert_int_eq(RUN_IN(home, "profile", "ls"), 0);
    ck_assert_uint_eq(last.out.len, 0);
    ck_assert_int_eq(RUN_IN(home, "profile", "set", "near", "url=a.db"), 0);
    ck_assert_int_eq(RUN_IN(home, "profile", "set", "far", "url=http://127.0.0.1:1"), 0);
    ck_assert_int_eq(RUN_IN(home, "profile", "set", "near", "namespace=default"), 0);
    ck_assert_int_eq(RUN_IN(home, "profile", "show", "near", "--json"), 0);
    ck_assert_str_eq(hf_str(json(&last.out), "url", ""), "a.db"); /* it stays */
    ck_assert_int_eq(RUN_IN(home, "profile", "use", "near"), 0);
    ck_assert_int_eq(RUN_IN(home, "profile", "ls", "-o", "csv"), 0);
    ck_assert(says(&last.out, "near,true,a.db,default\n"));
    ck_assert(says(&last.out, "far,false,"));
    ck_assert_int_eq(RUN_IN(home, "config", "--json"), 0);
    ck_assert(says(&last.out, "\"profile near\""));
    ck_assert_int_eq(RUN_IN(ENV("HF_CONFIG_HOME=conf", "HF_PROFILE=far"), "ls"),
                     HF_CLI_EXIT_UNREACHABLE);
    ck_assert_int_eq(RUN_IN(ENV("HF_CONFIG_HOME=conf", "HF_URL=b.db"), "config", "--json"), 0);
    ck_assert(says(&last.out, "\"environment HF_URL\""));
    ck_assert_int_eq(RUN_IN(home, "profile", "delete", "far"), 0);
    FAILS_IN(HF_CLI_EXIT_NOTFOUND, "not_found", ENV("HF_CONFIG_HOME=conf", "HF_PROFILE=far"), "ls");
    FAILS_IN(HF_CLI_EXIT_NOTFOUND, "not_found", home, "profile", "use", "far");
    FAILS_IN(HF_CLI_EXIT_USAGE, "invalid", home, "profile", "set", "near", "token=secret");
    FAILS_IN(HF_CLI_EXIT_USAGE, "invalid", home, "profile", "set", "near");
    tidy();
}
END_TEST

/* Pages by name; those that come from tables have every row of them. */
START_TEST(pages_at_the_terminal)
{
    begin();
    ck_assert_int_eq(RUN("docs", "-o", "name"), 0);
    ck_assert(says(&last.out, "agent\n"));
    ck_assert_int_eq(RUN("docs", "agent"), 0);
    ck_assert(says(&last.out, "holdfast why ID"));
    ck_assert_int_eq(RUN("docs", "exit-codes"), 0);
    ck_assert(says(&last.out, "  14  "));
    ck_assert_int_eq(RUN("docs", "environment"), 0);
    ck_assert(says(&last.out, "HF_NAMESPACE"));
    ck_assert_int_eq(RUN("docs", "formats"), 0);
    ck_assert(says(&last.out, "jsonl"));
    FAILS(HF_CLI_EXIT_NOTFOUND, "not_found", "docs", "nonsense");
    end();
}
END_TEST

HF_SUITE_MAIN("cli/profile", {a_profile_has_its_place, 60}, {pages_at_the_terminal, 60})
