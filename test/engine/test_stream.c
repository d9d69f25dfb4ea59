/* Message streams between instances, through holdfast.h on both databases, with everything but the
   store forgotten between moves. */
#include <stdio.h>
#include <string.h>

#include "holdfast/holdfast.h"
#include "lib/kit.h"

/* ---- the application */

/* Sends three messages to the instance it is given, and one more when it is told to. */
static hf_value sender(hf_ctx *w, hf_value in)
{
    const char *to = hf_str(in, "to", "reader");

    for (int i = 1; i <= 3; i++)
        hf_messages_send(w, to, "mail", hf_str(hf_json(w, "'blob:%d'", i), "", ""));
    hf_receive(w, "more");
    hf_messages_send(w, to, "mail", "blob:4");
    return hf_json(w, "'sent'");
}

/* Looks at one, reads two, then one, then what is left; each when it is told to. */
static hf_value reader(hf_ctx *w, hf_value in)
{
    hf_value peeked;
    hf_value two;
    hf_value one;
    hf_value rest;

    (void)in;
    hf_receive(w, "ring");
    peeked = hf_messages_peek(w, "mail", 1);
    two = hf_messages_receive(w, "mail", 2);
    hf_receive(w, "ring");
    one = hf_messages_receive(w, "mail", 1);
    rest = hf_messages_receive(w, "mail", 0);
    return hf_json(w, "[%p, %p, %p, %p]", (const void *)peeked, (const void *)two,
                   (const void *)one, (const void *)rest);
}

/* Reads one message in each run and says in the last which ones. */
static hf_value relay(hf_ctx *w, hf_value in)
{
    hf_value got;

    hf_receive(w, "ring");
    got = hf_messages_receive(w, "mail", 1);
    if (hf_len(got) == 0)
        return in;
    hf_continue_as_new(w,
                       hf_json(w, "'%s %s'", hf_str(in, "", ""), hf_str(got, "0.payload_ref", "")));
}

/* Talks to itself and to a child that it starts in the same turn. */
static hf_value parent(hf_ctx *w, hf_value in)
{
    hf_future child = hf_spawn_child(w, "kid", in, .id = "kid-1");
    hf_value read;

    hf_messages_send(w, "kid-1", "mail", "hello");
    hf_messages_send(w, hf_workflow_id(w), "mail", "note to self");
    read = hf_join(w, child);
    return hf_json(w, "{'kid': %p, 'own': %p}", (const void *)read,
                   (const void *)hf_messages_receive(w, "mail", 0));
}

static hf_value kid(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_messages_receive(w, "mail", 0);
}

static hf_value bad(hf_ctx *w, hf_value in)
{
    char long_text[193];

    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    switch (hf_int(in, "", 0)) {
    case 0:
        hf_messages_send(w, "reader", "", "ref");
        break;
    case 1:
        hf_messages_send(w, "no spaces please", "mail", "ref");
        break;
    case 2:
        hf_messages_send(w, "reader", "mail", NULL);
        break;
    case 3:
        hf_messages_send(w, "reader", "mail", long_text);
        break;
    case 4:
        hf_messages_send(w, "reader", "mail", "\xff");
        break;
    default:
        (void)hf_messages_peek(w, long_text, 1);
        break;
    }
    return in;
}

static const hf_signal_def rings[] = {{.name = "ring"}, {.name = "more"}, {0}};
static const hf_workflow_def workflows[] = {{.type = "sender", .run = sender, .signals = rings},
                                            {.type = "reader", .run = reader, .signals = rings},
                                            {.type = "relay", .run = relay, .signals = rings},
                                            {.type = "parent", .run = parent},
                                            {.type = "kid", .run = kid},
                                            {.type = "bad", .run = bad},
                                            {0}};
static const hf_app app = {.name = "streams", .workflows = workflows};

/* ---- helpers */

static void settle(hf_engine *d)
{
    hf_test_drain(d);
    hf_test_crash(d);
}

static void ring(hf_engine *d, const char *id, const char *signal)
{
    hf_kit_ok(d, hf_signal(d, id, signal, NULL));
    settle(d);
}

/* ---- the cases */

/* What is sent arrives in order and once, is looked at without being used up, and is the same in
   every replay. */
HF_EVERY_WAY(messages_arrive_in_order_and_once)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "reader", NULL, .id = "reader"));
    hf_kit_ok(d, hf_start(d, "sender", NULL, .id = "s"));
    settle(d);
    ring(d, "reader", "ring");
    ring(d, "s", "more");
    ck_assert_str_eq(hf_kit_said(d, "reader", "MessageCursorAdvanced", 1, HF_KEY_STREAM_KEY),
                     "mail");
    ck_assert_str_eq(hf_kit_said(d, "reader", "MessageCursorAdvanced", 1, HF_KEY_NEW_POSITION),
                     "2");
    ring(d, "reader", "ring");
    ck_assert_str_eq(hf_kit_result(d, "reader"),
                     "[[{\"position\":1,\"from\":\"s\",\"payload_ref\":\"blob:1\"}],"
                     "[{\"position\":1,\"from\":\"s\",\"payload_ref\":\"blob:1\"},"
                     "{\"position\":2,\"from\":\"s\",\"payload_ref\":\"blob:2\"}],"
                     "[{\"position\":3,\"from\":\"s\",\"payload_ref\":\"blob:3\"}],"
                     "[{\"position\":4,\"from\":\"s\",\"payload_ref\":\"blob:4\"}]]");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message WHERE direction = 1"), 4);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message WHERE direction = 2"), 4);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message WHERE state = 1"), 0);
    hf_kit_close(d);
}

