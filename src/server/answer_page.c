/* answer_page.c: see answer_page.h. The pages load nothing: their one style sheet is in them, and
   the policy names it by its digest. */
#include "server/answer_page.h"

#include <string.h>

#include "base/base64.h"
#include "base/crypto.h"
#include "base/value.h"

static const char style[] =
    ":root{color-scheme:light dark}"
    "body{margin:0;font:16px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}"
    "main{max-width:36rem;margin:3rem auto;padding:0 1.25rem}"
    "h1{font-size:1.4rem;line-height:1.25}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:1.25rem 0}"
    "dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}"
    "label{display:block;margin-top:1rem;font-weight:600}"
    "label small{font-weight:400;opacity:.7}"
    "input,select,textarea{box-sizing:border-box;width:100%;font:inherit;padding:.5rem;"
    "border:1px solid GrayText;border-radius:6px;background:Field;color:FieldText}"
    "textarea{min-height:6rem}"
    "button{margin-top:1.5rem;font:inherit;font-weight:600;padding:.6rem 1.4rem;border:0;"
    "border-radius:6px;background:#1f5fd0;color:#fff}"
    "button:focus-visible,input:focus-visible,select:focus-visible,textarea:focus-visible{"
    "outline:3px solid #6aa0ff;outline-offset:1px}"
    ".fault{color:#c0392b;margin:.25rem 0 0;font-weight:600}"
    "footer{margin-top:2.5rem;font-size:.85rem;opacity:.7}";

/* ---- pieces */

static void html_add(hf_buf *out, hf_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        switch (c) {
        case '&':
            hf_buf_add_text(out, "&amp;");
            break;
        case '<':
            hf_buf_add_text(out, "&lt;");
            break;
        case '>':
            hf_buf_add_text(out, "&gt;");
            break;
        case '"':
            hf_buf_add_text(out, "&quot;");
            break;
        case '\'':
            hf_buf_add_text(out, "&#39;");
            break;
        default:
            hf_buf_add_byte(out, (uint8_t)c);
        }
    }
}

/* A text that somebody chose: its direction is its own. */
static void chosen_add(hf_buf *out, hf_slice text)
{
    hf_buf_add_text(out, "<bdi>");
    html_add(out, text);
    hf_buf_add_text(out, "</bdi>");
}

static void headers_add(hf_api *api)
{
    uint8_t digest[HF_SHA256_BYTES];
    char text[64] = "";
    hf_sha256 *sha = NULL;
    const char *policy;

    if (!hf_sha256_new(&sha, NULL) &&
        !hf_sha256_digest(sha, hf_slice_from(style, sizeof(style) - 1), digest, NULL))
        hf_base64_put(hf_slice_from(digest, sizeof(digest)), text);
    hf_sha256_free(sha);
    policy = hf_mem_format(api->mem,
                           "default-src 'none'; style-src 'sha256-%s'; form-action 'self'; "
                           "base-uri 'none'; frame-ancestors 'none'",
                           text);
    hf_http_reply_field(&api->reply, "Content-Security-Policy",
                        hf_slice_of(policy ? policy : "default-src 'none'"));
    hf_http_reply_field(&api->reply, "Referrer-Policy", HF_SLICE("same-origin"));
    hf_http_reply_field(&api->reply, "X-Robots-Tag", HF_SLICE("noindex"));
    hf_http_reply_field(&api->reply, "Cross-Origin-Opener-Policy", HF_SLICE("same-origin"));
    hf_http_reply_field(&api->reply, "Cross-Origin-Resource-Policy", HF_SLICE("same-origin"));
    if (api->reply.status == 429)
        hf_http_reply_field(&api->reply, "Retry-After", HF_SLICE("10"));
}

