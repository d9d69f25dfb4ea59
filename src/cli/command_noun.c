/* command_noun.c: the rows of the table for things beside runs, and for copies of runs. */
#include "cli/command_table.h"
#include "cli/verbs.h"

#define FLAGS_NOUN                                                                                 \
    (FLAGS_TARGET | BIT(HF_CLI_FLAG_LIMIT) | BIT(HF_CLI_FLAG_COLUMNS) | BIT(HF_CLI_FLAG_WATCH))

const hf_cli_command hf_cli_nouns[] = {
    {.name = "fork",
     .summary = "begin a new workflow with the first steps of another",
     .text =
         "Copies the history of a run up to and with step N into a new workflow, which goes on "
         "from there; the run it is copied from is not touched. --id names the new one. Without "
         "--step everything that is settled is copied. Signals that came later come again "
         "only when --signals names them." TEXT_STORE,
     .example = "holdfast fork order-42 --step 3 --id order-42-again --reason \"wrong price\"",
     .args = {{"ID", NULL, false}},
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_STEP) | BIT(HF_CLI_FLAG_ID) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DEDUP),
     .more = MORE(HF_CLI_FLAG_SIGNALS),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN},
     .run = hf_cli_copy},
    {.name = "reset",
     .summary = "end a run and go on from one of its steps",
     .text =
         "The newest run ends, and the next run of the workflow begins with its steps up to and "
         "with step N. What comes behind is done again: activities that are not repeatable "
         "should say so. Signals that came later come again only when --signals names "
         "them." TEXT_STORE,
     .example = "holdfast reset order-42 --step 3 --reason \"fixed the address\"",
     .args = {{"ID", NULL, false}},
     .target = true,
     .flags =
         FLAGS_TARGET | BIT(HF_CLI_FLAG_STEP) | BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DEDUP),
     .more = MORE(HF_CLI_FLAG_SIGNALS),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN},
     .run = hf_cli_copy},
    {.name = "schedule",
     .summary = "runs that start by themselves: make, list, show, change them",
     .text =
         "create ID TYPE makes one, edit ID changes it; both take pairs. cron=\"0 9 * * 1-5\" or "
         "every=30m say when, with timezone=Europe/Berlin and offset=5m; input:=JSON and "
         "task_queue "
         "what; overlap_policy, jitter_seconds:=5, max_runs:=10, paused:=true, note and the other "
         "fields of the control plane are passed on.\n\n"
         "times ID lists when it fires between --from and --to. trigger fires now. backfill fires "
         "for every time between --from and --to; with --dry-run it lists them. history says what "
         "happened to it. delete ends it; its runs go on." TEXT_STORE,
     .example = "holdfast schedule create nightly import cron=\"0 2 * * *\" input:=[1]",
     .args = {{"ACTION", "create ls show times edit pause resume trigger backfill delete history",
               false},
              {"ID", NULL, true},
              {"PAIR", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_NOUN | BIT(HF_CLI_FLAG_QUEUE) | BIT(HF_CLI_FLAG_REASON) |
              BIT(HF_CLI_FLAG_DRY_RUN) | BIT(HF_CLI_FLAG_YES),
     .more = MORE(HF_CLI_FLAG_FROM) | MORE(HF_CLI_FLAG_TO),
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_schedule},
    {.name = "batch",
     .summary = "one command for many workflows",
     .text =
         "start COMMAND carries a command out for every ID, or for every workflow whose newest "
         "run matches --query, in the background and not faster than --rate. With --dry-run it "
         "says what would happen; otherwise it asks first, or wants --yes. ls lists the newest, "
         "show ID says how far it is; pause, resume and abort tell it to." TEXT_STORE,
     .example = "holdfast batch start cancel --query \"type=order status=running\" --rate 50 "
                "--reason recall --yes",
     .args = {{"ACTION", "start ls show pause resume abort", false},
              {"COMMAND", NULL, true},
              {"ID", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_NOUN | BIT(HF_CLI_FLAG_QUERY) | BIT(HF_CLI_FLAG_RATE) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DRY_RUN) | BIT(HF_CLI_FLAG_YES),
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN, {HF_CLI_EXIT_PARTLY, "it is over, and some refused"}},
     .run = hf_cli_batch},
    {.name = "workers",
     .summary = "the workers that a server knows",
     .text =
         "ls lists them, with --queue those of one task queue, show prints one. remove takes one "
         "away that is gone for good: what it held goes to others at once." TEXT_STORE,
     .example = "holdfast workers ls --queue billing",
     .args = {{"ACTION", "ls show remove", false}, {"ID", NULL, true}},
     .target = true,
     .flags = FLAGS_NOUN | BIT(HF_CLI_FLAG_QUEUE),
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_fleet},
    {.name = "build",
     .summary = "versions of workers at a task queue",
     .text =
         "ls lists the builds that work at the queue of --queue, show prints one. drain hands it "
         "no new tasks, so that it can be stopped; resume does so again. promote lets new runs of "
         "the queue carry the build, so that their workflow tasks go to its workers alone, until "
         "another is promoted, or \"\" for none. "
         "can-stop says whether open runs carry the build as their marker: exit code 1 while some "
         "do." TEXT_STORE,
     .example = "holdfast build drain 2026.04.1 --queue billing",
     .args = {{"ACTION", "ls show drain resume promote can-stop", false}, {"BUILD", NULL, true}},
     .target = true,
     .flags = FLAGS_NOUN | BIT(HF_CLI_FLAG_QUEUE),
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_fleet},
    {.name = "queue",
     .summary = "task queues: who serves them and what waits there",
     .text = "ls lists them, show prints one. pause hands out no tasks of the queue, whoever asks; "
             "what was handed out goes on, and so does what the engine's own process runs. resume "
             "ends that." TEXT_STORE,
     .example = "holdfast queue pause billing",
     .args = {{"ACTION", "ls show pause resume", false}, {"NAME", NULL, true}},
     .target = true,
     .flags = FLAGS_NOUN,
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_fleet},
    {.name = "task",
     .summary = "the worker protocol by hand",
     .text =
         "What a worker does, one request at a time, to see how it goes: register, then poll for "
         "an activity task, and complete it, let it fail, or show that it is alive. Pairs are "
         "the fields of the protocol; lease_owner is the worker_id, and activity_attempt_id "
         "comes with the task.",
     .example = "holdfast task poll worker_id=me task_queue=default timeout_seconds:=5 -o json",
     .args = {{"ACTION", "register poll complete fail heartbeat", false},
              {"TASK", NULL, true},
              {"PAIR", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET,
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_fleet},
    {.name = "view",
     .summary = "lists of runs that are kept under a name",
     .text =
         "save NAME keeps the filters behind it, which are those of ls; status says which runs, "
         "running if it is not given. ls lists them with their ids, ls --view ID of the verb ls "
         "shows one, delete ID forgets it." TEXT_STORE,
     .example = "holdfast view save \"stuck orders\" type=order wait_kind=timer",
     .args = {{"ACTION", "ls save delete", false}, {"NAME", NULL, true}, {"QUERY", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_NOUN,
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_survey},
    {.name = "failure",
     .summary = "failures in groups that differ in numbers only",
     .text =
         "ls lists the groups, newest first, each with its fingerprint; ls failure=FINGERPRINT of "
         "a store lists the runs. show prints one group." TEXT_STORE,
     .example = "holdfast failure ls --limit 10",
     .args = {{"ACTION", "ls show", false}, {"FINGERPRINT", NULL, true}},
     .target = true,
     .flags = FLAGS_NOUN,
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_survey},
    {.name = "type",
     .summary = "workflow types that have runs",
     .text = "ls lists them with how many runs each has, show prints one." TEXT_STORE,
     .example = "holdfast type ls",
     .args = {{"ACTION", "ls show", false}, {"TYPE", NULL, true}},
     .target = true,
     .flags = FLAGS_NOUN,
     .formats = FORMATS_LIST,
     .exits = {EXITS_NOUN},
     .run = hf_cli_survey},
    {.name = "top",
     .summary = "the numbers that operators look at",
     .text = "Prints how many runs, tasks and activities there are in which state, what waits and "
             "since when. With --watch again and again, on a terminal in place." TEXT_STORE,
     .example = "holdfast top --watch",
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_WATCH),
     .formats = FORMATS_ROWS | FORM(HF_CLI_NONE),
     .exits = {EXITS_NOUN},
     .run = hf_cli_top},
    {.name = "profile",
     .summary = "named places to go to: make, list, use, show them",
     .text =
         "set NAME keeps settings under a name: url, namespace, token_file, schema, output, "
         "color. use NAME chooses one for all commands from now on, HF_PROFILE for one of them. "
         "ls lists them, show prints the one that is in use or NAME, delete takes one away. "
         "Flags and the environment win over a profile, and a profile over the settings file, "
         "beside which profiles.json is kept. It never holds a credential.",
     .example = "holdfast profile set prod url=https://holdfast.example token_file=/run/hf-token",
     .args = {{"ACTION", "set ls use show delete", false},
              {"NAME", NULL, true},
              {"PAIR", NULL, true}},
     .many = true,
     .flags = FLAGS_COMMON,
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such profile"},
               {HF_CLI_EXIT_SERVER, "the file cannot be written"},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_profile},
    {.name = "docs",
     .summary = "short pages to read at the terminal",
     .text = "Prints one page, or which there are. agent has the recipes for programs that use the "
             "command line.",
     .example = "holdfast docs agent",
     .args = {{"TOPIC", NULL, true}},
     .flags = FLAGS_COMMON,
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_FAILED, NULL},
               {HF_CLI_EXIT_USAGE, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such page"},
               {HF_CLI_EXIT_PIPE, NULL}},
     .run = hf_cli_docs},
    {.name = NULL},
};
