/* suggest.c: how a query line could go on where somebody writes it: words of the grammar, and the
   values that the runs have which the other words ask for, each with how many there are. Reads
   only, and gives up counting when it takes long. */
#include "base/clock.h"
#include "base/json.h"
#include "engine/call.h"
#include "engine/look.h"
#include "holdfast/view.h"
#include "project/query_line.h"

enum { SUGGESTIONS_MAX = 20, COUNT_BUDGET_US = 100 * 1000 };

typedef struct suggest {
    hf_call *call;
    hf_mem *work;
    hf_query_focus focus;
    int64_t until_us; /* for counts */
    hf_value_list *list;
    size_t count;
} suggest;

static void suggest_add(suggest *s, hf_value text, hf_value n, hf_value exact, hf_value help)
{
    hf_value null = hf_value_null();

    s->count++;
    hf_value_append(s->list, hf_json_(s->work, "{'text': %p, 'n': %p, 'exact': %p, 'help': %p}",
                                      (const void *)text, (const void *)(n ? n : null),
                                      (const void *)(exact ? exact : null),
                                      (const void *)(help ? help : null)));
}

/* A page of one run of those that the other words ask for, with what `more` asks besides. */
static hf_status rest_look(suggest *s, hf_value more, hf_value *out_page, hf_err *err)
{
    hf_value request = hf_value_merge(
        s->work, hf_json_(s->work, "{'filters': %p, 'limit': 1}", (const void *)s->focus.rest),
        more);

    return request ? hf_look_list(s->call->in.db, s->call->engine, s->call->in.namespace_key,
                                  request, s->work, out_page, err)
                   : hf_err_nomem(err, "a list");
}

/* The values of the field in front of the caret that go on as it is written. */
static hf_status values_add(suggest *s, hf_err *err)
{
    const char *facet = hf_mem_text(s->work, s->focus.facet);
    hf_value page = NULL;
    hf_value found;
    hf_value values;
    hf_status st = rest_look(s, hf_json_(s->work, "{'facets': [%s]}", facet), &page, err);

    if (st)
        return st;
    found = hf_value_find(hf_get(page, "facets"), s->focus.facet);
    values = hf_get(found, "values");
    for (size_t i = 0; i < hf_len(values) && s->count < SUGGESTIONS_MAX; i++) {
        hf_slice value = hf_value_slice(hf_get(hf_at(values, i), "value"));

        if (value.len && (!s->focus.part.len || hf_slice_has(value, s->focus.part)))
            suggest_add(s, hf_query_line_word(s->work, s->focus.head, value),
                        hf_get(hf_at(values, i), "n"), hf_get(found, "exact"), NULL);
    }
    return HF_OK;
}

/* The words of the grammar; states are counted as long as there is time. */
static hf_status words_add(suggest *s, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < hf_len(s->focus.words) && s->count < SUGGESTIONS_MAX; i++) {
        hf_value word = hf_at(s->focus.words, i);
        hf_slice text = hf_value_slice(hf_get(word, "text"));
        hf_value page = NULL;

        if (hf_slice_starts(text, HF_SLICE("is:")) && text.len > 3 &&
            hf_clock_mono_us(hf_clock_system()) < s->until_us)
            st = rest_look(
                s,
                hf_json_(s->work, "{'q': %p, 'total': true}", (const void *)hf_get(word, "text")),
                &page, err);
        suggest_add(s, hf_get(word, "text"), hf_get(page, "total.n"), hf_get(page, "total.exact"),
                    hf_get(word, "help"));
    }
    return st;
}

hf_status hf_list_suggest(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    suggest s = {.until_us = hf_clock_mono_us(hf_clock_system()) + COUNT_BUDGET_US};
    hf_value answer = NULL;
    int64_t at = hf_int(request, "at", INT64_MAX);
    hf_err *err;
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, "q at", mem, out);

    if (st)
        return st;
    err = &c.slot->err;
    s.call = &c;
    s.work = hf_mem_new();
    if (!s.work)
        return hf_err_nomem(err, "a list");
    s.list = hf_value_array(s.work);
    st = at < 0 ? hf_err_set(err, HF_INVALID, "a place in a line is a number from 0 on")
                : hf_query_line_focus(s.work, hf_look_member(request, "q"), (size_t)at,
                                      hf_clock_wall_us(engine->clock), &s.focus, err);
    if (!st) {
        hf_call_read_begin(&c);
        st = s.focus.facet.len ? values_add(&s, err) : words_add(&s, err);
        hf_call_read_end(&c);
    }
    if (!st) {
        answer = hf_json_(s.work, "{'start': %zu, 'end': %zu, 'suggestions': %p}", s.focus.start,
                          s.focus.end, (const void *)hf_value_finish(s.list));
        st = answer ? HF_OK : hf_err_nomem(err, "a list");
    }
    return hf_look_give(mem, answer, st, out, s.work, err);
}
