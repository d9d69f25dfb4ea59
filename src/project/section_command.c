/* section_command.c: what was asked of a run, and what became of it: commands from their rows,
   signals and updates from history first: see section.h. */
#include "model/vocab.h"
#include "project/edge.h"
#include "project/section.h"
#include "project/sheet.h"
#include "project/shown.h"

/* A member of what was stored with a command; null when there is none. */
static void put_member(hf_sheet *sh, const char *name, hf_value body)
{
    hf_value value = hf_value_find(body, hf_slice_of(name));

    hf_sheet_put(sh, name, value ? value : hf_value_null());
}

/* What was brought along; for people when the compose shows payloads so. */
static void put_brought(hf_sheet *sh, hf_value body)
{
    hf_value value = hf_value_find(body, HF_SLICE("payload"));

    if (!sh->st && value && hf_compose_shows(sh->s->compose))
        sh->st = hf_shown_value(sh->s->mem, value, &value, sh->err);
    hf_sheet_put(sh, "payload", value ? value : hf_value_null());
}

/* Who asked, and how. Calls of the C API keep the fingerprint alone: the rest is the same for all.
 */
static void put_context(hf_sheet *sh, hf_mem *mem, hf_value body)
{
    const char *print = hf_str(body, "fingerprint", NULL);

    if (hf_value_find(body, HF_SLICE("context")) || !print)
        put_member(sh, "context", body);
    else
        hf_sheet_put(sh, "context",
                     hf_json_(mem,
                              "{'caller': {'type': 'embedded', 'label': 'C API'}, "
                              "'auth': {'status': 'not_applicable', 'method': null}, "
                              "'request': {'request_id': %s, 'fingerprint': %s}}",
                              hf_str(body, "request_id", NULL), print));
}

/* The key of the command that brought the message; 0: it does not say. */
static int64_t message_command(const hf_track_message *m)
{
    hf_ulid id;

    return hf_event_id(m->came, HF_KEY_WORKFLOW_COMMAND_ID, &id) ? hf_ulid_key(&id) : 0;
}

/* The message that a command brought. Both lists are in the order in which they came, so that one
   walk over each is enough. */
static const hf_track_message *message_next(const hf_track_message **io_at,
                                            const hf_dossier_command *c)
{
    if (c->status != HF_COMMAND_STATUS_ACCEPTED ||
        (c->type != HF_COMMAND_TYPE_SIGNAL && c->type != HF_COMMAND_TYPE_UPDATE))
        return NULL;
    for (const hf_track_message *m = *io_at; m; m = m->next)
        if (message_command(m) == c->key) {
            *io_at = m->next;
            return m;
        }
    return NULL;
}

static hf_update_status update_status(const hf_track_message *m)
{
    hf_slice message;

    if (!m->ended)
        return HF_UPDATE_STATUS_ACCEPTED;
    return hf_event_text(m->ended, HF_KEY_MESSAGE, &message) ? HF_UPDATE_STATUS_FAILED
                                                             : HF_UPDATE_STATUS_COMPLETED;
}

static hf_signal_status signal_status(const hf_track_message *m)
{
    return m->applied ? HF_SIGNAL_STATUS_APPLIED : HF_SIGNAL_STATUS_RECEIVED;
}

/* Which signal or update the command is, and how far that has come. */
static void put_life(hf_sheet *sh, const hf_track_message *m, const hf_dossier_command *c)
{
    if (c->type == HF_COMMAND_TYPE_SIGNAL) {
        if (m)
            hf_sheet_id(sh, "signal_id", &m->id);
        hf_sheet_word(sh, "signal_status", &hf_signal_status_list,
                      m ? signal_status(m) : HF_SIGNAL_STATUS_REJECTED);
        hf_sheet_text(sh, "signal_wait_id", m ? m->wait_id : (hf_slice){0});
    }
    if (c->type == HF_COMMAND_TYPE_UPDATE) {
        if (m)
            hf_sheet_id(sh, "update_id", &m->id);
        hf_sheet_word(sh, "update_status", &hf_update_status_list,
                      m ? update_status(m) : HF_UPDATE_STATUS_REJECTED);
    }
}

hf_status hf_section_commands(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track_message *at = hf_track_messages(hf_compose_track(section->compose));
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_dossier_command *c = section->dossier->commands; !st && c; c = c->next) {
        bool accepted = c->status == HF_COMMAND_STATUS_ACCEPTED;
        hf_ulid id = hf_ulid_form(c->recorded_us, c->key, 0);
        hf_value body = hf_value_null();
        hf_sheet sh = hf_sheet_begin(section, err);

        if (c->body.len)
            sh.st = hf_edge_json(section->mem, c->body, &body, err);
        hf_sheet_id(&sh, "id", &id);
        hf_sheet_int(&sh, "sequence", c->command_seq);
        hf_sheet_int(&sh, "message_sequence", c->message_seq);
        hf_sheet_word(&sh, "type", &hf_command_type_list, c->type);
        hf_sheet_word(&sh, "status", &hf_command_status_list, c->status);
        hf_sheet_word(&sh, "outcome", &hf_cmd_outcome_list, c->outcome);
        hf_sheet_word(&sh, "rejection_reason", &hf_rejection_reason_list, c->rejection);
        hf_sheet_word(&sh, "target_scope", &hf_target_scope_list, c->scope);
        hf_sheet_word(&sh, "source", &hf_command_source_list, c->source);
        hf_sheet_text(&sh, "target_name", c->name);
        hf_sheet_time(&sh, "accepted_at", accepted ? c->recorded_us : HF_EDGE_NO_TIME);
        hf_sheet_time(&sh, "rejected_at", accepted ? HF_EDGE_NO_TIME : c->recorded_us);
        hf_sheet_time(&sh, "applied_at", c->applied_us);
        hf_sheet_time(&sh, "closed_at", c->closed_us);
        put_context(&sh, section->mem, body);
        put_brought(&sh, body);
        put_member(&sh, "reason", body);
        put_member(&sh, "request_id", body);
        put_member(&sh, "validation_errors", body);
        put_life(&sh, message_next(&at, c), c);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_value, err);
}

