/* test_output.c: what surrounds the commands of the holdfast binary: settings, completion, the
   generated documents, and output that is safe to look at. */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "cli/program.h"

#include "base/thread.h"
#include "cli/print.h"

/* The line of `config` that begins with `name`. */
static void setting_is(const char *name, const char *value, const char *source)
{
    hf_value list = hf_get(json(&last.out), "settings");

    for (size_t i = 0; i < hf_len(list); i++) {
        hf_value row = hf_at(list, i);

        if (strcmp(hf_str(row, "setting", ""), name) != 0)
            continue;
        ck_assert_str_eq(hf_str(row, "value", ""), value);
        ck_assert_str_eq(hf_str(row, "source", ""), source);
        return;
    }
    ck_abort_msg("no setting %s", name);
}

/* A flag wins over the environment, that over the file, that over the default. */
START_TEST(settings_have_an_order)
{
    begin();
    ck_assert_int_eq(RUN("config", "--json"), 0);
    setting_is("schema", "holdfast", "default");
    setting_is("url", "", "unset");
    setting_is("config", "./.config/holdfast/holdfast.ini", "default");
    file_write("holdfast.ini", "# a comment\nschema = from_file\nurl=postgres://u:p@h/d\n");
    ck_assert_int_eq(RUN_IN(ENV("HF_CONFIG_HOME=."), "config", "--json"), 0);
    setting_is("schema", "from_file", "./holdfast.ini:2");
    setting_is("url", "postgres://u:***@h/d", "./holdfast.ini:3");
    setting_is("config", "./holdfast.ini", "environment HF_CONFIG_HOME");
    ck_assert_int_eq(RUN_IN(ENV("HF_CONFIG_HOME=.", "HF_SCHEMA=from_env", "HF_NO_SUCH=1",
                                "HF_URL=postgres://u@h/d?password=x&sslmode=require"),
                            "config", "--json"),
                     0);
    setting_is("schema", "from_env", "environment HF_SCHEMA");
    setting_is("url", "postgres://u@h/d?password=***&sslmode=require", "environment HF_URL");
    ck_assert_int_eq(RUN_IN(ENV("HF_SCHEMA=from_env"), "config", "--json", "--config",
                            "holdfast.ini", "--schema=from_flag"),
                     0);
    setting_is("schema", "from_flag", "flag --schema");
    setting_is("config", "holdfast.ini", "flag --config");
    ck_assert_int_eq(RUN_IN(ENV("NO_COLOR=1", "CLICOLOR_FORCE=1"), "config", "--json"), 0);
    setting_is("color", "never", "environment NO_COLOR");
    ck_assert_int_eq(RUN_IN(ENV("CLICOLOR_FORCE=1"), "config", "--json"), 0);
    setting_is("color", "always", "environment CLICOLOR_FORCE");
    ck_assert_int_eq(RUN_IN(ENV("NO_COLOR=", "CLICOLOR_FORCE=0"), "config", "--json"), 0);
    setting_is("color", "auto", "default");
    ck_assert_int_eq(RUN_IN(ENV("HF_OUTPUT=jsonl"), "config"), 0);
    ck_assert(says(&last.out, "{\"setting\":\"url\""));
    ck_assert_int_eq(RUN_IN(ENV("HF_OUTPUT=jsonl"), "version"), 0);
    ck_assert(says(&last.out, "holdfast " HF_VERSION_TEXT));
    ck_assert_int_eq(RUN("config"), 0);
    ck_assert(says(&last.out, "SETTING "));
    end();
}
END_TEST

/* A settings file with a mistake is refused with the line, a file that was named must exist. */
START_TEST(settings_file_is_strict)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"\nfoo = 1\n", "a.ini:2: there is no setting foo"},
               {"config = x\n", "a.ini:1: there is no setting config"},
               {"[serve]\nurl = x\n", "a.ini:2: there is no setting serve.url"},
               {"schema = a\n\nschema = b\n", "a.ini:3: schema is set in line 1 already"},
               {"# x\nurl\n", "a.ini:2: the line is not of the form name = value"},
               {"output = xml\n", "output is \"xml\" (a.ini:1), but must be one of: table wide"}};
    char text[600];

    begin();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        file_write("a.ini", bad[i].text);
        ck_assert_int_eq(RUN("config", "--config", "a.ini"), 2);
        ck_assert_msg(says(&last.err, bad[i].says), "%s", hf_buf_text(&last.err));
    }
    (void)snprintf(text, sizeof(text), "url = %0500d\n", 0);
    file_write("a.ini", text);
    ck_assert_int_eq(RUN("config", "--config", "a.ini"), 2);
    ck_assert(says(&last.err, "a.ini:1: the line is longer than"));
    FAILS(5, "not_found", "config", "--config", "missing.ini");
    FAILS(6, "io_error", "config", "--config", ".");
    FAILS_IN(2, "invalid", ENV("HF_DEBUG=maybe"), "config");
    ck_assert_int_eq(RUN("help", "config"), 0); /* help needs no settings */
    end();
}
END_TEST

