/* zone.c: see zone.h. A file is untrusted input: every count is checked against its size. Reading
   is all it does; the result is immutable. */
#include "base/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/date.h"

#define ZONE_FOLDER "/usr/share/zoneinfo/"

enum {
    NAME_MAX_BYTES = 64,
    FILE_BYTES_MAX = 1 << 20,
    HEADER_BYTES = 44,
    OFFSET_MAX = 26 * 3600, /* RFC 8536: nothing real is farther from UTC */
    LOOK_S = 16 * 3600,     /* before and after a local time: any clock shows it in between */
    RULE_HOURS_MAX = 167
};

/* Which day of a year a rule means. */
typedef enum rule_form {
    RULE_MONTH,  /* the nth weekday of a month; the fifth is the last */
    RULE_JULIAN, /* day 1 to 365, the 29th of February never counts */
    RULE_DAY     /* day 0 to 365 */
} rule_form;

typedef struct zone_rule {
    rule_form form;
    int month;
    int week;
    int weekday;
    int day;
    int32_t time_s; /* of that day, local, may be negative or beyond its end */
} zone_rule;

struct hf_zone {
    const int64_t *times; /* of the changes, ascending */
    const int32_t *offsets;
    size_t count;
    int32_t first;   /* offset before all of them */
    bool has_footer; /* what follows the last of them is known: */
    bool has_rules;  /* and alternates */
    int32_t standard;
    int32_t summer;
    zone_rule start; /* of summer time */
    zone_rule end;
};

/* ---- the rule for later years */