/* ---- signals and updates */

/* The command that brought the message, from where the last one was found; NULL: its row is gone.
 */
static const hf_dossier_command *command_next(const hf_dossier_command **io_at,
                                              const hf_track_message *m)
{
    int64_t key = message_command(m);

    for (const hf_dossier_command *c = *io_at; key && c; c = c->next)
        if (c->key == key) {
            *io_at = c->next;
            return c;
        }
    return NULL;
}

static void put_message(hf_sheet *sh, const hf_track_message *m, const hf_dossier_command *c)
{
    hf_sheet_id(sh, "id", &m->id);
    hf_sheet_field(sh, "command_id", m->came, HF_KEY_WORKFLOW_COMMAND_ID);
    hf_sheet_int(sh, "command_sequence", c ? c->command_seq : HF_NONE);
    hf_sheet_word(sh, "outcome", &hf_cmd_outcome_list, c ? c->outcome : HF_NONE);
    hf_sheet_text(sh, "name", m->name);
    hf_sheet_payload(sh, "arguments", m->came, HF_KEY_ARGUMENTS);
    hf_sheet_int(sh, "workflow_sequence", m->applied ? m->applied->step : HF_NONE);
    hf_sheet_event_time(sh, "applied_at", m->applied);
}

/* A signal or an update that was refused: no event tells of it, its command does. */
static hf_status refused_append(const hf_section *section, const hf_dossier_command *c,
                                hf_value_list *list, hf_err *err)
{
    hf_ulid id = hf_ulid_form(c->recorded_us, c->key, 0);
    hf_value body = hf_value_null();
    hf_sheet sh = hf_sheet_begin(section, err);

    if (c->body.len)
        sh.st = hf_edge_json(section->mem, c->body, &body, err);
    hf_sheet_put(&sh, "id", hf_value_null());
    hf_sheet_id(&sh, "command_id", &id);
    hf_sheet_int(&sh, "command_sequence", c->command_seq);
    hf_sheet_word(&sh, "outcome", &hf_cmd_outcome_list, c->outcome);
    hf_sheet_text(&sh, "name", c->name);
    hf_sheet_put(&sh, "arguments", hf_value_null());
    hf_sheet_word(&sh, "status", &hf_signal_status_list, HF_SIGNAL_STATUS_REJECTED);
    hf_sheet_word(&sh, "rejection_reason", &hf_rejection_reason_list, c->rejection);
    put_member(&sh, "validation_errors", body);
    hf_sheet_time(&sh, "rejected_at", c->recorded_us);
    return hf_sheet_append(&sh, list);
}

hf_status hf_section_signals(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    const hf_dossier_command *at = section->dossier->commands;
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_message *m = hf_track_messages(track); !st && m; m = m->next) {
        hf_sheet sh = hf_sheet_begin(section, err);

        if (m->update)
            continue;
        put_message(&sh, m, command_next(&at, m));
        hf_sheet_text(&sh, "signal_wait_id", m->wait_id);
        hf_sheet_word(&sh, "status", &hf_signal_status_list, signal_status(m));
        hf_sheet_event_time(&sh, "received_at", m->came);
        st = hf_sheet_append(&sh, list);
    }
    for (const hf_dossier_command *c = section->dossier->commands; !st && c; c = c->next)
        if (c->type == HF_COMMAND_TYPE_SIGNAL && c->status == HF_COMMAND_STATUS_REJECTED)
            st = refused_append(section, c, list, err);
    return hf_sheet_list(list, st, out_value, err);
}

hf_status hf_section_updates(const hf_section *section, hf_value *out_value, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    const hf_dossier_command *at = section->dossier->commands;
    hf_value_list *list = hf_value_array(section->mem);
    hf_status st = HF_OK;

    for (const hf_track_message *m = hf_track_messages(track); !st && m; m = m->next) {
        hf_sheet sh = hf_sheet_begin(section, err);

        if (!m->update)
            continue;
        put_message(&sh, m, command_next(&at, m));
        hf_sheet_word(&sh, "status", &hf_update_status_list, update_status(m));
        hf_sheet_payload(&sh, "result", m->ended, HF_KEY_RESULT);
        hf_sheet_field(&sh, "failure_message", m->ended, HF_KEY_MESSAGE);
        hf_sheet_event_time(&sh, "accepted_at", m->came);
        hf_sheet_event_time(&sh, "closed_at", m->ended);
        st = hf_sheet_append(&sh, list);
    }
    for (const hf_dossier_command *c = section->dossier->commands; !st && c; c = c->next)
        if (c->type == HF_COMMAND_TYPE_UPDATE && c->status == HF_COMMAND_STATUS_REJECTED)
            st = refused_append(section, c, list, err);
    return hf_sheet_list(list, st, out_value, err);
}