static hf_buf *page_begin(hf_api *api, int status, const char *title)
{
    hf_buf *out = &api->reply.body;

    hf_buf_clear(out);
    api->reply.status = status;
    api->reply.type = "text/html; charset=utf-8";
    api->reply.secret = true;
    headers_add(api);
    hf_buf_add_text(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                         "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    html_add(out, hf_slice_of(title));
    hf_buf_add_format(out, "</title><style>%s</style></head>\n<body><main><h1>", style);
    html_add(out, hf_slice_of(title));
    hf_buf_add_text(out, "</h1>\n");
    return out;
}

static void page_end(hf_buf *out)
{
    hf_buf_add_text(out, "</main></body></html>\n");
}

void hf_answer_page_say(hf_api *api, int status, const char *title, const char *sentence)
{
    hf_buf *out = page_begin(api, status, title);

    hf_buf_add_text(out, "<p>");
    html_add(out, hf_slice_of(sentence));
    hf_buf_add_text(out, "</p>");
    page_end(out);
}

/* ---- the form */

static void faults_add(hf_buf *out, hf_value faults, const char *name)
{
    hf_value list = hf_value_find(faults, hf_slice_of(name));

    for (size_t i = 0; i < hf_len(list); i++) {
        hf_buf_add_text(out, "<p class=\"fault\">");
        html_add(out, hf_value_slice(hf_at(list, i)));
        hf_buf_add_text(out, "</p>");
    }
}

static void option_add(hf_buf *out, hf_slice value, hf_slice shown, hf_slice typed)
{
    hf_buf_add_text(out, "<option value=\"");
    html_add(out, value);
    hf_buf_add_text(out, hf_slice_equal(value, typed) ? "\" selected>" : "\">");
    html_add(out, shown);
    hf_buf_add_text(out, "</option>");
}

static void select_add(hf_buf *out, hf_value parameter, const char *attributes, hf_slice typed)
{
    hf_value choices = hf_get(parameter, "enum");

    hf_buf_add_format(out, "<select %s>", attributes);
    option_add(out, HF_SLICE(""), HF_SLICE("Choose"), typed);
    if (strcmp(hf_str(parameter, "type", ""), "bool") == 0) {
        option_add(out, HF_SLICE("true"), HF_SLICE("Yes"), typed);
        option_add(out, HF_SLICE("false"), HF_SLICE("No"), typed);
    }
    for (size_t i = 0; i < hf_len(choices); i++)
        option_add(out, hf_value_slice(hf_at(choices, i)), hf_value_slice(hf_at(choices, i)),
                   typed);
    hf_buf_add_text(out, "</select>");
}

static void input_add(hf_buf *out, const char *kind, const char *attributes, hf_slice typed)
{
    hf_buf_add_format(out, "<input %s %s value=\"", kind, attributes);
    html_add(out, typed);
    hf_buf_add_text(out, "\">");
}

static void area_add(hf_buf *out, const char *attributes, hf_slice typed)
{
    hf_buf_add_format(out, "<textarea %s>\n", attributes);
    html_add(out, typed);
    hf_buf_add_text(out, "</textarea>");
}

/* How a parameter is asked for, by its type. */
static void control_add(hf_buf *out, hf_value parameter, const char *attributes, hf_slice typed)
{
    const char *type = hf_str(parameter, "type", "any");

    if (strcmp(type, "bool") == 0 || strcmp(type, "enum") == 0)
        select_add(out, parameter, attributes, typed);
    else if (strcmp(type, "int") == 0 || strcmp(type, "duration") == 0)
        input_add(out, "type=\"number\" step=\"1\"", attributes, typed);
    else if (strcmp(type, "number") == 0)
        input_add(out, "type=\"number\" step=\"any\"", attributes, typed);
    else if (strcmp(type, "string") == 0 || strcmp(type, "time") == 0)
        input_add(out, "type=\"text\"", attributes, typed);
    else
        area_add(out, attributes, typed);
}

static const char *hint_of(hf_value parameter)
{
    const char *type = hf_str(parameter, "type", "any");

    if (strcmp(type, "time") == 0)
        return "such as 2026-04-12T09:00:00Z";
    if (strcmp(type, "duration") == 0)
        return "in milliseconds";
    return strcmp(type, "array") == 0 || strcmp(type, "object") == 0 ? "JSON" : NULL;
}

static void parameter_add(hf_api *api, hf_buf *out, hf_value parameter, size_t at,
                          const hf_http_query *typed, hf_value faults)
{
    const char *name = hf_str(parameter, "name", "");
    const char *field = hf_mem_format(api->mem, HF_ANSWER_FIELD "%s", name);
    bool required = hf_bool(parameter, "required", false);
    const char *hint = hint_of(parameter);
    hf_buf attributes = {0};
    hf_slice before = {0};

    if (typed && field)
        (void)hf_http_query_find(typed, field, &before);
    hf_buf_add_format(&attributes, "id=\"f%zu\" name=\"", at);
    html_add(&attributes, hf_slice_of(field ? field : ""));
    hf_buf_add_text(&attributes, required ? "\" required" : "\"");
    hf_buf_add_format(out, "<label for=\"f%zu\">", at);
    chosen_add(out, *name ? hf_slice_of(name) : HF_SLICE("Your answer"));
    hf_buf_add_format(out, "%s", required ? "" : " <small>(may be left out)</small>");
    if (hint)
        hf_buf_add_format(out, " <small>%s</small>", hint);
    hf_buf_add_text(out, "</label>");
    control_add(out, parameter, hf_buf_text(&attributes), before);
    faults_add(out, faults, name);
    hf_buf_fini(&attributes);
}

static void row_add(hf_buf *out, const char *name, hf_value text)
{
    if (hf_value_kind_of(text) != HF_VALUE_STRING)
        return;
    hf_buf_add_format(out, "<dt>%s</dt><dd>", name);
    chosen_add(out, hf_value_slice(text));
    hf_buf_add_text(out, "</dd>");
}

static void question_add(hf_buf *out, hf_value link)
{
    hf_value approval = hf_get(link, "approval");

    hf_buf_add_text(out, "<dl>");
    row_add(out, "Asked", hf_get(approval, "name"));
    row_add(out, "By", hf_get(approval, "workflow_id"));
    row_add(out, "Workflow", hf_get(approval, "workflow_type"));
    row_add(out, "Key", hf_get(approval, "business_key"));
    row_add(out, "Since", hf_get(approval, "since"));
    row_add(out, "Until", hf_get(approval, "until"));
    row_add(out, "For", hf_get(link, "label"));
    hf_buf_add_text(out, "</dl>\n");
}

/* Faults that no field shows. */
static void others_add(hf_buf *out, hf_value parameters, hf_value faults)
{
    hf_slice name;
    hf_value list;

    for (size_t i = 0; hf_value_member(faults, i, &name, &list); i++) {
        bool shown = false;

        for (size_t k = 0; k < hf_len(parameters); k++)
            shown =
                shown || hf_slice_equal(name, hf_value_slice(hf_get(hf_at(parameters, k), "name")));
        for (size_t k = 0; !shown && k < hf_len(list); k++) {
            hf_buf_add_text(out, "<p class=\"fault\">");
            html_add(out, hf_value_slice(hf_at(list, k)));
            hf_buf_add_text(out, "</p>");
        }
    }
}

void hf_answer_page_ask(hf_api *api, int status, hf_value link, const hf_http_query *typed,
                        hf_value faults)
{
    hf_buf *out = page_begin(api, status, "An answer is needed");
    hf_value parameters = hf_get(link, "approval.parameters");
    hf_slice before = {0};

    question_add(out, link);
    hf_buf_add_text(out, "<form method=\"post\">\n");
    others_add(out, parameters, faults);
    for (size_t i = 0; i < hf_len(parameters); i++)
        parameter_add(api, out, hf_at(parameters, i), i, typed, faults);
    if (hf_value_kind_of(parameters) != HF_VALUE_ARRAY) {
        if (typed)
            (void)hf_http_query_find(typed, HF_ANSWER_PLAIN, &before);
        hf_buf_add_text(out, "<label for=\"f0\">Your answer <small>(text or JSON; may be left "
                             "out)</small></label>");
        area_add(out, "id=\"f0\" name=\"" HF_ANSWER_PLAIN "\"", before);
    }
    hf_buf_add_text(out, "<button>Send the answer</button></form>\n"
                         "<footer>This link answers once. It is good until ");
    html_add(out, hf_slice_of(hf_str(link, "expires_at", "")));
    hf_buf_add_text(out, ".</footer>");
    page_end(out);
}