static bool digit_at(hf_slice text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

static bool number_take(hf_slice *rest, int most, int *out_number)
{
    int number = 0;

    if (!digit_at(*rest, 0))
        return false;
    while (digit_at(*rest, 0)) {
        number = number * 10 + (rest->ptr[0] - '0');
        if (number > most)
            return false;
        rest->ptr++;
        rest->len--;
    }
    *out_number = number;
    return true;
}

static bool byte_take(hf_slice *rest, char byte)
{
    if (!rest->len || rest->ptr[0] != byte)
        return false;
    rest->ptr++;
    rest->len--;
    return true;
}

/* "CET", or "<+03>". */
static bool name_take(hf_slice *rest)
{
    size_t len = 0;

    if (byte_take(rest, '<')) {
        while (len < rest->len && rest->ptr[len] != '>')
            len++;
        if (len == rest->len)
            return false;
        rest->ptr += len + 1;
        rest->len -= len + 1;
        return true;
    }
    while (len < rest->len && ((rest->ptr[len] | 32) >= 'a' && (rest->ptr[len] | 32) <= 'z'))
        len++;
    rest->ptr += len;
    rest->len -= len;
    return len >= 3;
}

/* "-1", "4:30", "167:59:59". */
static bool time_take(hf_slice *rest, int32_t *out_s)
{
    bool minus = byte_take(rest, '-');
    int hour = 0;
    int minute = 0;
    int second = 0;

    if (!minus)
        (void)byte_take(rest, '+');
    if (!number_take(rest, RULE_HOURS_MAX, &hour))
        return false;
    if (byte_take(rest, ':') && !number_take(rest, 59, &minute))
        return false;
    if (byte_take(rest, ':') && !number_take(rest, 59, &second))
        return false;
    *out_s = (hour * 60 + minute) * 60 + second;
    if (minus)
        *out_s = -*out_s;
    return true;
}

/* ",M3.5.0/2", ",J60", ",59". */
static bool rule_take(hf_slice *rest, zone_rule *out_rule)
{
    zone_rule rule = {.form = RULE_DAY, .time_s = 2 * 3600};

    if (!byte_take(rest, ','))
        return false;
    if (byte_take(rest, 'M')) {
        rule.form = RULE_MONTH;
        if (!number_take(rest, 12, &rule.month) || !byte_take(rest, '.') ||
            !number_take(rest, 5, &rule.week) || !byte_take(rest, '.') ||
            !number_take(rest, 6, &rule.weekday) || rule.month < 1 || rule.week < 1)
            return false;
    } else if (byte_take(rest, 'J')) {
        rule.form = RULE_JULIAN;
        if (!number_take(rest, 365, &rule.day) || rule.day < 1)
            return false;
    } else if (!number_take(rest, 365, &rule.day)) {
        return false;
    }
    if (byte_take(rest, '/') && !time_take(rest, &rule.time_s))
        return false;
    *out_rule = rule;
    return true;
}

/* Offsets are written with the sign the other way round: "CET-1" is ahead of UTC. */
static bool footer_parse(hf_slice text, hf_zone *zone)
{
    hf_slice rest = text;

    if (!name_take(&rest) || !time_take(&rest, &zone->standard))
        return false;
    zone->standard = -zone->standard;
    if (rest.len) {
        if (!name_take(&rest))
            return false;
        zone->summer = zone->standard + 3600;
        if (rest.len && rest.ptr[0] != ',') {
            if (!time_take(&rest, &zone->summer))
                return false;
            zone->summer = -zone->summer;
        }
        if (!rule_take(&rest, &zone->start) || !rule_take(&rest, &zone->end))
            return false;
        zone->has_rules = true;
    }
    zone->has_footer = true;
    return rest.len == 0;
}

/* The day that the rule means in a year, as days since 1970. */
static int rule_day(const zone_rule *rule, int year)
{
    int first;
    int day;

    switch (rule->form) {
    case RULE_DAY:
        return hf_date_to_days((hf_date){year, 1, 1}) + rule->day;
    case RULE_JULIAN:
        first = hf_date_to_days((hf_date){year, 1, 1});
        return first + rule->day - 1 +
               (rule->day >= 60 && hf_date_month_days(year, 2) == 29 ? 1 : 0);
    case RULE_MONTH:
        break;
    }
    first = hf_date_to_days((hf_date){year, rule->month, 1});
    day = (rule->weekday - hf_date_weekday(first) + 7) % 7 + (rule->week - 1) * 7;
    if (day >= hf_date_month_days(year, rule->month))
        day -= 7;
    return first + day;
}

static int32_t footer_offset(const hf_zone *zone, int64_t utc_s)
{
    int64_t local_day = (utc_s + zone->standard) / HF_SECONDS_PER_DAY;
    int64_t start_s;
    int64_t end_s;
    int year;
    bool summer;

    if (!zone->has_rules)
        return zone->standard;
    year = hf_date_of_days((int)local_day).year;
    start_s = (int64_t)rule_day(&zone->start, year) * HF_SECONDS_PER_DAY + zone->start.time_s -
              zone->standard;
    end_s =
        (int64_t)rule_day(&zone->end, year) * HF_SECONDS_PER_DAY + zone->end.time_s - zone->summer;
    /* In the south summer time goes over the turn of the year. */
    summer =
        start_s < end_s ? utc_s >= start_s && utc_s < end_s : utc_s >= start_s || utc_s < end_s;
    return summer ? zone->summer : zone->standard;
}

/* ---- the file */

/* Counts in a header, in the order of RFC 8536. */
typedef struct zone_header {
    char version;
    uint64_t isut;
    uint64_t isstd;
    uint64_t leaps;
    uint64_t times;
    uint64_t types;
    uint64_t chars;
} zone_header;

static int64_t int_at(const char *at, size_t bytes)
{
    uint64_t number = (unsigned char)at[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | (unsigned char)at[i];
    return (int64_t)number;
}

static bool header_take(hf_slice *rest, zone_header *out)
{
    const char *at = rest->ptr;

    if (rest->len < HEADER_BYTES || memcmp(at, "TZif", 4) != 0)
        return false;
    out->version = at[4];
    out->isut = (uint64_t)int_at(at + 20, 4) & UINT32_MAX;
    out->isstd = (uint64_t)int_at(at + 24, 4) & UINT32_MAX;
    out->leaps = (uint64_t)int_at(at + 28, 4) & UINT32_MAX;
    out->times = (uint64_t)int_at(at + 32, 4) & UINT32_MAX;
    out->types = (uint64_t)int_at(at + 36, 4) & UINT32_MAX;
    out->chars = (uint64_t)int_at(at + 40, 4) & UINT32_MAX;
    rest->ptr += HEADER_BYTES;
    rest->len -= HEADER_BYTES;
    return true;
}

static uint64_t block_bytes(const zone_header *header, uint64_t time_bytes)
{
    return header->times * (time_bytes + 1) + header->types * 6 + header->chars +
           header->leaps * (time_bytes + 4) + header->isstd + header->isut;
}

/* The 64-bit block: changes and their offsets. */
static hf_status block_read(hf_mem *mem, const char *at, const zone_header *header, hf_zone *zone,
                            hf_err *err)
{
    const char *indexes = at + header->times * 8;
    const char *types = indexes + header->times;
    int64_t *times = hf_mem_array(mem, (size_t)header->times + 1, sizeof(*times));
    int32_t *offsets = hf_mem_array(mem, (size_t)header->times + 1, sizeof(*offsets));

    if (!times || !offsets)
        return hf_err_nomem(err, "a time zone");
    for (uint64_t i = 0; i < header->types; i++)
        if (int_at(types + i * 6, 4) < -OFFSET_MAX || int_at(types + i * 6, 4) > OFFSET_MAX)
            return hf_err_set(err, HF_INVALID, "an offset is out of range");
    for (uint64_t i = 0; i < header->times; i++) {
        uint64_t type = (unsigned char)indexes[i];

        times[i] = int_at(at + i * 8, 8);
        if (type >= header->types || (i && times[i] <= times[i - 1]))
            return hf_err_set(err, HF_INVALID, "its changes are out of order");
        offsets[i] = (int32_t)int_at(types + type * 6, 4);
    }
    zone->times = times;
    zone->offsets = offsets;
    zone->count = (size_t)header->times;
    zone->first = (int32_t)int_at(types, 4);
    return HF_OK;
}

hf_status hf_zone_read(hf_mem *mem, hf_slice bytes, const hf_zone **out_zone, hf_err *err)
{
    hf_zone *zone = hf_mem_alloc(mem, sizeof(*zone));
    hf_slice rest = bytes;
    zone_header header;
    uint64_t size;
    hf_status st;

    if (!zone)
        return hf_err_nomem(err, "a time zone");
    if (!header_take(&rest, &header) || header.version < '2')
        return hf_err_set(err, HF_INVALID, "it is no time zone file of version 2 or newer");
    size = block_bytes(&header, 4);
    if (size > rest.len)
        return hf_err_set(err, HF_INVALID, "the time zone file is cut short");
    rest = hf_slice_from(rest.ptr + size, rest.len - (size_t)size);
    if (!header_take(&rest, &header) || !header.types || block_bytes(&header, 8) > rest.len)
        return hf_err_set(err, HF_INVALID, "the time zone file is cut short");
    size = block_bytes(&header, 8);
    st = block_read(mem, rest.ptr, &header, zone, err);
    if (st)
        return st;
    rest = hf_slice_trim(hf_slice_from(rest.ptr + size, rest.len - (size_t)size));
    if (rest.len && !footer_parse(rest, zone))
        return hf_err_set(err, HF_INVALID, "the rule at the end of the time zone file is broken");
    *out_zone = zone;
    return HF_OK;
}

/* Only what a zone's name can be: no path leads out of the folder. */
static bool name_is_sane(hf_slice name)
{
    if (!name.len || name.len > NAME_MAX_BYTES || name.ptr[0] == '/' ||
        name.ptr[name.len - 1] == '/')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';

        if (!letter && !digit_at(name, i) && !memchr("_-+/", c, 4))
            return false;
    }
    return true;
}

static hf_status file_read(hf_mem *mem, const char *path, hf_slice *out_bytes, hf_err *err)
{
    struct stat about;
    char *bytes = NULL;
    size_t used = 0;
    hf_status st = HF_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR))
        return hf_err_set(err, HF_INVALID, "there is no such time zone on this system");
    if (fd < 0)
        return hf_err_set(err, HF_IO, "open %s: %s", path, strerror(errno));
    if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size > FILE_BYTES_MAX) {
        st = hf_err_set(err, HF_INVALID, "there is no such time zone on this system");
        goto done;
    }
    bytes = hf_mem_bytes(mem, (size_t)about.st_size + 1);
    if (!bytes) {
        st = hf_err_nomem(err, "a time zone");
        goto done;
    }
    while (used < (size_t)about.st_size) {
        ssize_t got = read(fd, bytes + used, (size_t)about.st_size - used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            st = hf_err_set(err, HF_IO, "read %s: %s", path, strerror(errno));
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    *out_bytes = hf_slice_from(bytes, used);
done:
    (void)close(fd);
    return st;
}

hf_status hf_zone_load(hf_mem *mem, hf_slice name, const hf_zone **out_zone, hf_err *err)
{
    static const hf_zone utc = {.has_footer = true};
    char path[sizeof(ZONE_FOLDER) + NAME_MAX_BYTES];
    hf_slice bytes = {0};
    hf_status st;

    if (hf_slice_equal(name, HF_SLICE("UTC"))) {
        *out_zone = &utc;
        return HF_OK;
    }
    if (!name_is_sane(name))
        return hf_err_set(err, HF_INVALID, "this cannot be the name of a time zone");
    memcpy(path, ZONE_FOLDER, sizeof(ZONE_FOLDER) - 1);
    memcpy(path + sizeof(ZONE_FOLDER) - 1, name.ptr, name.len);
    path[sizeof(ZONE_FOLDER) - 1 + name.len] = '\0';
    st = file_read(mem, path, &bytes, err);
    if (!st)
        st = hf_zone_read(mem, bytes, out_zone, err);
    return hf_err_because(err, st, "time zone %.*s", (int)name.len, name.ptr);
}

/* ---- what it says */

int32_t hf_zone_offset(const hf_zone *zone, int64_t utc_s)
{
    size_t low = 0;
    size_t high = zone->count;

    while (low < high) { /* the number of changes up to this moment */
        size_t middle = low + (high - low) / 2;

        if (zone->times[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->has_footer)
        return footer_offset(zone, utc_s);
    return low ? zone->offsets[low - 1] : zone->first;
}

int64_t hf_zone_utc(const hf_zone *zone, int64_t local_s)
{
    int32_t before = hf_zone_offset(zone, local_s - LOOK_S);
    int32_t after = hf_zone_offset(zone, local_s + LOOK_S);
    int64_t early = local_s - (before > after ? before : after);
    int64_t late = local_s - (before > after ? after : before);

    if (hf_zone_offset(zone, early) + early == local_s)
        return early;
    if (hf_zone_offset(zone, late) + late == local_s)
        return late;
    /* A gap: the change lies between the two. */
    while (late - early > 1) {
        int64_t middle = early + (late - early) / 2;

        if (hf_zone_offset(zone, middle) == before)
            early = middle;
        else
            late = middle;
    }
    return late;
}
