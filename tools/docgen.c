/* docgen.c: prints docs/reference/vocabulary.md from the .def files and the life cycle tables, and
   with the argument http docs/reference/http.md from the table of routes, so that the pages cannot
   say anything else than the code. The build makes it as tools/docgen;
   `build/tools/docgen > docs/reference/vocabulary.md` writes a page, and the tests compare. The
   exit code is 1 when the page could not be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/event.h"
#include "model/limit.h"
#include "model/machine.h"
#include "model/name.h"
#include "model/vocab.h"
#include "server/route.h"

/* Text inside a table cell: a bar would end the cell. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
}

static const char *origin_mark(hf_vocab_origin origin)
{
    return origin == HF_EXTENSION ? " (ext.)" : "";
}

/* The anchor of a heading, as the usual Markdown renderers make it. */
static void print_anchor(const char *title)
{
    for (; *title; title++) {
        char c = *title;

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c == ' ')
            putchar('-');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')
            putchar(c);
    }
}

static void print_heading(const hf_vocab *list)
{
    printf("\n## %s\n\n%s C: `hf_%s`.\n\n", list->title, list->sentence, list->name);
}

static void print_flags(hf_event_type type)
{
    static const struct {
        hf_event_flag flag;
        const char *words;
    } flags[] = {
        {HF_EVENT_CLOSES, "closes the run"},     {HF_EVENT_AFTER_CLOSE, "may follow the close"},
        {HF_EVENT_OPENS, "opens a step"},        {HF_EVENT_RESOLVES, "resolves a step"},
        {HF_EVENT_OUTSIDE, "outside fact"},      {HF_EVENT_COMMAND, "of a command"},
        {HF_EVENT_SCHEDULE, "schedule history"},
    };
    const char *between = "";

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (hf_event_has_flag(type, flags[i].flag)) {
            printf("%s%s", between, flags[i].words);
            between = ", ";
        }
    }
}

/* The keys of a type by number, the published or our own. */
static void print_keys(hf_event_type type, bool published)
{
    const char *between = "";

    for (size_t i = 0; i < hf_event_key_list.count; i++) {
        hf_event_key key = (hf_event_key)hf_event_key_list.items[i].number;

        if (hf_event_key_allowed(type, key) && hf_event_key_published(type, key) == published) {
            printf("%s`%s`", between, hf_event_key_text(key));
            between = ", ";
        }
    }
}

static bool has_own_keys(hf_event_type type)
{
    for (size_t i = 0; i < hf_event_key_list.count; i++) {
        hf_event_key key = (hf_event_key)hf_event_key_list.items[i].number;

        if (hf_event_key_allowed(type, key) && !hf_event_key_published(type, key))
            return true;
    }
    return false;
}

static void print_events(const hf_vocab *list)
{
    print_heading(list);
    printf(
        "An outside fact is one that workflow code did not decide; over one of a command a staged "
        "turn may be re-based. Stored keys are "
        "kept beside the published ones and shown inside the snapshots they belong to.\n\n"
        "| No. | Type | Meaning | Flags |\n| ---: | --- | --- | --- |\n");
    for (size_t i = 0; i < list->count; i++) {
        const hf_vocab_item *item = &list->items[i];

        printf("| %d | `%s`%s | ", item->number, item->text, origin_mark(item->origin));
        print_cell(item->sentence);
        printf(" | ");
        print_flags((hf_event_type)item->number);
        printf(" |\n");
    }
    printf("\n### Keys of each event type\n\n");
    for (size_t i = 0; i < list->count; i++) {
        hf_event_type type = (hf_event_type)list->items[i].number;

        printf("- **%s**: ", list->items[i].text);
        print_keys(type, true);
        if (has_own_keys(type)) {
            printf("; stored: ");
            print_keys(type, false);
        }
        printf("\n");
    }
}

static void print_event_keys(const hf_vocab *list)
{
    print_heading(list);
    printf("| No. | Key | Kind | Meaning |\n| ---: | --- | --- | --- |\n");
    for (size_t i = 0; i < list->count; i++) {
        const hf_vocab_item *item = &list->items[i];

        printf("| %d | `%s`%s | %s | ", item->number, item->text, origin_mark(item->origin),
               hf_field_kind_text(hf_event_key_kind((hf_event_key)item->number)));
        print_cell(item->sentence);
        printf(" |\n");
    }
}

