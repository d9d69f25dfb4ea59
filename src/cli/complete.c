/* complete.c: see complete.h. */
#include "cli/complete.h"

#include <string.h>

#include "base/err.h"
#include "base/patience.h"
#include "base/value.h"
#include "cli/target.h"

enum { PATIENCE_MS = 300, WORDS = 50 };

/* What is typed, and a call that can look. */
typedef struct typing {
    hf_cli_call look; /* of the verb ls, which goes everywhere */
    FILE *out;
    const char *id; /* the first word that is no flag, once it is whole */
    size_t place;   /* of the word that is typed among those that are no flags */
    const char *begun;
} typing;

static void word_offer(const typing *t, const char *word)
{
    if (*word && strncmp(word, t->begun, strlen(t->begun)) == 0) {
        hf_cli_print_text(t->out, word);
        (void)fputc('\n', t->out);
    }
}

/* Ids or types of the newest runs; each once. */
static void rows_offer(typing *t, hf_cli_target *target, const char *field)
{
    hf_value rows = NULL;
    const char *cursor = NULL;
    hf_err err;

    if (hf_cli_target_list(target, hf_json_(t->look.mem, "{'limit': %d}", WORDS), t->look.mem,
                           &rows, &cursor, &err))
        return;
    for (size_t i = 0; i < hf_len(rows); i++) {
        const char *word = hf_str(hf_at(rows, i), field, "");
        bool seen = false;

        for (size_t k = 0; k < i; k++)
            seen = seen || strcmp(hf_str(hf_at(rows, k), field, ""), word) == 0;
        if (!seen)
            word_offer(t, word);
    }
}

/* What the run declares: its signals, updates or queries. */
static void names_offer(typing *t, hf_cli_target *target, const char *verb)
{
    const hf_cli_aim aim = {.id = t->id};
    const char *list =
        hf_mem_format(t->look.mem, "declared_%s%s", verb, strcmp(verb, "query") == 0 ? "" : "s");
    hf_value run = NULL;
    hf_value names;
    hf_err err;

    if (strcmp(verb, "query") == 0)
        list = "declared_queries";
    if (!list || hf_cli_target_run(target, &aim, t->look.mem, &run, &err))
        return;
    names = hf_get(run, list);
    for (size_t i = 0; i < hf_len(names); i++)
        word_offer(t, hf_str(hf_at(names, i), "", hf_str(hf_at(names, i), "name", "")));
}

/* Flags that say where to look are kept, others skipped, words counted. */
static void words_read(typing *t, const hf_cli_command *command, const char *const *words,
                       size_t count)
{
    for (size_t i = 1; i + 1 < count; i++) {
        bool is_flag = words[i][0] == '-';
        bool takes = false;

        for (int id = 0; is_flag && id < HF_CLI_FLAG_COUNT; id++) {
            const hf_cli_flag *flag = hf_cli_flag_at((hf_cli_flag_id)id);

            if (!flag->value || strcmp(words[i] + strspn(words[i], "-"), flag->name) != 0 ||
                !hf_cli_command_takes(command, (hf_cli_flag_id)id))
                continue;
            takes = true;
            if (i + 2 < count)
                t->look.flags[id] = words[i + 1];
        }
        if (is_flag) {
            i += takes;
            continue;
        }
        t->id = t->place ? t->id : words[i];
        t->place++;
    }
}

static void words_offer(typing *t, const hf_cli_command *command)
{
    const char *arg = t->place < HF_CLI_ARGS_MAX ? command->args[t->place].name : NULL;
    hf_cli_target *target = NULL;
    hf_err err;

    if (!arg && command->many && t->place)
        arg = command->args[0].name; /* more of the same */
    if (!arg || hf_cli_settings_load(t->look.mem, t->look.flags, &t->look.settings, &err) ||
        hf_cli_store_choose(&t->look, &err) || hf_cli_target_open(&t->look, false, &target, &err))
        return;
    if (strcmp(arg, "ID") == 0)
        rows_offer(t, target, "workflow_id");
    else if (strcmp(arg, "TYPE") == 0)
        rows_offer(t, target, "workflow_type");
    else if (strcmp(arg, "NAME") == 0 && t->id && t->place == 1)
        names_offer(t, target, command->name);
    hf_cli_target_close(target);
}

void hf_cli_complete(hf_cli_call *call, const char *const *words, size_t count)
{
    const hf_cli_command *command = count > 1 ? hf_cli_command_find(words[0]) : NULL;
    typing t = {.out = call->print.out, .begun = count ? words[count - 1] : ""};
    hf_err err;

    if (!command || !command->target)
        return;
    t.look = (hf_cli_call){.command = hf_cli_command_find("ls"),
                           .app = call->app,
                           .program = call->program,
                           .mem = call->mem};
    hf_cli_print_init(&t.look.print);
    words_read(&t, command, words, count);
    if (hf_patience_begin(PATIENCE_MS, &err) == HF_OK)
        words_offer(&t, command);
}
