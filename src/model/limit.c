/* limit.c: the table of limit.def. Bounds are declared there and nowhere else. */
#include "model/limit.h"

#include "base/assert.h"

static const hf_limit_row limit_rows[] = {
#define HF_LIMIT(enumerator, number, text, standard, unit, rule, origin, sentence)                 \
    {enumerator, standard, unit, rule},
#include "model/limit.def"
#undef HF_LIMIT
};

const hf_limit_row *hf_limit_get(hf_limit limit)
{
    for (size_t i = 0; i < sizeof(limit_rows) / sizeof(limit_rows[0]); i++) {
        if (limit_rows[i].limit == limit)
            return &limit_rows[i];
    }
    return NULL;
}

const char *hf_limit_unit_text(hf_limit_unit unit)
{
    switch (unit) {
    case HF_LIMIT_UNIT_COUNT:
        return "count";
    case HF_LIMIT_UNIT_BYTES:
        return "bytes";
    case HF_LIMIT_UNIT_CHARACTERS:
        return "characters";
    case HF_LIMIT_UNIT_PERCENT:
        return "percent";
    case HF_LIMIT_UNIT_MILLISECONDS:
        return "milliseconds";
    case HF_LIMIT_UNIT_SECONDS:
        return "seconds";
    }
    return "unknown";
}

const char *hf_limit_rule_text(hf_limit_rule rule)
{
    switch (rule) {
    case HF_LIMIT_RULE_COUNT:
        return "count >= limit";
    case HF_LIMIT_RULE_SIZE:
        return "value > limit";
    case HF_LIMIT_RULE_PLAIN:
        return "as it is";
    }
    return "unknown";
}

bool hf_limit_trips(hf_limit limit, int64_t configured, int64_t value)
{
    const hf_limit_row *row = hf_limit_get(limit);

    if (!row || configured <= 0)
        return false;
    switch (row->rule) {
    case HF_LIMIT_RULE_COUNT:
        return value >= configured;
    case HF_LIMIT_RULE_SIZE:
        return value > configured;
    case HF_LIMIT_RULE_PLAIN:
        break;
    }
    return false;
}

int64_t hf_limit_warning(int64_t configured, int64_t percent)
{
    if (configured <= 0 || percent <= 0)
        return 0;
    if (percent > 100)
        percent = 100;
    /* In two parts, so that a huge limit does not overflow. */
    return configured / 100 * percent + configured % 100 * percent / 100;
}

int64_t hf_limit_us(hf_limit limit)
{
    const hf_limit_row *row = hf_limit_get(limit);

    HF_ASSERT(row && row->unit == HF_LIMIT_UNIT_SECONDS);
    return row->standard * 1000000;
}

hf_limits hf_limits_standard(void)
{
    hf_limits limits = {0};

    for (int i = 1; i <= HF_LIMITS_LAST; i++)
        limits.of[i] = hf_limit_get((hf_limit)i)->standard;
    return limits;
}

int64_t hf_limits_get(const hf_limits *limits, hf_limit limit)
{
    return limits && limit <= HF_LIMITS_LAST ? limits->of[limit] : hf_limit_get(limit)->standard;
}
