/* compare.c: see compare.h. */
#include "project/compare.h"

#include "project/edge.h"

/* One run, and where it is. */
typedef struct side {
    hf_compare_run run;
    hf_track *track;
    const hf_track_step **steps; /* by number */
    size_t count;
    size_t at;
} side;

struct hf_compare {
    side a;
    side b;
    hf_mem *work; /* of the values at hand */
};

static hf_status side_open(hf_mem *mem, const hf_compare_run *run, side *s, hf_err *err)
{
    hf_status st;

    s->run = *run;
    st = hf_track_new(mem, run->run_key, &s->track, err);
    for (size_t i = 0; !st && i < run->count; i++)
        st = hf_track_add(s->track, &run->events[i], (int64_t)i + 1, err);
    if (st)
        return st;
    return hf_track_by_number(s->track, mem, &s->steps, &s->count, err);
}

hf_status hf_compare_new(hf_mem *mem, const hf_compare_run *a, const hf_compare_run *b,
                         hf_compare **out_compare, hf_err *err)
{
    hf_compare *c = hf_mem_alloc(mem, sizeof(*c));
    hf_status st;

    *out_compare = c;
    if (!c)
        return hf_err_nomem(err, "a comparison");
    c->work = hf_mem_new();
    st = c->work ? side_open(mem, a, &c->a, err) : hf_err_nomem(err, "a comparison");
    return st ? st : side_open(mem, b, &c->b, err);
}

void hf_compare_free(hf_compare *compare)
{
    if (!compare)
        return;
    hf_track_free(compare->a.track);
    hf_track_free(compare->b.track);
    hf_mem_free(compare->work);
}

/* ---- values */

/* The payload with its bytes, unless it was erased for good. */
static hf_status payload_whole(hf_compare *c, const side *s, const hf_event *event,
                               hf_event_key key, hf_payload_value *io_payload, hf_err *err)
{
    hf_event whole;
    hf_status st;

    if (io_payload->form == HF_PAYLOAD_FORM_INLINE || !s->run.whole)
        return HF_OK;
    st = s->run.whole(s->run.ctx, c->work, event - s->run.events + 1, &whole, err);
    if (!st)
        (void)hf_event_payload(&whole, key, io_payload);
    return st;
}

static hf_status payload_same(hf_compare *c, const hf_event *a, const hf_event *b, hf_event_key key,
                              bool *out_same, hf_err *err)
{
    hf_payload_value x = {.form = HF_PAYLOAD_FORM_INLINE};
    hf_payload_value y = {.form = HF_PAYLOAD_FORM_INLINE};
    bool has_x = hf_event_payload(a, key, &x);
    bool has_y = hf_event_payload(b, key, &y);
    hf_value value_x = NULL;
    hf_value value_y = NULL;
    hf_status st;

    *out_same = has_x == has_y;
    if (!has_x || !has_y)
        return HF_OK;
    if (x.codec == y.codec && x.size != y.size) {
        *out_same = false;
        return HF_OK;
    }
    hf_mem_reset(c->work);
    st = payload_whole(c, &c->a, a, key, &x, err);
    if (!st)
        st = payload_whole(c, &c->b, b, key, &y, err);
    if (st)
        return st;
    if (x.form != HF_PAYLOAD_FORM_INLINE || y.form != HF_PAYLOAD_FORM_INLINE) {
        *out_same = x.form == y.form; /* nobody can tell; they were as big */
        return HF_OK;
    }
    *out_same = x.codec == y.codec && hf_slice_equal(x.bytes, y.bytes);
    if (*out_same || x.codec == y.codec)
        return HF_OK;
    st = hf_edge_plain(c->work, &x, &value_x, err);
    if (!st)
        st = hf_edge_plain(c->work, &y, &value_y, err);
    if (!st)
        *out_same = hf_value_equal(value_x, value_y);
    return st;
}

