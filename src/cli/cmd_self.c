/* cmd_self.c: the verbs about this program itself: version and config. */
#include "base/err.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

static const hf_cli_column setting_columns[] = {
    {"setting", 10, false}, {"value", 24, false}, {"source", 0, false}, {NULL, 0, false}};

static hf_value setting_value(hf_cli_call *call, hf_cli_setting_id id, hf_err *err)
{
    const char *value = call->settings.value[id];
    const char *shown = value ? hf_cli_address_mask(call->mem, value, NULL) : NULL;
    hf_value row = NULL;

    if (!value || shown)
        row = hf_json_(call->mem, "{'setting': %s, 'value': %s, 'source': %s}",
                       hf_cli_setting_at(id)->name, shown,
                       hf_cli_utf8(call->mem, call->settings.source[id]));
    if (!row)
        (void)hf_err_nomem(err, "the settings");
    return row;
}

hf_status hf_cli_config(hf_cli_call *call, hf_err *err)
{
    hf_value_list *list = hf_value_array(call->mem);
    hf_value whole;

    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++) {
        hf_value row = setting_value(call, (hf_cli_setting_id)id, err);
        hf_status st = row ? HF_OK : HF_NOMEM;

        if (row && call->print.format != HF_CLI_JSON)
            st = hf_cli_print_row(&call->print, setting_columns, row, err);
        if (st)
            return st;
        hf_value_append(list, row);
    }
    whole = hf_value_finish(list);
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(
            call->print.out, whole ? hf_json_(call->mem, "{'settings': %p}", (void *)whole) : NULL,
            err);
    return HF_OK;
}

hf_status hf_cli_version(hf_cli_call *call, hf_err *err)
{
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(
            call->print.out,
            hf_json_(call->mem, "{'name': 'holdfast', 'version': %s}", hf_version_text()), err);
    (void)fprintf(call->print.out, "holdfast %s\n", hf_version_text());
    return HF_OK;
}