/* Completion scripts are well formed and know every verb and flag. */
START_TEST(completion_scripts)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};

    begin();
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(RUN("completion", shells[i]), 0);
        for (size_t j = 0; j < VERBS; j++)
            ck_assert(says(&last.out, verbs[j]));
        ck_assert(says(&last.out, i == 2 ? "-l quick" : "--quick"));
        file_write("script", hf_buf_text(&last.out));
        /* zsh and fish may be missing; their quoting and blocks here are also right for bash -n. */
        ck_assert_int_eq(run(NULL, (const char *const[]){"bash", "-n", "script", NULL}), 0);
    }
    ck_assert_int_eq(RUN("completion", "bash"), 0);
    hf_buf_add_text(&last.out, "COMP_WORDS=(holdfast verify --q) COMP_CWORD=2; _holdfast; "
                               "echo \"${COMPREPLY[@]}\"\n"
                               "COMP_WORDS=(holdfast v) COMP_CWORD=1; _holdfast; "
                               "echo \"${COMPREPLY[@]}\"\n"
                               "COMP_WORDS=(holdfast backup -o n) COMP_CWORD=3; _holdfast; "
                               "echo \"${COMPREPLY[@]}\"\n");
    file_write("script", hf_buf_text(&last.out));
    ck_assert_int_eq(run(NULL, (const char *const[]){"bash", "script", NULL}), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "--quick\nview verify version\nnone\n");
    end();
}
END_TEST

/* The reference page and the manual page in the tree are what the table says. */
START_TEST(documents_are_up_to_date)
{
    hf_buf stored = {0};

    begin();
    ck_assert_int_eq(RUN("help", "--markdown"), 0);
    file_read(HF_TEST_DIR "/../docs/reference/cli.md", &stored);
    ck_assert_str_eq(hf_buf_text(&stored), hf_buf_text(&last.out));
    ck_assert_int_eq(RUN("help", "--man"), 0);
    file_read(HF_TEST_DIR "/../man/holdfast.1", &stored);
    ck_assert_str_eq(hf_buf_text(&stored), hf_buf_text(&last.out));
    hf_buf_fini(&stored);
    end();
}
END_TEST

/* Text from outside cannot steer the terminal: neither in lines nor in JSON does a control
   character survive; and there is no colour unless a terminal or somebody asks for it. */
START_TEST(output_is_harmless)
{
    static const char evil[] = "a\033[31m\xC2\x9B\xE2\x80\xAE\xFF.db";

    begin();
    ck_assert_int_eq(RUN("verify", evil), 2);
    ck_assert(!strpbrk(hf_buf_text(&last.err), "\033\xFF"));
    ck_assert(says(&last.err, "a\\x1b[31m\\x9b\\u202e"));
    ck_assert_int_eq(RUN("verify", evil, "--json"), 2);
    ck_assert(!strpbrk(hf_buf_text(&last.err), "\033\xFF"));
    ck_assert(!says(&last.err, "\xC2\x9B"));
    ck_assert(strstr(hf_str(json(&last.err), "error.message", ""), "a\033[31m\xC2\x9B"));
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i], "dev") == 0)
            continue; /* would serve until it is stopped */
        (void)RUN(verbs[i]);
        ck_assert(!says(&last.out, "\033") && !says(&last.err, "\033"));
    }
    ck_assert_int_eq(RUN_IN(ENV("CLICOLOR_FORCE=1"), "verify"), 2);
    ck_assert(says(&last.err, "\033[31merror:\033[0m"));
    ck_assert_int_eq(RUN_IN(ENV("CLICOLOR_FORCE=1", "NO_COLOR=1"), "verify"), 2);
    ck_assert(!says(&last.err, "\033"));
    ck_assert_int_eq(RUN_IN(ENV("NO_COLOR=1"), "verify", "--color", "always"), 2);
    ck_assert(says(&last.err, "\033"));
    end();
}
END_TEST

