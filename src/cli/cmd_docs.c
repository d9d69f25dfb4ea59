/* cmd_docs.c: the verb docs: short pages that are read at the terminal. What other tables say comes
   from them; the rest is here. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/rows.h"
#include "cli/settings.h"
#include "cli/verbs.h"

typedef struct topic {
    const char *name;
    const char *summary;
    const char *text; /* before what is made from tables; sentences, an empty line between parts */
    void (*more)(FILE *out);
} topic;

static void exits_write(FILE *out)
{
    hf_cli_exit code;
    const char *sentence;

    for (int row = 0; (sentence = hf_cli_exit_row(row, &code)); row++)
        (void)fprintf(out, "%4d  %s\n", (int)code, sentence);
}

static void settings_write(FILE *out)
{
    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++) {
        const hf_cli_setting *setting = hf_cli_setting_at((hf_cli_setting_id)id);

        (void)fprintf(out, "%-16s %s\n", setting->env, setting->sentence);
    }
    (void)fputs(
        "HF_TOKEN         the credential itself\n"
        "HF_CA_FILE       whom to trust over https (PEM), instead of the system's authorities\n"
        "HF_CERT_FILE     certificate (PEM) for a server that asks for one\n"
        "HF_KEY_FILE      its key (PEM)\n"
        "HF_NO_INPUT      nothing is asked, as without a terminal\n",
        out);
}

static void formats_write(FILE *out)
{
    static const char *const sentences[] = {
        "columns for people; the default, also without a terminal",
        "the same with more columns",
        "one JSON text, with the fields of the HTTP API",
        "one JSON object a line, as they come",
        "the columns as comma-separated values with a heading",
        "the first column alone, for pipes",
        "nothing; the exit code says it"};

    _Static_assert(sizeof(sentences) / sizeof(sentences[0]) == HF_CLI_FORMAT_COUNT,
                   "a sentence for each format");
    for (int i = 0; i < HF_CLI_FORMAT_COUNT; i++)
        (void)fprintf(out, "%-6s %s\n", hf_cli_format_text((hf_cli_format)i), sentences[i]);
}

static const topic topics[] = {
    {"agent", "recipes for programs that use the command line",
     "Start:   holdfast start TYPE INPUT --id ID -o json. The same id again is refused (exit code "
     "9); "
     "--dup existing takes the open run, --dedup KEY makes the command itself repeatable.\n\n"
     "Wait:    holdfast result ID --timeout 60s. Exit code 0 and the result as JSON, 10 when the "
     "run "
     "failed, 11 when it was stopped, 7 when it is still open.\n\n"
     "Watch:   holdfast watch ID -o jsonl prints one object for each change until the run closes; "
     "holdfast history ID -f -o jsonl the events themselves.\n\n"
     "Debug:   holdfast why ID -o json says in one sentence what a run waits for, with a code, the "
     "evidence and the next command; exit code 1 means that a person is needed. Then holdfast show "
     "ID -o json and holdfast history ID -o jsonl.\n\n"
     "Fix:     holdfast signal, update, repair, pause, resume, cancel, terminate, each with "
     "--reason; "
     "holdfast reset ID --step N goes on from an earlier step, holdfast fork leaves the run as it "
     "is. "
     "For many: holdfast batch start COMMAND --query FILTERS --dry-run, then with --yes.\n\n"
     "Replay:  holdfast replay check --app PROGRAM says whether a new build still replays what is "
     "open; exit code 12 when it does not.\n\n"
     "Errors are on standard error, with -o json as {\"error\": {status, message, exit_code, "
     "next}}. "
     "Nothing is ever asked without a terminal.",
     NULL},
    {"addresses", "stores and servers, and how a verb finds one",
     "A store is a path, sqlite:PATH or postgres://USER@HOST/DATABASE; a server is "
     "http://HOST:PORT, "
     "https://HOST:PORT or unix:PATH. --store and --url name one; else HF_URL does, or the "
     "profile, "
     "or the settings file, or the nearest .holdfast folder, where holdfast dev serves; else "
     "http://127.0.0.1:7430.\n\n"
     "Reading a store changes nothing and works while a server owns it. Changing it opens it: "
     "while "
     "somebody owns it the exit code is 14, and the server is the one to ask.",
     NULL},
    {"environment", "variables, in the order flag, environment, profile, file, default",
     "holdfast config prints what each setting is and where that came from.", settings_write},
    {"exit-codes", "what the exit code says",
     "The same for every verb, but for verify: 0 clean, 1 "
     "violations, 2 could not check.",
     exits_write},
    {"formats", "what -o prints", "Data goes to standard output, talk to standard error.",
     formats_write},
};

static const hf_cli_column columns[] = {
    {"topic", 14, false}, {"summary", 0, false}, {NULL, 0, false}};

static hf_status topics_list(hf_cli_call *call, hf_err *err)
{
    hf_value_list *rows = hf_value_array(call->mem);
    hf_value all;

    for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
        hf_value_append(rows, hf_json_(call->mem, "{'topic': %s, 'summary': %s}", topics[i].name,
                                       topics[i].summary));
    all = hf_value_finish(rows);
    return all ? hf_cli_rows_print(call, "topics", columns, all, err)
               : hf_err_nomem(err, "the topics");
}

hf_status hf_cli_docs(hf_cli_call *call, hf_err *err)
{
    FILE *out = call->print.out;

    if (!call->args[0])
        return topics_list(call, err);
    for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
        if (strcmp(topics[i].name, call->args[0]) != 0)
            continue;
        (void)fprintf(out, "%s\n", topics[i].text);
        if (topics[i].more) {
            (void)fputc('\n', out);
            topics[i].more(out);
        }
        return HF_OK;
    }
    return hf_err_set(err, HF_NOTFOUND, "there is no page %s", call->args[0]);
}