static hf_status values_same(hf_compare *c, const hf_event *a, const hf_event *b,
                             const hf_event_key *keys, size_t count, bool *out_same, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && *out_same && i < count; i++) {
        int64_t x = 0;
        int64_t y = 0;
        hf_slice text_x = {0};
        hf_slice text_y = {0};

        switch (hf_event_key_kind(keys[i])) {
        case HF_VALUE_KIND_PAYLOAD:
            st = payload_same(c, a, b, keys[i], out_same, err);
            break;
        case HF_VALUE_KIND_INT:
            *out_same = hf_event_int(a, keys[i], &x) == hf_event_int(b, keys[i], &y) && x == y;
            break;
        default:
            *out_same = hf_event_text(a, keys[i], &text_x) == hf_event_text(b, keys[i], &text_y) &&
                        hf_slice_equal(text_x, text_y);
        }
    }
    return st;
}

static const hf_event_key inputs[] = {HF_KEY_ARGUMENTS, HF_KEY_DELAY_SECONDS,
                                      HF_KEY_TIMEOUT_SECONDS};
static const hf_event_key outputs[] = {HF_KEY_RESULT,  HF_KEY_OUTPUT,        HF_KEY_VALUE,
                                       HF_KEY_STATE,   HF_KEY_VERSION,       HF_KEY_NEXT_STEP,
                                       HF_KEY_MESSAGE, HF_KEY_EXCEPTION_TYPE};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static hf_status ends_same(hf_compare *c, const hf_event *a, const hf_event *b, bool *out_same,
                           hf_err *err)
{
    *out_same = !a == !b && (!a || a->type == b->type);
    return *out_same && a ? values_same(c, a, b, outputs, COUNT(outputs), out_same, err) : HF_OK;
}

/* ---- steps */

static hf_status both_state(hf_compare *c, hf_compare_step *s, hf_err *err)
{
    const hf_event *a = s->a->opened;
    const hf_event *b = s->b->opened;
    bool same = a->type == b->type && hf_slice_equal(hf_track_name(a), hf_track_name(b));
    hf_status st;

    s->state = HF_COMPARE_DIFFERENT_STEP;
    if (!same)
        return HF_OK;
    st = values_same(c, a, b, inputs, COUNT(inputs), &same, err);
    s->state = HF_COMPARE_DIFFERENT_INPUT;
    if (st || !same)
        return st;
    st = ends_same(c, s->a->ended, s->b->ended, &same, err);
    s->state = same ? HF_COMPARE_SAME : HF_COMPARE_DIFFERENT_OUTPUT;
    return st;
}

hf_status hf_compare_next(hf_compare *c, hf_compare_step *out, bool *out_there, hf_err *err)
{
    const hf_track_step *a = c->a.at < c->a.count ? c->a.steps[c->a.at] : NULL;
    const hf_track_step *b = c->b.at < c->b.count ? c->b.steps[c->b.at] : NULL;

    *out_there = a || b;
    if (!*out_there)
        return HF_OK;
    if (a && b && a->step != b->step) {
        if (a->step < b->step)
            b = NULL;
        else
            a = NULL;
    }
    c->a.at += a != NULL;
    c->b.at += b != NULL;
    *out = (hf_compare_step){.step = a ? a->step : b->step,
                             .state = a ? HF_COMPARE_ONLY_A : HF_COMPARE_ONLY_B,
                             .a = a,
                             .b = b};
    return a && b ? both_state(c, out, err) : HF_OK;
}

/* ---- the whole runs */

static const hf_event *first_of(const side *s, hf_event_type type)
{
    for (size_t i = 0; i < s->run.count; i++)
        if (s->run.events[i].type == type)
            return &s->run.events[i];
    return NULL;
}

static const hf_event *closing_of(const side *s)
{
    for (size_t i = s->run.count; i-- > 0;)
        if (hf_event_has_flag(s->run.events[i].type, HF_EVENT_CLOSES))
            return &s->run.events[i];
    return NULL;
}

hf_status hf_compare_input(hf_compare *c, bool *out_same, hf_err *err)
{
    const hf_event *a = first_of(&c->a, HF_EVENT_WORKFLOW_STARTED);
    const hf_event *b = first_of(&c->b, HF_EVENT_WORKFLOW_STARTED);

    *out_same = !a == !b;
    return a && b ? values_same(c, a, b, inputs, 1, out_same, err) : HF_OK;
}

hf_status hf_compare_output(hf_compare *c, bool *out_same, hf_err *err)
{
    return ends_same(c, closing_of(&c->a), closing_of(&c->b), out_same, err);
}
