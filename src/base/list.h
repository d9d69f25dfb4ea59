/* list.h: intrusive, circular, doubly linked list. A head and every member hold an hf_list; the
   list never allocates and owns nothing. A link belongs to at most one list at a time; removing it
   leaves it linked to itself, so that removing it again is harmless. Not thread-safe. */
#ifndef HF_BASE_LIST_H
#define HF_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hf_list {
    struct hf_list *prev;
    struct hf_list *next;
} hf_list;

/* The struct of `type` whose `member` is `link`. */
#define HF_LIST_ENTRY(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Makes an empty list of a head, or an unlinked link of a member. */
static inline void hf_list_init(hf_list *link)
{
    link->prev = link;
    link->next = link;
}

static inline bool hf_list_empty(const hf_list *head)
{
    return head->next == head;
}

/* Whether a member is in some list. */
static inline bool hf_list_linked(const hf_list *link)
{
    return link->next != link;
}

/* Puts an unlinked `link` behind `place`; with the head as place it becomes the first. */
static inline void hf_list_add_after(hf_list *place, hf_list *link)
{
    link->prev = place;
    link->next = place->next;
    place->next->prev = link;
    place->next = link;
}

static inline void hf_list_add_first(hf_list *head, hf_list *link)
{
    hf_list_add_after(head, link);
}

static inline void hf_list_add_last(hf_list *head, hf_list *link)
{
    hf_list_add_after(head->prev, link);
}

static inline void hf_list_remove(hf_list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    hf_list_init(link);
}

/* The first or last link, or NULL when the list is empty. */
static inline hf_list *hf_list_first(const hf_list *head)
{
    return head->next == head ? NULL : head->next;
}

static inline hf_list *hf_list_last(const hf_list *head)
{
    return head->prev == head ? NULL : head->prev;
}

/* The link behind `link`, or NULL at the end. Take it before removing `link`. */
static inline hf_list *hf_list_next(const hf_list *head, const hf_list *link)
{
    return link->next == head ? NULL : link->next;
}

/* Removes and returns the first link, or NULL. */
static inline hf_list *hf_list_take_first(hf_list *head)
{
    hf_list *link = hf_list_first(head);

    if (link)
        hf_list_remove(link);
    return link;
}

#endif
