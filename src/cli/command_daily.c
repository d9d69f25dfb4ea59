/* command_daily.c: the rows of the table for verbs that work with a server or a store. */
#include "cli/command_table.h"
#include "cli/verbs.h"

const hf_cli_command hf_cli_daily[] = {
    {.name = "start",
     .summary = "start a workflow",
     .text =
         "Starts a workflow of TYPE and prints its id, run and command. INPUT is JSON, @FILE, - "
         "for standard input, or pairs: name=text and name:=JSON. With --wait it stays until the "
         "run is closed and prints its result, and the exit code says how it ended." TEXT_STORE,
     .example = "holdfast start order sku=TEA-1 amount:=90 --id order-42 --wait",
     .args = {{"TYPE", NULL, false}, {"INPUT", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_ID) | BIT(HF_CLI_FLAG_WAIT) |
              BIT(HF_CLI_FLAG_TIMEOUT) | BIT(HF_CLI_FLAG_DUP) | BIT(HF_CLI_FLAG_BUSINESS_KEY) |
              BIT(HF_CLI_FLAG_LABEL) | BIT(HF_CLI_FLAG_QUEUE) | BIT(HF_CLI_FLAG_EXECUTION_TIMEOUT) |
              BIT(HF_CLI_FLAG_RUN_TIMEOUT) | BIT(HF_CLI_FLAG_DEDUP) | BIT(HF_CLI_FLAG_DELAY),
     .more = MORE(HF_CLI_FLAG_CORRELATION_KEY) | MORE(HF_CLI_FLAG_CORRELATION_SCOPE) |
             MORE(HF_CLI_FLAG_PRIORITY) | MORE(HF_CLI_FLAG_CONCURRENCY_KEY) |
             MORE(HF_CLI_FLAG_RATE_LIMIT) | MORE(HF_CLI_FLAG_WEIGHT),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXITS_END},
     .run = hf_cli_start},
    {.name = "ls",
     .summary = "list runs, newest first",
     .text = "Lists runs. Each QUERY is part of an id, or a filter: type=order, status=failed, "
             "id=order-42; every field of the list can be one: queue=billing, "
             "business_key=B-7, wait_kind=timer; label=team=blue and search_attribute=amount>=5 "
             "take a name as well; q='is:open -type:order' is a line as the console has it, in "
             "which a minus leaves out. A filter that is not known, or is given twice, is refused. "
             "With "
             "--watch it goes on and prints what is new or has changed.\n\nReading a store never "
             "changes it and works while a server owns it.",
     .example = "holdfast ls type=order status=running --columns workflow_id,started_at",
     .args = {{"QUERY", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_LIMIT) | BIT(HF_CLI_FLAG_COLUMNS) |
              BIT(HF_CLI_FLAG_WATCH) | BIT(HF_CLI_FLAG_VIEW),
     .more = MORE(HF_CLI_FLAG_ORDER),
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such store or namespace"},
               EXITS_TARGET},
     .run = hf_cli_ls},
    {.name = "show",
     .summary = "show one run: how it stands, its steps, its result",
     .text = "Shows the newest run of a workflow, or with ID#N its nth; with --step one of its "
             "steps, with its activity and its events; with --at as it was after an event. The "
             "json format is what "
             "the server has under /api/workflows/ID.",
     .example = "holdfast show order-42",
     .args = {{"ID", NULL, false}},
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_AT) | BIT(HF_CLI_FLAG_WATCH) |
              BIT(HF_CLI_FLAG_TIMEOUT) | BIT(HF_CLI_FLAG_STEP) | BIT(HF_CLI_FLAG_TREE),
     .formats = FORMATS_LIST,
     .exits = {EXITS_LOOK, EXITS_END},
     .run = hf_cli_show},
    {.name = "watch",
     .summary = "follow a run until it closes",
     .text = "Shows the run and its steps, on a terminal in place, else a line for each change, "
             "until it is closed; then its result. With --tree the runs that it started are below "
             "their steps, and what tells of its progress has a bar. Ctrl-C ends the watching and "
             "never the run.",
     .example = "holdfast watch order-42 --timeout 5m",
     .args = {{"ID", NULL, false}},
     .target = true,
     .flags =
         FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_TIMEOUT) | BIT(HF_CLI_FLAG_TREE),
     .formats = FORMATS_LIST,
     .exits = {EXITS_LOOK, EXITS_END},
     .run = hf_cli_watch},
    {.name = "result",
     .summary = "wait for a run and print its result",
     .text = "Waits until the run is closed and prints its result as JSON. The exit code says how "
             "it ended, so that a script can tell without reading anything.",
     .example = "holdfast result order-42 --timeout 30s",
     .args = {{"ID", NULL, false}},
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_TIMEOUT),
     .formats = FORMATS_RESULT | FORM(HF_CLI_JSONL),
     .exits = {EXITS_LOOK, EXITS_END},
     .run = hf_cli_result},
    {.name = "signal",
     .summary = "send a signal to a workflow",
     .text = "Sends the signal NAME with INPUT (see start) to the newest run." TEXT_STORE,
     .example = "holdfast signal order-42 approved by=ada --dedup mail-77",
     .args = {{"ID", NULL, false}, {"NAME", NULL, false}, {"INPUT", NULL, true}},
     .many = true,
     .target = true,
     .flags =
         FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) | BIT(HF_CLI_FLAG_REASON),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN},
     .run = hf_cli_signal},
    {.name = "update",
     .summary = "send an update to a workflow and print its answer",
     .text = "Sends the update NAME with INPUT (see start) and waits, at most --timeout and a "
             "minute, for the answer of the workflow." TEXT_STORE,
     .example = "holdfast update order-42 address street=Quai --timeout 20s",
     .args = {{"ID", NULL, false}, {"NAME", NULL, false}, {"INPUT", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_TIMEOUT) | BIT(HF_CLI_FLAG_WAIT_FOR) | BIT(HF_CLI_FLAG_REASON),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN},
     .run = hf_cli_update},
    {.name = "query",
     .summary = "ask a workflow something",
     .text =
         "Asks the newest run the query NAME with INPUT (see start) and prints the answer. Nothing "
         "is recorded. On a store the code must be in this program, or no one can answer.",
     .example = "holdfast query order-42 status",
     .args = {{"ID", NULL, false}, {"NAME", NULL, false}, {"INPUT", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET,
     .formats = FORMATS_RESULT,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN},
     .run = hf_cli_query},
    {.name = "cancel",
     .summary = "cancel workflows",
     .text = "Cancels the newest run of each. With --cleanup its code hears of it first and may "
             "clean up." TEXT_STORE,
     .example = "holdfast cancel order-42 order-43 --reason recall",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_CLEANUP) | BIT(HF_CLI_FLAG_DRY_RUN),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN, {HF_CLI_EXIT_PARTLY, "some of several were refused"}},
     .run = hf_cli_order},
    {.name = "terminate",
     .summary = "end workflows at once",
     .text = "Ends the newest run of each at once: no code runs any more, nothing is cleaned up. A "
             "reason is needed." TEXT_STORE,
     .example = "holdfast terminate order-42 --reason stuck",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DRY_RUN),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN, {HF_CLI_EXIT_PARTLY, "some of several were refused"}},
     .run = hf_cli_order},
    {.name = "repair",
     .summary = "make open work that is missing again from history",
     .text = "Looks at what history says must be open and makes what is missing. It is safe to "
             "repeat." TEXT_STORE,
     .example = "holdfast repair order-42",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_DRY_RUN) | BIT(HF_CLI_FLAG_REASON),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN, {HF_CLI_EXIT_PARTLY, "some of several were refused"}},
     .run = hf_cli_order},
    {.name = "archive",
     .summary = "mark closed runs as archived",
     .text = "Marks the newest run of each, which must be closed, as archived." TEXT_STORE,
     .example = "holdfast archive order-42 --reason done",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DRY_RUN),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN, {HF_CLI_EXIT_PARTLY, "some of several were refused"}},
     .run = hf_cli_order},
    {.name = "pause",
     .summary = "let workflows rest",
     .text = "A paused run records what happens to it and does nothing: no code runs and no "
             "attempt begins until it is resumed. Its deadlines go on." TEXT_STORE,
     .example = "holdfast pause order-42 --reason audit",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DRY_RUN),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN, {HF_CLI_EXIT_PARTLY, "some of several were refused"}},
     .run = hf_cli_order},
    {.name = "resume",
     .summary = "let paused workflows go on",
     .text = "Lets paused runs go on." TEXT_STORE,
     .example = "holdfast resume order-42",
     .args = {{"ID", NULL, false}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_DEDUP) |
              BIT(HF_CLI_FLAG_REASON) | BIT(HF_CLI_FLAG_DRY_RUN),
     .formats = FORMATS_LIST,
     .exits = {EXITS_CHANGE, EXIT_NO_RUN, {HF_CLI_EXIT_PARTLY, "some of several were refused"}},
     .run = hf_cli_order},
    {.name = "history",
     .summary = "print the events of a run",
     .text = "Prints the events of the newest run of a workflow, or with ID#N of its nth. With "
             "--follow it goes on until the run is closed; with --at it ends with an event. The "
             "json formats have the whole events, "
             "as they are recorded.",
     .example = "holdfast history order-42 --kinds ActivityStarted,ActivityCompleted",
     .args = {{"ID", NULL, false}},
     .target = true,
     .flags = FLAGS_TARGET | BIT(HF_CLI_FLAG_RUN) | BIT(HF_CLI_FLAG_FOLLOW) |
              BIT(HF_CLI_FLAG_AFTER) | BIT(HF_CLI_FLAG_AT) | BIT(HF_CLI_FLAG_KINDS) |
              BIT(HF_CLI_FLAG_TIMEOUT),
     .formats = FORMATS_LIST,
     .exits = {EXITS_LOOK, {HF_CLI_EXIT_INTERRUPTED, NULL}},
     .run = hf_cli_history},
    {.name = "namespace",
     .summary = "list, show, make and change namespaces",
     .text = "ls lists the namespaces that the credential may see, show prints one. create makes "
             "one and "
             "set changes it; both take pairs: retention_days:=30 description=text.",
     .example = "holdfast namespace create billing retention_days:=90 description=Invoices",
     .args = {{"ACTION", "ls show create set", false}, {"NAME", NULL, true}, {"PAIR", NULL, true}},
     .many = true,
     .target = true,
     .flags = FLAGS_TARGET,
     .formats = FORMATS_LIST,
     .exits = {{HF_CLI_EXIT_OK, NULL},
               {HF_CLI_EXIT_NOTFOUND, "there is no such namespace"},
               {HF_CLI_EXIT_OWNED, NULL},
               EXITS_TARGET},
     .run = hf_cli_namespace},
    {.name = NULL},
};