static void print_repair_reasons(const hf_vocab *list)
{
    print_heading(list);
    printf("| No. | Word | Label | Tone | Badge | Meaning |\n| ---: | --- | --- | --- | --- | --- "
           "|\n");
    for (size_t i = 0; i < list->count; i++) {
        const hf_vocab_item *item = &list->items[i];
        const hf_repair_blocked_look *look =
            hf_repair_blocked_look_get((hf_repair_blocked_reason)item->number);

        printf("| %d | `%s` | %s | %s | %s | ", item->number, item->text, look->label, look->tone,
               look->badge ? "yes" : "no");
        print_cell(item->sentence);
        printf(" |\n");
    }
}

static void print_limits(const hf_vocab *list)
{
    print_heading(list);
    printf("| No. | Key | Default | Unit | Trips at | Meaning |\n"
           "| ---: | --- | ---: | --- | --- | --- |\n");
    for (size_t i = 0; i < list->count; i++) {
        const hf_vocab_item *item = &list->items[i];
        const hf_limit_row *row = hf_limit_get((hf_limit)item->number);

        printf("| %d | `%s`%s | %lld | %s | %s | ", item->number, item->text,
               origin_mark(item->origin), (long long)row->standard, hf_limit_unit_text(row->unit),
               row->rule == HF_LIMIT_RULE_PLAIN ? "" : hf_limit_rule_text(row->rule));
        print_cell(item->sentence);
        printf(" |\n");
    }
}

static void print_names(const hf_vocab *list)
{
    print_heading(list);
    printf("| No. | Name | Characters | Allowed | Meaning |\n| ---: | --- | ---: | --- | --- |\n");
    for (size_t i = 0; i < list->count; i++) {
        const hf_vocab_item *item = &list->items[i];
        hf_name_kind kind = (hf_name_kind)item->number;

        printf("| %d | %s%s | 1 to %d | %s | ", item->number, item->text, origin_mark(item->origin),
               hf_name_longest(kind), hf_name_alphabet_text(hf_name_alphabet_of(kind)));
        print_cell(item->sentence);
        printf(" |\n");
    }
}

static void print_words(const hf_vocab *list)
{
    print_heading(list);
    printf("| No. | Word | Meaning |\n| ---: | --- | --- |\n");
    for (size_t i = 0; i < list->count; i++) {
        const hf_vocab_item *item = &list->items[i];

        printf("| %d | `%s`%s | ", item->number, item->text, origin_mark(item->origin));
        print_cell(item->sentence);
        printf(" |\n");
    }
}

/* Lists with more columns than number, word and meaning. */
static const struct {
    const hf_vocab *list;
    void (*print)(const hf_vocab *list);
} special_lists[] = {
    {&hf_event_type_list, print_events},
    {&hf_event_key_list, print_event_keys},
    {&hf_repair_blocked_reason_list, print_repair_reasons},
    {&hf_limit_list, print_limits},
    {&hf_name_kind_list, print_names},
};

static void print_list(const hf_vocab *list)
{
    for (size_t i = 0; i < sizeof(special_lists) / sizeof(special_lists[0]); i++) {
        if (special_lists[i].list == list) {
            special_lists[i].print(list);
            return;
        }
    }
    print_words(list);
}

static void print_machine(const hf_machine *machine)
{
    printf(
        "\n### Life cycle: %s\n\n| In state | When | Goes to | Why |\n| --- | --- | --- | --- |\n",
        machine->name);
    for (size_t i = 0; i < machine->count; i++) {
        const hf_machine_row *row = &machine->rows[i];

        printf("| %s | %s | %s | ", hf_machine_state_text(machine, row->from),
               hf_vocab_text(machine->happenings, row->on),
               hf_machine_state_text(machine, row->to));
        print_cell(row->why);
        printf(" |\n");
    }
}

/* The page of the HTTP API. */
static void print_http(void)
{
    hf_buf page = {0};

    hf_route_markdown(&page);
    printf("%s", hf_buf_text(&page));
    hf_buf_fini(&page);
}

static void print_vocabulary(void)
{
    printf(
        "# Vocabulary\n\n"
        "Every word the engine stores, sends or shows, generated from `src/model/*.def` by "
        "`tools/docgen.c`: change it there, not here.\nNumbers are what databases hold; they are "
        "never reused. Words marked (ext.) are Holdfast's own, all others are published.\n\n");
    for (size_t i = 0; hf_vocab_at(i); i++) {
        printf("- [%s](#", hf_vocab_at(i)->title);
        print_anchor(hf_vocab_at(i)->title);
        printf(")\n");
    }
    printf("- [Life cycles](#life-cycles)\n");
    for (size_t i = 0; hf_vocab_at(i); i++)
        print_list(hf_vocab_at(i));
    printf("\n## Life cycles\n\nWhat is not in a table is refused.\n");
    for (size_t i = 0; hf_machine_at(i); i++)
        print_machine(hf_machine_at(i));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "http") == 0)
        print_http();
    else
        print_vocabulary();
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
