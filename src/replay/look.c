/* look.c: what code may know of its run without taking a step. The rule: every answer follows from
   the definition and from what the code has seen so far, never from what else happens to be fed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/limit.h"
#include "replay/inside.h"

enum { NOTE_BYTES_MAX = 1024, UUID_BYTES = 16, UUID_TEXT_SIZE = 37 };

static hf_replay *look_replay(hf_ctx *w)
{
    return w && w->tag == HF_CTX_TAG ? w->replay : NULL;
}

/* For calls that leave a trace in the replay: only where the code's turn is. */
static hf_replay *look_inside(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    return replay && replay->coro && hf_coro_inside(replay->coro) ? replay : NULL;
}

hf_mem *hf_mem_of_ctx(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    return replay ? replay->mem : NULL;
}

void *hf_state(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    return replay ? replay->state : NULL;
}

int64_t hf_now(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    return replay ? replay->consumed.time_us / 1000 : 0;
}

uint64_t hf_random(hf_ctx *w)
{
    hf_replay *replay = look_inside(w);

    return replay ? hf_rng_next(&replay->rng) : 0;
}

const char *hf_uuid(hf_ctx *w)
{
    hf_replay *replay = look_inside(w);
    uint8_t b[UUID_BYTES];
    char text[UUID_TEXT_SIZE];

    if (!replay)
        return NULL;
    hf_rng_fill(&replay->rng, b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* version 4 */
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80); /* variant of RFC 4122 */
    (void)snprintf(text, sizeof(text),
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                   b[14], b[15]);
    return hf_in_keep(replay, text);
}

static const char *slice_text(hf_replay *replay, hf_slice text)
{
    char *copy = replay ? hf_mem_text(replay->mem, text) : NULL;

    return copy ? copy : "";
}

const char *hf_workflow_id(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    return replay ? slice_text(replay, replay->info.instance_id) : "";
}

const char *hf_run_id(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    return replay ? slice_text(replay, replay->info.run_id) : "";
}

size_t hf_history_length(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    if (!replay)
        return 0;
    replay->measured = true;
    return (size_t)replay->consumed.seq;
}

size_t hf_history_size(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    if (!replay)
        return 0;
    replay->measured = true;
    return (size_t)replay->consumed.bytes;
}

bool hf_should_continue_as_new(hf_ctx *w)
{
    hf_replay *replay = look_replay(w);

    if (!replay)
        return false;
    replay->measured = true;
    return hf_limit_trips(HF_LIMIT_BUDGET_EVENT_THRESHOLD, replay->info.continue_events,
                          replay->consumed.seq) ||
           hf_limit_trips(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD, replay->info.continue_bytes,
                          replay->consumed.bytes);
}

/* A child is there once the code has seen something that was recorded after its call: within the
   turn that calls it no replay could know its id. */
size_t hf_children(hf_ctx *w, const char **out_call_ids, size_t max)
{
    hf_replay *replay = look_replay(w);
    size_t count = 0;

    if (!replay)
        return 0;
    for (hf_child_call *child = replay->children; child; child = child->next) {
        if (child->open_seq == 0 || child->open_seq > replay->consumed.seq)
            continue;
        if (out_call_ids && count < max)
            out_call_ids[count] = child->text;
        count++;
    }
    return count;
}

/* Cuts at the end of a character; bytes that are no text end the note. */
static void note_cut(char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t size = hf_utf8_size(text + at, len - at);

        if (size == 0)
            break;
        at += size;
    }
    text[at] = '\0';
}

void hf_note(hf_ctx *w, const char *fmt, ...)
{
    hf_replay *replay = look_inside(w);
    char text[NOTE_BYTES_MAX];
    hf_decision_row *row;
    va_list args;

    if (!replay || !fmt)
        return;
    if (++replay->notes <= replay->history.notes)
        return; /* it is recorded */
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    note_cut(text, strlen(text));
    row = hf_in_decide(replay, HF_DECISION_RECORD_NOTE, replay->history.entered, 1);
    row->name = hf_in_text(replay, text);
}
