/* command.c: the table, and looking things up in it. Texts are for people: sentences, no markup. */
#include "cli/command.h"

#include <string.h>

#include "base/assert.h"
#include "cli/command_table.h"
#include "cli/verbs.h"

enum { NAME_BYTES_MAX = 32 /* names longer than this are near to nothing */ };

_Static_assert(HF_CLI_FLAG_OUTPUT <= 128, "flags are bits of two words");

static const hf_cli_flag flag_table[] = {
#define HF_CLI_FLAG(id, name, letter, value, choices, sentence)                                    \
    {name, letter, value, choices, sentence},
#include "cli/flag.def"
#undef HF_CLI_FLAG
};

static const hf_cli_command command_table[] = {
    {.name = "serve",
     .summary = "serve a store over HTTP",
     .text =
         "Serves the control plane, health checks and metrics of a store until SIGTERM or SIGINT; "
         "then it accepts no more, finishes what is under way and ends. A second signal ends it at "
         "once. The store is made when it does not exist.\n\n"
         "Clients need a token. When the store has none, the first one, an admin's, is made and "
         "printed once. Keys for --auth signature come from HF_SIGNATURE_KEY_READ, _OPERATOR, "
         "_WORKER and _ADMIN.\n\n"
         "It listens on this machine alone unless told otherwise, and then it insists on "
         "credentials and TLS. Under systemd it reports when it is ready (Type=notify).",
     .example = "holdfast serve orders.db --listen 127.0.0.1:7430",
     .args = {{"STORE", NULL, true}},
     .store = true,
     .flags = FLAGS_COMMON | FLAGS_SERVER,
     .more = MORE(HF_CLI_FLAG_NO_SANDBOX) | MORE(HF_CLI_FLAG_NAMESPACE_RATE) |
             MORE(HF_CLI_FLAG_NAMESPACE_POLLS) | MORE(HF_CLI_FLAG_NAMESPACE_RUNS) |
             MORE(HF_CLI_FLAG_NAMESPACE_BYTES) | MORE(HF_CLI_FLAG_TLS_CLIENT_CA) |
             MORE(HF_CLI_FLAG_TLS_CLIENT_ROLES) | MORE(HF_CLI_FLAG_SET) |
             MORE(HF_CLI_FLAG_ENVIRONMENT),
     .formats = FORMATS_RESULT,
     .exits = {{HF_CLI_EXIT_OK, "stopped by a signal"},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, "not allowed, or the address would be unprotected"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, "the port is taken"},
               {HF_CLI_EXIT_OWNED, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_FULL, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_serve},
    {.name = "dev",
     .summary = "serve a store for development, with a worker program beside it",
     .text =
         "Serves ./.holdfast/dev.db, or the store of --store, as serve does, and keeps its data. "
         "PROGRAM is started as a worker, with HF_URL and HF_TOKEN in its environment, and "
         "started again whenever it ends. A PROGRAM that ends in .c is compiled first, with cc "
         "against the library that holdfast is installed with (HF_CC_FLAGS says otherwise), and "
         "again whenever the file changes. While it serves, verbs that are used in this folder or "
         "below it find the server and need no token. It prints a link that logs a browser in to "
         "the console, once and within ten minutes.",
     .example = "holdfast dev ./worker",
     .args = {{"PROGRAM", NULL, true}, {"ARGUMENT", NULL, true}},
     .many = true,
     .flags = FLAGS_COMMON | FLAGS_SERVER,
     .formats = FORMATS_RESULT,
     .exits = {{HF_CLI_EXIT_OK, "stopped by a signal"},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, "PROGRAM does not exist"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, "the port is taken"},
               {HF_CLI_EXIT_OWNED, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_dev},
    {.name = "worker",
     .summary = "look after a worker program, or make any program an activity",
     .text =
         "worker PROGRAM starts a worker program, with HF_URL and HF_TOKEN in its environment, and "
         "starts it again whenever it ends, until SIGTERM or SIGINT.\n\n"
         "worker exec --activity NAME -- COMMAND takes tasks of one activity from a server and "
         "runs "
         "the command for each: the arguments as JSON on its standard input, the result as JSON "
         "from its standard output. Exit code 0 is done, 100 is a failure that is not tried "
         "again, any other one that is. HF_ATTEMPT, HF_IDEMPOTENCY_KEY, HF_WORKFLOW_ID and "
         "HF_RUN_ID are in its environment. One task at a time: start several for more.",
     .example = "holdfast worker exec --activity resize -- ./resize.sh",
     .args = {{"PROGRAM", NULL, false}, {"ARGUMENT", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_ACTIVITY) | BIT(HF_CLI_FLAG_QUEUE),
     .formats = FORMATS_RESULT,
     .exits = {{HF_CLI_EXIT_OK, "stopped by a signal"},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such program"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_VERSION, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_worker},
    {.name = "token",
     .summary = "make, list and revoke credentials for serving a store",
     .text =
         "create prints the secret, once: the store keeps only its SHA-256. ls lists them without "
         "their secrets. revoke ends one.\n\n"
         "A SQLite store that is being served has one owner: ask the server then, with the token "
         "of "
         "an admin.",
     .example = "holdfast token create --store orders.db --role worker --label billing",
     .args = {{"ACTION", "create ls revoke", false}, {"ID", NULL, true}},
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_ROLE) | BIT(HF_CLI_FLAG_LABEL) |
              BIT(HF_CLI_FLAG_NAMESPACES),
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such token"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_OWNED, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_token},
    {.name = "verify",
     .summary = "check the invariants of a store",
     .text =
         "Reads the store without changing it, while engines may go on working, and prints each "
         "broken invariant: its number, how severe it is (stop, block_run or warn), the rows it is "
         "about, and a sentence. A last line says what was checked.\n\n"
         "The json format holds at most 10,000 findings and says with truncated whether there were "
         "more; report.findings counts all of them. The jsonl format has no limit: one finding per "
         "line, then the same object without findings.",
     .example = "holdfast verify orders.db --json",
     .args = {{"STORE", NULL, true}},
     .store = true,
     .flags =
         FLAGS_COMMON | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_QUICK) | BIT(HF_CLI_FLAG_SCHEMA),
     .formats = FORMATS_ROWS | FORM(HF_CLI_NONE),
     .failure = HF_CLI_EXIT_USAGE,
     .exits = {{HF_CLI_EXIT_OK, "clean"},
               {HF_CLI_EXIT_FAILED, "there are violations"},
               {HF_CLI_EXIT_USAGE, "the store could not be checked, whatever the reason"},
               {HF_CLI_EXIT_INTERRUPTED, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_verify},
    {.name = "why",
     .summary = "say why a run is not moving",
     .text =
         "Prints one sentence for the newest run of each instance, or with ID#N for its nth, and "
         "what would move it; with --at what its history says of the moment after an event. The "
         "answer comes from a server, or from a store alone, while an engine is at work and when "
         "there is none. The json formats have the code, since and until when, the evidence "
         "and the state of the run; docs/reference/why.md lists the codes.",
     .example = "holdfast why order-17",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_AT),
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, "all of them are healthy or over"},
               {HF_CLI_EXIT_FAILED, "one of them needs a person"},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such instance, or no such store"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, NULL},
               {HF_CLI_EXIT_VERSION, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_why},
    {.name = "doctor",
     .summary = "look a store or a server over, and every run that needs a person",
     .text = "Of a store: says what it is and which versions it has, then looks at every open run "
             "of all namespaces and prints those that need a person, each with its sentence. Of a "
             "server: its version, whether it is ready, how far its clock is from this one, its "
             "health checks that are not ok, and the runs of the namespace that need a person, "
             "some of each kind and how many there are.",
     .example = "holdfast doctor orders.db",
     .args = {{"STORE", NULL, true}},
     .target = true,
     .flags = FLAGS_TARGET,
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, "nothing needs a person"},
               {HF_CLI_EXIT_FAILED, "some runs need a person, or the server does"},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, NULL},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, NULL},
               {HF_CLI_EXIT_VERSION, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_doctor},
    {.name = "backup",
     .summary = "copy a SQLite store into a new file",
     .text = "Makes a consistent copy of a store of any version while engines go on working. FILE "
             "must not exist yet; when "
             "the copy fails or is interrupted, it is removed again. Verify the copy before you "
             "rely on it. For a PostgreSQL store use pg_dump.",
     .example = "holdfast backup orders.db orders-monday.db && holdfast verify orders-monday.db",
     .args = {{"STORE", NULL, true}, {"FILE", NULL, false}},
     .store = true,
     .flags = FLAGS_COMMON,
     .formats = FORMATS_RESULT,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, "wrong usage, FILE exists, or the store is not SQLite"},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, NULL},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_FULL, "the disk is full or read-only"},
               {HF_CLI_EXIT_INTERRUPTED, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_backup},
    {.name = "schema-migrate",
     .summary = "create a store, or bring it to the newest version",
     .text = "Runs the migrations that the store does not have yet, each in a transaction of its "
             "own, and names them. A store that does not exist is created. Running it again "
             "changes nothing.\n\n"
             "With --print nothing is changed: the SQL is printed, for a person who wants to read "
             "it or has to run it with other privileges.",
     .example = "holdfast schema-migrate postgres://holdfast@db.example/orders --print",
     .args = {{"STORE", NULL, true}},
     .store = true,
     .flags = FLAGS_COMMON | BIT(HF_CLI_FLAG_PRINT) | BIT(HF_CLI_FLAG_SCHEMA),
     .formats = FORMATS_RESULT,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, "the folder or the database does not exist"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, NULL},
               {HF_CLI_EXIT_OWNED, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_FULL, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_migrate},
    {.name = "rebuild-projections",
     .summary = "make lists and views anew from history",
     .text = "Compares what is stored for lists and views with what folding history gives, and "
             "makes it anew: all of it, or with --missing or --needs-rebuild only what needs it. "
             "History itself is never changed. An engine does the same by itself while it works; "
             "this is for a store that was changed behind its back.",
     .example = "holdfast rebuild-projections orders.db --needs-rebuild --prune-stale",
     .args = {{"STORE", NULL, true}},
     .store = true,
     .flags = FLAGS_COMMON | BIT(HF_CLI_FLAG_SCHEMA) | BIT(HF_CLI_FLAG_MISSING) |
              BIT(HF_CLI_FLAG_NEEDS_REBUILD) | BIT(HF_CLI_FLAG_PRUNE_STALE) |
              BIT(HF_CLI_FLAG_DRY_RUN),
     .formats = FORMATS_RESULT,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, "some histories cannot be read"},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, NULL},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_OWNED, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_FULL, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_rebuild},
    {.name = "bundle",
     .summary = "take runs out of a store as bundles; check, import, compare, replay them",
     .text =
         "export ID... writes the newest run of each instance, or with ID#N its nth, one bundle a "
         "line. verify FILE checks sections, events, manifest, checksum, signatures and the hash "
         "chain of a bundle without its store, and prints every rule that does not hold. import "
         "FILE "
         "keeps verified bundles in a store, to be read, compared and replayed; nothing works on "
         "them. diff A B "
         "puts two bundles, or with --store two runs, side by side, aligned by step. replay FILE "
         "replays bundles with the code of --app.\n\n"
         "Nothing in a file is trusted.",
     .example = "holdfast bundle export order-42 --store orders.db --out order-42.json",
     .args = {{"ACTION", "export verify import diff replay", false}, {"NAME", NULL, false}},
     .many = true,
     .flags = FLAGS_COMMON | BIT(HF_CLI_FLAG_STORE) | BIT(HF_CLI_FLAG_SCHEMA) |
              BIT(HF_CLI_FLAG_NAMESPACE) | BIT(HF_CLI_FLAG_KEY) | BIT(HF_CLI_FLAG_PUBLIC_KEY) |
              BIT(HF_CLI_FLAG_SIGN) | BIT(HF_CLI_FLAG_REDACT) | BIT(HF_CLI_FLAG_OUT) |
              BIT(HF_CLI_FLAG_APP),
     .formats = FORMATS_ROWS | FORM(HF_CLI_NONE),
     .exits = {{HF_CLI_EXIT_OK, "done; verify: the bundle is sound; diff: no difference"},
               {HF_CLI_EXIT_FAILED, "verify: it is not; diff: they differ"},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, NULL},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_REPLAY, "replay: a run would block"},
               {HF_CLI_EXIT_OWNED, NULL},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_FULL, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_bundle},
    {.name = "replay",
     .summary = "would this build of a program still replay the runs of a store",
     .text =
         "The gate before a deployment. Takes the newest open runs out of the store, gives "
         "them to the program of --app (run as PROGRAM replay - -o json) and prints those "
         "whose replay would block: at which step and, as far as the program knows, at which "
         "source line. Histories that cannot be read are named and the others tried all the same. "
         "Runs of types that the program does not have are counted and no more. "
         "The store is only read, and no activity runs.",
     .example = "holdfast replay check --app ./order --sample running:500 --store orders.db",
     .args = {{"ACTION", "check", false}},
     .store = true,
     .flags = FLAGS_COMMON | BIT(HF_CLI_FLAG_STORE) | BIT(HF_CLI_FLAG_SCHEMA) |
              BIT(HF_CLI_FLAG_NAMESPACE) | BIT(HF_CLI_FLAG_APP) | BIT(HF_CLI_FLAG_SAMPLE) |
              BIT(HF_CLI_FLAG_TYPE) | BIT(HF_CLI_FLAG_BLOCKED),
     .formats = FORMATS_ROWS | FORM(HF_CLI_NONE),
     .exits = {{HF_CLI_EXIT_OK, "all of them replay"},
               {HF_CLI_EXIT_FAILED, "some histories cannot be read"},
               {HF_CLI_EXIT_USAGE, "wrong usage, or a program that does not use hf_main"},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such program or store"},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_REPLAY, "a run would block"},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_replay},
    {.name = "sql",
     .summary = "ask a store in SQL, reading only",
     .text = "Runs one SELECT over the tables and the documented views v_runs, v_events, v_waits, "
             "v_activities, v_failures and v_tasks, on a connection that cannot write. It ends "
             "after 10 seconds, 10,000 rows or 64 MiB.",
     .example = "holdfast sql orders.db 'select instance_id, status from v_runs limit 5'",
     .args = {{"STORE", NULL, true}, {"STATEMENT", NULL, false}},
     .store = true,
     .flags = FLAGS_COMMON | BIT(HF_CLI_FLAG_SCHEMA),
     .formats = FORMATS_ROWS,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, "wrong usage, a statement that does not only read, or too much"},
               {HF_CLI_EXIT_UNREACHABLE, NULL},
               {HF_CLI_EXIT_DENIED, NULL},
               {HF_CLI_EXIT_NOTFOUND, NULL},
               {HF_CLI_EXIT_SERVER, NULL},
               {HF_CLI_EXIT_TIMEOUT, "it took too long"},
               {HF_CLI_EXIT_NOTASTORE, NULL},
               {HF_CLI_EXIT_NEWER, NULL},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_sql},
    {.name = "config",
     .summary = "print every setting with its source",
     .text = "A flag wins over the environment, the environment over the settings file, the file "
             "over the default. The file has lines of the form name = value; lines that begin "
             "with # or ; are comments. Passwords are printed as ***.",
     .example = "HF_URL=orders.db holdfast config",
     .flags = FLAGS_COMMON | BIT(HF_CLI_FLAG_SCHEMA),
     .formats = FORMATS_ROWS,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, "wrong usage, or a setting that cannot be understood"},
               {HF_CLI_EXIT_DENIED, "the settings file cannot be read"},
               {HF_CLI_EXIT_NOTFOUND, "the file of --config does not exist"},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_config},
    {.name = "completion",
     .summary = "print a completion script for a shell",
     .text = "Completes commands, flags and their values, and what a server or store knows: ids, "
             "types, names of signals, updates and queries. completion words VERB WORD... is what "
             "the scripts ask for those; it takes no longer than 300 ms.",
     .example = "source <(holdfast completion bash)",
     .args = {{"SHELL", "bash zsh fish words", false}, {"WORD", NULL, true}},
     .many = true,
     .exits = {{HF_CLI_EXIT_OK, NULL}, {HF_CLI_EXIT_USAGE, NULL}, {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_completion},
    {.name = "help",
     .summary = "print help, for one command or for all",
     .text = "With --markdown or --man it prints everything, as the reference page or as the "
             "manual page.",
     .example = "holdfast help verify",
     .args = {{"COMMAND", "COMMAND", true}},
     .flags = BIT(HF_CLI_FLAG_MARKDOWN) | BIT(HF_CLI_FLAG_MAN),
     .exits = {{HF_CLI_EXIT_OK, NULL}, {HF_CLI_EXIT_USAGE, NULL}, {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_help},
    {.name = "version",
     .summary = "print the version of this program",
     .text = "Works without a store.",
     .example = "holdfast version -o json",
     .flags = FLAGS_COMMON,
     .formats = FORM(HF_CLI_TABLE) | FORM(HF_CLI_JSON),
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, "wrong usage, or a setting that cannot be understood"},
               {HF_CLI_EXIT_DENIED, "the settings file cannot be read"},
               {HF_CLI_EXIT_NOTFOUND, "the file of --config does not exist"},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_version},
};

/* How many characters must be put in, taken out or changed to make `b` of `a`. */
static size_t name_distance(const char *a, const char *b)
{
    size_t row[NAME_BYTES_MAX + 1];
    size_t len = strlen(b);

    HF_ASSERT(len <= NAME_BYTES_MAX);
    for (size_t j = 0; j <= len; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= len; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t in_or_out = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < in_or_out ? change : in_or_out;
        }
    }
    return row[len];
}

/* Keeps in *best whichever of *best and `candidate` is nearer to `name`. */
static void name_nearer(const char *name, const char *candidate, const char **best,
                        size_t *best_distance)
{
    size_t longer = strlen(name) > strlen(candidate) ? strlen(name) : strlen(candidate);
    size_t distance = longer > NAME_BYTES_MAX ? longer : name_distance(name, candidate);

    if (distance < longer && (!*best || distance < *best_distance)) {
        *best = candidate;
        *best_distance = distance;
    }
}

const hf_cli_command *hf_cli_command_at(size_t i)
{
    const hf_cli_command *parts[] = {hf_cli_daily, hf_cli_nouns};

    for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
        size_t count = 0;

        while (parts[part][count].name)
            count++;
        if (i < count)
            return &parts[part][i];
        i -= count;
    }
    return i < sizeof(command_table) / sizeof(command_table[0]) ? &command_table[i] : NULL;
}