/* Runs `verify` with standard error on a new terminal and returns what the terminal saw. */
static void terminal_run(const char *const *env, hf_buf *out_seen)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int side;
    char piece[256];
    ssize_t len;
    pid_t pid;

    ck_assert_int_ge(terminal, 0);
    ck_assert_int_eq(grantpt(terminal), 0);
    ck_assert_int_eq(unlockpt(terminal), 0);
    side = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(side, 0);
    pid = start(env, (const char *const[]){PROGRAM, "verify", NULL}, side, side);
    ck_assert_int_eq(finish(pid), 2);
    (void)close(side);
    hf_buf_clear(out_seen);
    while ((len = read(terminal, piece, sizeof(piece))) > 0) /* EIO when all of it is read */
        hf_buf_add(out_seen, piece, (size_t)len);
    (void)close(terminal);
}

/* A terminal gets colour, unless it is a dumb one or NO_COLOR is set. */
START_TEST(terminal_gets_color)
{
    hf_buf seen = {0};

    begin();
    terminal_run(NULL, &seen);
    ck_assert(says(&seen, "\033[31merror:"));
    terminal_run(ENV("NO_COLOR=1"), &seen);
    ck_assert(says(&seen, "error:") && !says(&seen, "\033"));
    hf_buf_fini(&seen);
    end();
}
END_TEST

static void chatter(void *file)
{
    for (int i = 0; i < 20000; i++)
        (void)fputs("user's own line\n", file);
}

/* What the code of a program's user prints at the same time comes between lines, never into one. */
START_TEST(lines_are_whole)
{
    hf_value value;
    hf_cli_column columns[] = {{.key = "ready", .width = 9}, {.key = "limit", .width = 9}, {0}};
    hf_cli_print print = {.format = HF_CLI_TABLE, .headed = true};
    hf_thread thread = {0};
    char line[64];

    begin();
    value = hf_json_(mem, "{'ready': 0, 'limit': 100}");
    print.out = fopen("lines", "w+");
    ck_assert_ptr_nonnull(print.out);
    ck_assert_int_eq(hf_thread_start(&thread, "chatter", chatter, print.out, NULL), HF_OK);
    for (int i = 0; i < 20000; i++) {
        ck_assert_int_eq(hf_cli_print_value(print.out, value, NULL), HF_OK);
        ck_assert_int_eq(hf_cli_print_row(&print, columns, value, NULL), HF_OK);
    }
    hf_thread_join(&thread);
    rewind(print.out);
    while (fgets(line, sizeof(line), print.out))
        ck_assert_msg(strcmp(line, "user's own line\n") == 0 ||
                          strcmp(line, "{\"ready\":0,\"limit\":100}\n") == 0 ||
                          strcmp(line, "0          100\n") == 0,
                      "%s", line);
    ck_assert_int_eq(fclose(print.out), 0);
    end();
}
END_TEST

/* A reader that goes away ends the program quietly; a full disk does not. */
START_TEST(output_that_cannot_be_written)
{
    int ends[2];
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    int err;
    pid_t pid;

    begin();
    err = open(".err", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_int_ge(err, 0);
    ck_assert_int_eq(pipe(ends), 0);
    (void)close(ends[0]);
    pid = start(NULL, (const char *const[]){PROGRAM, "help", NULL}, ends[1], err);
    (void)close(ends[1]);
    ck_assert_int_eq(finish(pid), 141);
    ck_assert_int_eq(lseek(err, 0, SEEK_END), 0);
    pid = start(NULL, (const char *const[]){PROGRAM, "version", NULL}, full, err);
    ck_assert_int_eq(finish(pid), 6);
    ck_assert_int_gt(lseek(err, 0, SEEK_END), 0);
    (void)close(full);
    (void)close(err);
    end();
}
END_TEST

HF_SUITE_MAIN("cli/output", {settings_have_an_order, 0}, {settings_file_is_strict, 0},
              {completion_scripts, 0}, {documents_are_up_to_date, 0}, {output_is_harmless, 0},
              {terminal_gets_color, 0}, {lines_are_whole, 0}, {output_that_cannot_be_written, 0})