/* Two senders of one batch share a stream: it is numbered without a gap. */
HF_EVERY_WAY(senders_share_a_stream)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "reader", NULL, .id = "reader"));
    for (int i = 0; i < 5; i++)
        hf_kit_ok(d, hf_start(d, "sender", NULL));
    settle(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message WHERE direction = 1"), 15);
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(seq) FROM message WHERE direction = 1"), 15);
    ck_assert_int_eq(hf_kit_number(d, "SELECT max(seq) FROM message WHERE direction = 2"), 3);
    hf_kit_close(d);
}

/* What a run did not read is there for the run that follows it; what it read is not. */
HF_EVERY_WAY(messages_stay_with_the_instance)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "relay", hf_json(d, "'got'"), .id = "reader"));
    hf_kit_ok(d, hf_start(d, "sender", NULL, .id = "s"));
    settle(d);
    for (int i = 0; i < 4; i++)
        ring(d, "reader", "ring");
    ck_assert_str_eq(hf_kit_result(d, "reader"), "\"got blob:1 blob:2 blob:3\"");
    hf_kit_close(d);
}

/* A child is there for the turn that starts it, and so is the instance itself; both directions of
   one stream share its numbers. */
HF_EVERY_WAY(messages_reach_new_children_and_oneself)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "parent", NULL, .id = "p"));
    for (int i = 0; i < 4; i++)
        settle(d);
    ck_assert_str_eq(hf_kit_result(d, "p"),
                     "{\"kid\":[{\"position\":1,\"from\":\"p\",\"payload_ref\":\"hello\"}],"
                     "\"own\":[{\"position\":2,\"from\":\"p\",\"payload_ref\":\"note to self\"}]}");
    hf_kit_close(d);
}

/* A message to nobody stands as failed with its sender, who goes on. */
HF_EVERY_WAY(message_to_nobody_fails_on_the_record)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "sender", hf_json(d, "{'to': 'nobody'}"), .id = "s"));
    settle(d);
    ring(d, "s", "more");
    ck_assert_str_eq(hf_kit_result(d, "s"), "\"sent\"");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message WHERE state = 3"), 4);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message"), 4);
    hf_kit_close(d);
}

/* Streams, references and addresses that are no names fail the run with a type. */
HF_EVERY_WAY(bad_messages_are_refused)
{
    hf_engine *d = hf_kit_open(kind, &app);

    for (int i = 0; i < 6; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "bad-%d", i);
        hf_kit_ok(d, hf_start(d, "bad", hf_json(d, "%d", i), .id = id));
        hf_test_drain(d);
        ck_assert_str_eq(hf_test_status(d, id), "failed");
        ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE),
                         "invalid_name");
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message"), 0);
    hf_kit_close(d);
}

/* A reset gives back what the dropped steps read, and keeps what the others did. */
HF_EVERY_WAY(reset_gives_messages_back)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "reader", NULL, .id = "reader"));
    hf_kit_ok(d, hf_start(d, "sender", NULL, .id = "s"));
    settle(d);
    ring(d, "reader", "ring");
    ring(d, "reader", "ring");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM message WHERE state = 1"), 0);
    hf_kit_ok(
        d, hf_reset_with(d, "reader", &(hf_copy_opts){.size_ = sizeof(hf_copy_opts), .step = 3}));
    ck_assert_int_eq(
        hf_kit_number(d, "SELECT min(seq) FROM message WHERE direction = 1 AND state = 1"), 3);
    settle(d);
    ring(d, "reader", "ring");
    ck_assert_ptr_nonnull(strstr(hf_kit_result(d, "reader"),
                                 "[{\"position\":3,\"from\":\"s\",\"payload_ref\":\"blob:3\"}]"));
    hf_kit_close(d);
}

static hf_status scenario(hf_engine *d, void *arg)
{
    hf_status st = hf_start(d, "reader", NULL, .id = "reader");

    (void)arg;
    if (!st)
        st = hf_start(d, "sender", NULL, .id = "s");
    for (int i = 0; !st && i < 2; i++) {
        st = hf_test_drain(d);
        if (!st)
            st = hf_signal(d, "reader", "ring", NULL);
    }
    return st ? st : hf_test_drain(d);
}

/* Whichever commit is the last before a crash: the same messages, read in the same steps. */
START_TEST(messages_survive_every_crash)
{
    char why[512] = "";

    ck_assert_msg(hf_test_crash_everywhere(&app, scenario, NULL, why, sizeof(why)) == HF_OK, "%s",
                  why);
}
END_TEST

HF_PG_SUITE_MAIN("engine/stream", HF_WAYS(messages_arrive_in_order_and_once),
                 HF_WAYS(senders_share_a_stream), HF_WAYS(messages_stay_with_the_instance),
                 HF_WAYS(messages_reach_new_children_and_oneself),
                 HF_WAYS(message_to_nobody_fails_on_the_record), HF_WAYS(bad_messages_are_refused),
                 HF_WAYS(reset_gives_messages_back), {messages_survive_every_crash, 60})