const hf_cli_command *hf_cli_command_find(const char *name)
{
    const hf_cli_command *command;

    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

const hf_cli_flag *hf_cli_flag_at(hf_cli_flag_id id)
{
    HF_ASSERT(id < HF_CLI_FLAG_COUNT);
    return &flag_table[id];
}

bool hf_cli_command_takes(const hf_cli_command *command, hf_cli_flag_id id)
{
    if (id >= HF_CLI_FLAG_OUTPUT)
        return command->formats || id == HF_CLI_FLAG_HELP;
    return ((id < 64 ? command->flags : command->more) >> (id % 64)) & 1;
}

const char *hf_cli_format_text(hf_cli_format format)
{
    static const char *const texts[] = {
#define HF_CLI_FORMAT(id, text) text,
#include "cli/format.def"
#undef HF_CLI_FORMAT
    };

    HF_ASSERT(format < HF_CLI_FORMAT_COUNT);
    return texts[format];
}

bool hf_cli_choice(const char *choices, hf_slice word)
{
    hf_slice rest = hf_slice_of(choices);
    hf_slice part;

    while (hf_slice_split(&rest, ' ', &part))
        if (hf_slice_equal(part, word))
            return true;
    return false;
}

const char *hf_cli_command_nearest(const char *name)
{
    const hf_cli_command *command;
    const char *best = NULL;
    size_t best_distance = 0;

    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        name_nearer(name, command->name, &best, &best_distance);
    return best;
}

const char *hf_cli_flag_nearest(const hf_cli_command *command, const char *name)
{
    const char *best = NULL;
    size_t best_distance = 0;

    for (size_t i = 0; i < HF_CLI_FLAG_COUNT; i++)
        if (hf_cli_command_takes(command, (hf_cli_flag_id)i))
            name_nearer(name, flag_table[i].name, &best, &best_distance);
    return best;
}
