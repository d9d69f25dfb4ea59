/* vocab.c: rows, texts and parsers of every list, generated from vocab.def.
   Parsing is exact: no case folding, no trimming, no prefixes. Unknown text is never guessed at. */
#include "model/vocab.h"

const hf_vocab_item *hf_vocab_by_number(const hf_vocab *list, int64_t number)
{
    /* Most lists are numbered 1, 2, 3 ..., so the row is usually where its number says. */
    if (number >= 1 && (uint64_t)number <= list->count && list->items[number - 1].number == number)
        return &list->items[number - 1];
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].number == number)
            return &list->items[i];
    }
    return NULL;
}

const hf_vocab_item *hf_vocab_by_text(const hf_vocab *list, hf_slice text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (hf_slice_equal(hf_slice_of(list->items[i].text), text))
            return &list->items[i];
    }
    return NULL;
}

const char *hf_vocab_text(const hf_vocab *list, int64_t number)
{
    const hf_vocab_item *item = hf_vocab_by_number(list, number);

    return item ? item->text : "unknown";
}

/* The rows of every list. */
#define HF_LIST(list, title, sentence) static const hf_vocab_item list##_items[] = {
#define HF_ITEM(enumerator, number, text, origin, sentence)                                        \
    {number, text, #enumerator, origin, sentence},
#define HF_LIST_END(list)                                                                          \
    }                                                                                              \
    ;
#include "model/vocab.def"
#undef HF_LIST
#undef HF_ITEM
#undef HF_LIST_END

/* Their headings. */
#define HF_LIST(list, title, sentence)                                                             \
    const hf_vocab hf_##list##_list = {#list, title, sentence, list##_items,                       \
                                       sizeof(list##_items) / sizeof(list##_items[0])};
#define HF_ITEM(enumerator, number, text, origin, sentence)
#define HF_LIST_END(list)
#include "model/vocab.def"
#undef HF_LIST
#undef HF_LIST_END

/* The functions of every list. */
#define HF_LIST(list, title, sentence)
#define HF_LIST_END(list)                                                                          \
    const char *hf_##list##_text(hf_##list value)                                                  \
    {                                                                                              \
        return hf_vocab_text(&hf_##list##_list, (int64_t)value);                                   \
    }                                                                                              \
    bool hf_##list##_parse(hf_slice text, hf_##list *out_value)                                    \
    {                                                                                              \
        const hf_vocab_item *item = hf_vocab_by_text(&hf_##list##_list, text);                     \
                                                                                                   \
        if (item)                                                                                  \
            *out_value = (hf_##list)item->number;                                                  \
        return item != NULL;                                                                       \
    }                                                                                              \
    bool hf_##list##_from(int64_t number, hf_##list *out_value)                                    \
    {                                                                                              \
        const hf_vocab_item *item = hf_vocab_by_number(&hf_##list##_list, number);                 \
                                                                                                   \
        if (item)                                                                                  \
            *out_value = (hf_##list)item->number;                                                  \
        return item != NULL;                                                                       \
    }
#include "model/vocab.def"
#undef HF_LIST
#undef HF_LIST_END

/* The list of lists. */
static const hf_vocab *const vocab_lists[] = {
#define HF_LIST(list, title, sentence) &hf_##list##_list,
#define HF_LIST_END(list)
#include "model/vocab.def"
#undef HF_LIST
#undef HF_LIST_END
#undef HF_ITEM
};

static const hf_repair_blocked_look repair_looks[] = {
#define HF_REPAIR_BLOCKED(enumerator, number, text, label, tone, badge, sentence)                  \
    {enumerator, label, tone, badge},
#include "model/repair.def"
#undef HF_REPAIR_BLOCKED
};

const hf_vocab *hf_vocab_at(size_t index)
{
    return index < sizeof(vocab_lists) / sizeof(vocab_lists[0]) ? vocab_lists[index] : NULL;
}

bool hf_cmd_outcome_rejected(hf_cmd_outcome outcome)
{
    return (int)outcome >= HF_CMD_OUTCOME_REJECTED_FROM;
}

hf_status_bucket hf_run_status_bucket(hf_run_status status)
{
    switch (status) {
    case HF_RUN_STATUS_PENDING:
    case HF_RUN_STATUS_RUNNING:
    case HF_RUN_STATUS_WAITING:
        return HF_STATUS_BUCKET_RUNNING;
    case HF_RUN_STATUS_COMPLETED:
        return HF_STATUS_BUCKET_COMPLETED;
    case HF_RUN_STATUS_FAILED:
    case HF_RUN_STATUS_CANCELLED:
    case HF_RUN_STATUS_TERMINATED:
        return HF_STATUS_BUCKET_FAILED;
    case HF_RUN_STATUS_RESERVED: /* an instance without a run is in no bucket */
        break;
    }
    return (hf_status_bucket)0;
}

bool hf_run_status_closed(hf_run_status status)
{
    hf_status_bucket bucket = hf_run_status_bucket(status);

    return bucket == HF_STATUS_BUCKET_COMPLETED || bucket == HF_STATUS_BUCKET_FAILED;
}

const hf_repair_blocked_look *hf_repair_blocked_look_get(hf_repair_blocked_reason reason)
{
    for (size_t i = 0; i < sizeof(repair_looks) / sizeof(repair_looks[0]); i++) {
        if (repair_looks[i].reason == reason)
            return &repair_looks[i];
    }
    return NULL;
}
