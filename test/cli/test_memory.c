/* test_memory.c: the command line when memory runs out. The binary cannot be told from outside
   which allocation to fail, so its sources are compiled in here, as an embedding program has them.
 */
#include "cli/cli.c"
#include "cli/cmd_self.c"
#include "cli/cmd_store.c"
#include "cli/cmd_verify.c"
#include "cli/command.c"
#include "cli/completion.c"
#include "cli/exit.c"
#include "cli/help.c"
#include "cli/print.c"
#include "cli/progress.c"
#include "cli/settings.c"

#include <dirent.h>

#include "base/fault.h"
#include "lib/suite.h"

enum { WORDS_MAX = 8, FAULTS_MAX = 20000 };

static char scratch[64];

/* A folder with a store in it, and streams that nobody reads. */
static void begin(void)
{
    char *words[] = {(char[]){"holdfast"}, (char[]){"schema-migrate"}, (char[]){"a.db"}, NULL};

    (void)snprintf(scratch, sizeof(scratch), "/tmp/hf_cli_XXXXXX");
    ck_assert(mkdtemp(scratch));
    ck_assert_int_eq(chdir(scratch), 0);
    ck_assert_int_eq(setenv("HF_CONFIG_HOME", ".", 1), 0);
    ck_assert(freopen("/dev/null", "w", stdout));
    ck_assert(freopen("/dev/null", "w", stderr));
    ck_assert_int_eq(hf_cli_main(3, words), 0);
}

static void end(void)
{
    DIR *folder = opendir(scratch);
    struct dirent *entry;

    ck_assert(folder);
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ck_assert_int_eq(unlink(entry->d_name), 0);
    (void)closedir(folder);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(scratch), 0);
}

/* Runs one command line with the first, the second, ... allocation failing, until none does. Each
   run ends with `code` or with an exit code for failure, and leaves no half copy behind. */
static void survives(int code, const char *line)
{
    char text[128];
    char *words[WORDS_MAX + 1] = {NULL};
    char *check[] = {(char[]){"holdfast"}, (char[]){"verify"}, (char[]){"b.db"}, NULL};
    int count = 0;
    int64_t nth = 1;
    bool hit = true;

    (void)snprintf(text, sizeof(text), "holdfast %s", line);
    for (char *at = text; *at; at += strspn(at, " ")) {
        words[count++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    for (; hit && nth < FAULTS_MAX; nth++) {
        int got;

        (void)unlink("b.db");
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        got = hf_cli_main(count, words);
        hit = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (!hit)
            ck_assert_msg(got == code, "%s gave %d", line, got);
        /* An allocation whose failure is made good by falling back may go unnoticed. */
        ck_assert_msg(got == code || got == HF_CLI_EXIT_FAILED || got == HF_CLI_EXIT_USAGE ||
                          got == HF_CLI_EXIT_SERVER,
                      "%s with allocation %d failing gave %d", line, (int)nth, got);
        /* A copy is whole or not there; it may be there when only its report failed. */
        if (access("b.db", F_OK) == 0)
            ck_assert_int_eq(hf_cli_main(3, check), 0);
    }
    ck_assert_int_lt(nth, FAULTS_MAX);
}

/* Commands about the program itself. */
START_TEST(self_survives)
{
    FILE *file;

    begin();
    file = fopen("holdfast.ini", "w");
    ck_assert(file);
    ck_assert_int_ge(fputs("schema = s\nurl = postgres://u:p@h/d?password=x\n", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    survives(0, "version -o json");
    survives(0, "config");
    survives(0, "config -o json");
    survives(0, "config -o jsonl --schema x");
    survives(2, "verfiy");
    survives(2, "verify --nonsense -o json");
    survives(2, "version -o jsonl");
    survives(0, "help --man");
    survives(0, "completion fish");
    end();
}
END_TEST

/* Commands that open a store. */
START_TEST(store_survives)
{
    begin();
    survives(0, "verify a.db -o json");
    survives(0, "verify a.db -o jsonl");
    survives(0, "verify a.db");
    survives(2, "verify missing.db -o json");
    survives(5, "backup missing.db b.db");
    survives(0, "backup a.db b.db -o json");
    survives(0, "schema-migrate a.db -o json");
    survives(0, "schema-migrate a.db --print");
    end();
}
END_TEST

/* Verbs that look at runs. */
START_TEST(looks_survive)
{
    char *words[] = {(char[]){"holdfast"}, (char[]){"start"}, (char[]){"order"},
                     (char[]){"a=b"},      (char[]){"--id"},  (char[]){"x"},
                     (char[]){"--store"},  (char[]){"a.db"},  NULL};

    begin();
    ck_assert_int_eq(hf_cli_main(8, words), 0);
    survives(0, "ls --store a.db order type=order --columns workflow_id,status");
    survives(0, "ls --store a.db --json");
    survives(0, "show x --store a.db");
    survives(0, "show x#1 --store a.db --json");
    survives(0, "history x --store a.db");
    survives(0, "history x --store a.db -o json");
    survives(7, "result x --store a.db --timeout 0s");
    survives(5, "why y --store a.db");
    survives(2, "start order a --store a.db");
    survives(3, "ls --url unix:/nowhere/at/all");
    end();
}
END_TEST

HF_SUITE_MAIN("cli/memory", {self_survives, 0}, {store_survives, 300}, {looks_survive, 300})
