/* rows.c: see rows.h. */
#include "cli/rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/value.h"

enum { COLUMN_WIDTH = 20, FIELD_WIDTH = 24 };

hf_status hf_cli_rows_columns(hf_cli_call *call, const hf_cli_column *otherwise,
                              const hf_cli_column **out_columns, hf_err *err)
{
    hf_slice rest = hf_slice_of(call->flags[HF_CLI_FLAG_COLUMNS]);
    hf_cli_column *columns;
    hf_slice name;
    size_t count = 0;

    *out_columns = otherwise;
    if (!rest.len)
        return HF_OK;
    columns = hf_mem_array(call->mem, rest.len + 1, sizeof(*columns));
    while (columns && hf_slice_split(&rest, ',', &name)) {
        columns[count] =
            (hf_cli_column){.key = hf_mem_text(call->mem, name),
                            .width = name.len > COLUMN_WIDTH ? (int)name.len : COLUMN_WIDTH};
        if (!columns[count++].key)
            columns = NULL;
    }
    *out_columns = columns;
    return columns ? HF_OK : hf_err_nomem(err, "the columns");
}

hf_status hf_cli_rows_fit(const hf_cli_call *call, const hf_cli_column *columns, hf_value row,
                          hf_err *err)
{
    if (!call->flags[HF_CLI_FLAG_COLUMNS])
        return HF_OK;
    for (; columns->key; columns++)
        if (!hf_get(row, columns->key))
            return hf_err_set(err, HF_INVALID, "there is no column %s; -o json shows which are",
                              columns->key);
    return HF_OK;
}

hf_status hf_cli_rows_print(hf_cli_call *call, const char *name, const hf_cli_column *columns,
                            hf_value rows, hf_err *err)
{
    hf_value_list *whole;
    hf_status st = hf_cli_rows_columns(call, columns, &columns, err);

    if (st)
        return st;
    if (call->print.format == HF_CLI_JSON) {
        whole = hf_value_object(call->mem);
        hf_value_set(whole, hf_slice_of(name), rows);
        return hf_cli_print_value(call->print.out, hf_value_finish(whole), err);
    }
    if (hf_len(rows))
        st = hf_cli_rows_fit(call, columns, hf_at(rows, 0), err);
    for (size_t i = 0; !st && i < hf_len(rows); i++)
        st = hf_cli_print_row(&call->print, columns, hf_at(rows, i), err);
    return st;
}

static void member_print(hf_cli_call *call, hf_slice key, hf_value value)
{
    FILE *out = call->print.out;
    const char *text = hf_value_kind_of(value) == HF_VALUE_STRING ? hf_str(value, "", "")
                                                                  : hf_text(call->mem, value);

    if (hf_value_kind_of(value) == HF_VALUE_NULL || !text || !*text)
        return;
    (void)fprintf(out, "%-*.*s ", FIELD_WIDTH, (int)key.len, key.ptr);
    hf_cli_print_text(out, text);
    (void)fputc('\n', out);
}

hf_status hf_cli_thing_print(hf_cli_call *call, const hf_cli_column *columns, hf_value thing,
                             hf_err *err)
{
    hf_slice key;
    hf_value value;

    switch (call->print.format) {
    case HF_CLI_JSON:
    case HF_CLI_JSONL:
        return hf_cli_print_value(call->print.out, thing, err);
    case HF_CLI_TABLE:
    case HF_CLI_WIDE:
        for (size_t i = 0; hf_value_member(thing, i, &key, &value); i++)
            member_print(call, key, value);
        return HF_OK;
    case HF_CLI_CSV:
    case HF_CLI_NAME:
        return hf_cli_print_row(&call->print, columns, thing, err);
    case HF_CLI_NONE:
    case HF_CLI_FORMAT_COUNT:
        break;
    }
    return HF_OK;
}

hf_status hf_cli_confirm(hf_cli_call *call, const char *question, hf_err *err)
{
    const char *no_input = getenv("HF_NO_INPUT");
    char line[16] = "";

    if (call->flags[HF_CLI_FLAG_YES])
        return HF_OK;
    if ((no_input && *no_input) || !isatty(STDIN_FILENO))
        return hf_err_set(err, HF_INVALID, "%s Say so with --yes", question);
    hf_cli_print_text(call->print.err, question);
    (void)fputs(" [y/N] ", call->print.err);
    (void)fflush(call->print.err);
    if (fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y'))
        return HF_OK;
    return hf_err_set(err, HF_CANCELLED, "nothing was changed");
}
