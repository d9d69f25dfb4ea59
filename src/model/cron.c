/* cron.c: see cron.h. The search goes from field to field, so that an expression that fires once in
   eight years costs as little as one that fires each minute. */
#include "model/cron.h"

#include "base/date.h"

enum { YEARS_MAX = 40, YEAR_LAST = 9998, FIELDS_MAX = 6, TEXT_MAX = 256, QUOTE_MAX = 64 };

/* Names of values in a field, three letters each, in order. */
typedef struct cron_field {
    const char *title;
    int low;
    int high; /* as written: 7 is another Sunday */
    const char *names;
    bool of_days; /* ? is allowed */
} cron_field;

static const cron_field fields[FIELDS_MAX] = {
    {"second", 0, 59, NULL, false},
    {"minute", 0, 59, NULL, false},
    {"hour", 0, 23, NULL, false},
    {"day of month", 1, 31, NULL, true},
    {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec", false},
    {"day of week", 0, 7, "sunmontuewedthufrisat", true},
};

static const struct {
    const char *name;
    const char *text;
} macros[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

static hf_status field_refuse(const cron_field *field, hf_slice text, const char *why, hf_err *err)
{
    return hf_err_set(err, HF_INVALID, "cron: %s \"%.*s\" %s", field->title, (int)text.len,
                      text.ptr, why);
}

static bool name_find(const cron_field *field, hf_slice text, int *out_value)
{
    if (!field->names || text.len != 3)
        return false;
    for (int i = 0; field->names[i * 3]; i++) {
        const char *name = field->names + i * 3;

        if ((text.ptr[0] | 32) == name[0] && (text.ptr[1] | 32) == name[1] &&
            (text.ptr[2] | 32) == name[2]) {
            *out_value = field->low + i;
            return true;
        }
    }
    return false;
}

static hf_status value_parse(const cron_field *field, hf_slice text, int *out_value, hf_err *err)
{
    int64_t number = 0;

    if (name_find(field, text, out_value))
        return HF_OK;
    if (!text.len || text.len > 4 || text.ptr[0] == '-' || !hf_slice_int(text, &number))
        return field_refuse(field, text, "is neither a number nor a name", err);
    if (number < field->low || number > field->high)
        return field_refuse(field, text, "is out of range", err);
    *out_value = (int)number;
    return HF_OK;
}

/* Splits at the first separator; `right` has ptr NULL when there is none. */
static void halves(hf_slice text, char separator, hf_slice *left, hf_slice *right)
{
    *right = text;
    (void)hf_slice_split(right, separator, left);
}

/* "5", "1-10", "*", each with "/2" behind it or not. */
static hf_status part_parse(const cron_field *field, hf_slice text, uint64_t *bits, hf_err *err)
{
    hf_slice range;
    hf_slice step_text;
    hf_slice first;
    hf_slice last;
    int low = field->low;
    int high = field->high;
    int64_t step = 1;
    bool all;
    hf_status st = HF_OK;

    halves(text, '/', &range, &step_text);
    all = hf_slice_equal(range, HF_SLICE("*")) ||
          (hf_slice_equal(range, HF_SLICE("?")) && field->of_days);
    halves(range, '-', &first, &last);
    if (!all) {
        st = value_parse(field, first, &low, err);
        if (!st && last.ptr)
            st = value_parse(field, last, &high, err);
        else if (!st && !step_text.ptr)
            high = low;
    } else if (field->high == 7) {
        high = 6; /* Sunday once */
    }
    if (st)
        return st;
    if (low > high)
        return field_refuse(field, text, "runs backwards", err);
    if (step_text.ptr &&
        (step_text.len > 4 || !hf_slice_int(step_text, &step) || step < 1 || step > field->high))
        return field_refuse(field, text, "has a step that is out of range", err);
    for (int64_t value = low; value <= high; value += step)
        *bits |= UINT64_C(1) << value;
    return HF_OK;
}

static hf_status field_parse(const cron_field *field, hf_slice text, uint64_t *out_bits,
                             hf_err *err)
{
    hf_slice rest = text;
    hf_slice part;
    hf_status st = HF_OK;

    *out_bits = 0;
    while (!st && hf_slice_split(&rest, ',', &part))
        st = part_parse(field, part, out_bits, err);
    return st;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static size_t words_split(hf_slice text, hf_slice words[FIELDS_MAX + 1])
{
    size_t count = 0;
    size_t at = 0;

    while (count <= FIELDS_MAX) {
        size_t start;

        while (at < text.len && is_space(text.ptr[at]))
            at++;
        start = at;
        while (at < text.len && !is_space(text.ptr[at]))
            at++;
        if (at == start)
            break;
        words[count++] = hf_slice_from(text.ptr + start, at - start);
    }
    return count;
}

static bool is_restricted(hf_slice text)
{
    return text.ptr[0] != '*' && text.ptr[0] != '?';
}

static hf_slice macro_expand(hf_slice text)
{
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
        if (hf_slice_equal(text, hf_slice_of(macros[i].name)))
            return hf_slice_of(macros[i].text);
    return text;
}

hf_status hf_cron_parse(hf_slice text, hf_cron *out_cron, hf_err *err)
{
    hf_slice words[FIELDS_MAX + 1];
    uint64_t bits[FIELDS_MAX] = {1}; /* five fields: at second 0 */
    hf_slice line = macro_expand(hf_slice_trim(text));
    size_t count = line.len <= TEXT_MAX ? words_split(line, words) : 0;
    size_t skip = FIELDS_MAX - count;
    hf_status st = HF_OK;

    if (count != FIELDS_MAX && count != FIELDS_MAX - 1)
        return hf_err_set(err, HF_INVALID, "cron: \"%.*s\" does not have five or six fields",
                          (int)(line.len < QUOTE_MAX ? line.len : (size_t)QUOTE_MAX),
                          line.len ? line.ptr : "");
    for (size_t i = 0; !st && i < count; i++)
        st = field_parse(&fields[skip + i], words[i], &bits[skip + i], err);
    if (st)
        return st;
    if (bits[5] & UINT64_C(1) << 7)
        bits[5] |= 1;
    *out_cron =
        (hf_cron){.seconds = bits[0],
                  .minutes = bits[1],
                  .hours = bits[2],
                  .days = bits[3],
                  .months = bits[4],
                  .weekdays = bits[5] & 0x7f,
                  .either_day = is_restricted(words[3 - skip]) && is_restricted(words[5 - skip])};
    return HF_OK;
}

/* The smallest value from `from` on that fits; false when there is none. */
static bool bit_next(uint64_t bits, int from, int *out_value)
{
    for (int value = from; value < 64; value++) {
        if (bits & UINT64_C(1) << value) {
            *out_value = value;
            return true;
        }
    }
    return false;
}

static bool day_fits(const hf_cron *cron, int day, int weekday)
{
    bool of_month = (cron->days >> day & 1) != 0;
    bool of_week = (cron->weekdays >> weekday & 1) != 0;

    return cron->either_day ? of_month || of_week : of_month && of_week;
}

/* The first second of a day, from `from_s` on, that fits. */
static bool second_find(const hf_cron *cron, int from_s, int *out_s)
{
    int hour = from_s / 3600;
    int minute = from_s / 60 % 60;
    int second = from_s % 60;
    int found;

    while (bit_next(cron->hours, hour, &found)) {
        if (found != hour)
            minute = second = 0;
        hour = found;
        while (bit_next(cron->minutes, minute, &found)) {
            if (found != minute)
                second = 0;
            minute = found;
            if (bit_next(cron->seconds, second, &found)) {
                *out_s = (hour * 60 + minute) * 60 + found;
                return true;
            }
            minute++;
            second = 0;
        }
        hour++;
        minute = second = 0;
    }
    return false;
}

/* The first local time from `from_s` on that fits. */
static bool local_find(const hf_cron *cron, int64_t from_s, int year_last, int64_t *out_s)
{
    int days = (int)(from_s / HF_SECONDS_PER_DAY);
    int of_day = (int)(from_s % HF_SECONDS_PER_DAY);
    hf_date date = hf_date_of_days(days);

    while (date.year <= year_last) {
        bool month_fits = (cron->months >> date.month & 1) != 0;
        int found;

        if (month_fits && day_fits(cron, date.day, hf_date_weekday(days)) &&
            second_find(cron, of_day, &found)) {
            *out_s = (int64_t)days * HF_SECONDS_PER_DAY + found;
            return true;
        }
        of_day = 0;
        days += month_fits ? 1 : hf_date_month_days(date.year, date.month) - date.day + 1;
        date = hf_date_of_days(days);
    }
    return false;
}

bool hf_cron_next(const hf_cron *cron, const hf_zone *zone, int64_t after_s, int64_t *out_s)
{
    int64_t local_s = after_s + hf_zone_offset(zone, after_s) + 1;
    int year_last;

    if (local_s < 0)
        local_s = 0;
    year_last = hf_date_of_days((int)(local_s / HF_SECONDS_PER_DAY)).year + YEARS_MAX;
    if (year_last > YEAR_LAST)
        year_last = YEAR_LAST;
    while (local_find(cron, local_s, year_last, &local_s)) {
        *out_s = hf_zone_utc(zone, local_s);
        if (*out_s > after_s)
            return true;
        local_s++; /* shown a second time: that was its first */
    }
    return false;
}
