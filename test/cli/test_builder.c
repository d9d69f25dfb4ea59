/* test_builder.c: holdfast dev with a C file as its worker: compiled with the machine's compiler,
   again when it has changed, and not taken when it cannot be compiled. */
#include <poll.h>
#include <signal.h>

#include "cli/exit.h"
#include "lib/check_store.h"

#include "cli/program.h" /* last: its names are short */

#define FLAGS_LINE                                                                                 \
    "HF_CC_FLAGS=-I" HF_TEST_DIR "/../include -L" HF_BUILD_DIR " -Wl,-rpath," HF_BUILD_DIR         \
    " -lholdfast" HF_TEST_SANITIZE

/* A program whose workflow answers with a word. */
static void source_write(const char *word)
{
    char text[1024];

    (void)snprintf(
        text, sizeof(text),
        "#include <holdfast/holdfast.h>\n"
        "static hf_value says(hf_ctx *w, hf_value in)\n"
        "{ (void)in; return hf_json(w, \"'%s'\"); }\n"
        "static const hf_workflow_def flows[] = {{.type = \"says\", .run = says}, {0}};\n"
        "int main(int argc, char **argv)\n"
        "{ static const hf_app app = {.name = \"says\", .workflows = flows};\n"
        "  return hf_main(argc, argv, &app); }\n",
        word);
    file_write("says.c", text);
}

/* Starts runs until one answers with the word: the worker before may take one more. */
static void answers(const char *word)
{
    for (int i = 0;; i++) {
        (void)RUN("start", "says", "--wait", "--timeout", "20s");
        if (says(&last.out, word))
            return;
        ck_assert_msg(i < 300, "no %s: %s%s", word, hf_buf_text(&last.out), hf_buf_text(&last.err));
        (void)poll(&(struct pollfd){.fd = -1}, 1, 100);
    }
}

/* Until the talk of the server has the words. */
static void talk_await(const char *words)
{
    hf_buf talk = {0};

    for (int i = 0;; i++) {
        file_read("talk", &talk);
        if (says(&talk, words))
            break;
        ck_assert_msg(i < 600, "no %s: %s", words, hf_buf_text(&talk));
        (void)poll(&(struct pollfd){.fd = -1}, 1, 100);
    }
    hf_buf_fini(&talk);
}

static void folder_clean(void)
{
    DIR *folder = opendir(".holdfast");
    struct dirent *entry;
    char path[300];

    ck_assert(folder);
    while ((entry = readdir(folder))) {
        (void)snprintf(path, sizeof(path), ".holdfast/%s", entry->d_name);
        (void)remove(path);
    }
    (void)closedir(folder);
    (void)rmdir(".holdfast");
}

START_TEST(a_file_is_a_worker)
{
    int fd;
    pid_t pid;

    begin();
    fd = open("talk", O_CREAT | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
    source_write("first");
    pid = start(ENV(FLAGS_LINE, "CC=" HF_TEST_CC),
                (const char *const[]){PROGRAM, "dev", "says.c", "--listen", "127.0.0.1:0", NULL},
                fd, fd);
    talk_await("verbs in this folder find it");
    answers("first");
    source_write("second, and longer");
    answers("second");
    file_write("says.c", "this is no C\n");
    talk_await("the worker is the one before");
    answers("second");
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(finish(pid), HF_CLI_EXIT_OK);
    ck_assert_int_eq(RUN("verify", ".holdfast/dev.db"), 0);
    (void)close(fd);
    folder_clean();
    end();
}
END_TEST

/* What cannot be compiled, or is not there, is no worker: nothing is served. */
START_TEST(what_is_no_worker)
{
    begin();
    file_write("says.c", "this is no C\n");
    ck_assert_int_eq(
        RUN_IN(ENV(FLAGS_LINE, "CC=" HF_TEST_CC), "dev", "says.c", "--listen", "127.0.0.1:0"),
        HF_CLI_EXIT_FAILED);
    ck_assert(says(&last.err, "says.c was not compiled"));
    ck_assert_int_eq(RUN("dev", "nothing.c", "--listen", "127.0.0.1:0"), HF_CLI_EXIT_NOTFOUND);
    ck_assert_int_eq(RUN_IN(ENV("CC=no-such-compiler"), "dev", "says.c", "--listen", "127.0.0.1:0"),
                     HF_CLI_EXIT_NOTFOUND);
    folder_clean();
    end();
}
END_TEST

HF_SUITE_MAIN("cli/builder", {a_file_is_a_worker, 240}, {what_is_no_worker, 60})
