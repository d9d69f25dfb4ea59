/* report.c: see report.h. Keys become a JSON object. */
#include "verify/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "verify/invariant.h"

enum { SENTENCE_BYTES_MAX = 1024 };

void hf_report_init(hf_report *report, hf_finding_fn *found, void *ctx)
{
    *report = (hf_report){.found = found, .ctx = ctx};
}

void hf_report_fini(hf_report *report)
{
    hf_buf_fini(&report->keys);
}

static void keys_write(hf_buf *out, const hf_report_key *keys, size_t count)
{
    const char *comma = "";

    hf_buf_clear(out);
    hf_buf_add_byte(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (!keys[i].name)
            continue;
        hf_buf_add_format(out, "%s\"%s\":", comma, keys[i].name);
        if (keys[i].text) {
            hf_buf_add_byte(out, '"');
            hf_json_add_escaped(out, hf_slice_of(keys[i].text));
            hf_buf_add_byte(out, '"');
        } else {
            hf_buf_add_format(out, "%" PRId64, keys[i].number);
        }
        comma = ",";
    }
    hf_buf_add_byte(out, '}');
}

void hf_report_add(hf_report *report, int invariant, const hf_report_key *keys, size_t count,
                   const char *format, ...)
{
    const hf_invariant *what = hf_invariant_get(invariant);
    char sentence[SENTENCE_BYTES_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    keys_write(&report->keys, keys, count);
    report->count++;
    if (!hf_buf_ok(&report->keys)) {
        report->failed = true;
        return;
    }
    if (report->found) {
        const hf_finding finding = {.invariant = what->text,
                                    .severity = hf_severity_text(what->severity),
                                    .repairable = what->repairable,
                                    .keys = hf_buf_text(&report->keys),
                                    .sentence = sentence};

        report->found(report->ctx, &finding);
    }
}

hf_status hf_report_status(const hf_report *report, hf_err *err)
{
    return report->failed ? hf_err_nomem(err, "a finding") : HF_OK;
}
