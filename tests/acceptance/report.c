/* The report: a line a row while it runs; JSON, HTML and the calls of HNS at the end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/acceptance/acceptance.h"

static const char *const words[] = {"pass", "fail", "skip"};
static json_t *rows;
static unsigned counts[3];

static void say(struct finding *f, const char *format, va_list args) {
    if (f->found.len)
        text_add(&f->found, "; ");
    text_addv(&f->found, format, args);
}

#define SAY(becomes)                                                                               \
    do {                                                                                           \
        va_list args;                                                                              \
                                                                                                   \
        if ((becomes) > f->outcome)                                                                \
            f->outcome = becomes;                                                                  \
        va_start(args, format);                                                                    \
        say(f, format, args);                                                                      \
        va_end(args);                                                                              \
    } while (0)

void finding_fail(struct finding *f, const char *format, ...) {
    SAY(ROW_FAIL);
    f->outcome = ROW_FAIL;
}

void finding_note(struct finding *f, const char *format, ...) {
    SAY(ROW_PASS);
}

void finding_skip(struct finding *f, const char *format, ...) {
    SAY(ROW_SKIP);
}

void report_row(const struct row *row, struct finding *f) {
    json_t *json =
        json_pack("{s:s,s:s,s:s,s:s,s:s}", "id", row->id, "question", row->question, "outcome",
                  words[f->outcome], "expected", row->expected, "found", text_str(&f->found));

    if (!json) /* what a program said is no UTF-8 */
        json = json_pack("{s:s,s:s,s:s,s:s}", "id", row->id, "question", row->question, "outcome",
                         words[f->outcome], "expected", row->expected);
    if (f->differences)
        json_object_set(json, "differences", f->differences);
    rows = rows ? rows : json_array();
    json_array_append_new(rows, json);
    counts[f->outcome]++;
    (void)printf("%-4s  %-28s %s\n", f->outcome == ROW_FAIL ? "FAIL" : words[f->outcome], row->id,
                 text_str(&f->found));
    if (f->outcome == ROW_FAIL)
        (void)printf("      expected: %s\n", row->expected);
    (void)fflush(stdout);
}

static void add_html(struct text *page, const char *s) {
    for (; *s; s++)
        switch (*s) {
        case '<':
            text_add(page, "&lt;");
            break;
        case '>':
            text_add(page, "&gt;");
            break;
        case '&':
            text_add(page, "&amp;");
            break;
        default:
            text_add_char(page, *s);
        }
}

static void add_cell(struct text *page, const char *s) {
    text_add(page, "<td>");
    add_html(page, s ? s : "");
    text_add(page, "</td>");
}

static void add_html_row(struct text *page, const json_t *row) {
    const json_t *differences = json_object_get(row, "differences");
    const char *outcome = json_text_at(row, "outcome");

    text_addf(page, "<tr class=%s>", outcome);
    add_cell(page, outcome);
    add_cell(page, json_text_at(row, "id"));
    add_cell(page, json_text_at(row, "question"));
    add_cell(page, json_text_at(row, "expected"));
    text_add(page, "<td>");
    add_html(page, json_text_at(row, "found") ? json_text_at(row, "found") : "");
    if (json_array_size(differences)) {
        _cleanup_(freep) char *text = json_write_pretty(differences);

        text_add(page, "<details><summary>differs from the model</summary><pre>");
        add_html(page, text);
        text_add(page, "</pre></details>");
    }
    text_add(page, "</td></tr>\n");
}

/* The rows of on-real-windows.md: a kit row's outcome, or what a person runs. */
static void add_html_documented(struct text *page, const json_t *list) {
    const json_t *row;
    size_t i;

    text_add(page, "</table>\n<h2>on-real-windows.md</h2>\n<table><tr><th>outcome<th>row<th>"
                   "question<th>by<th>run<th>should print</tr>\n");
    json_array_foreach(list, i, row) {
        const char *outcome = json_text_at(row, "outcome");

        text_addf(page, "<tr class=%s>", outcome);
        add_cell(page, outcome);
        add_cell(page, json_text_at(row, "row"));
        add_cell(page, json_text_at(row, "question"));
        add_cell(page, json_text_at(row, "by"));
        add_cell(page, json_text_at(row, "run"));
        add_cell(page, json_text_at(row, "expected"));
        text_add(page, "</tr>\n");
    }
}

static char *html(const struct kit *kit, const json_t *list) {
    struct text page = {0};
    const json_t *row;
    size_t i;

    text_add(
        &page,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
        "content='width=device-width'><title>winjoin on this server</title><style>"
        ":root{color-scheme:light dark}body{font:16px/1.4 system-ui,sans-serif;margin:1em}"
        "table{border-collapse:collapse}td,th{border:1px solid #888;padding:.3em;text-align:"
        "left;vertical-align:top;overflow-wrap:anywhere}.fail td:first-child{background:#b00020"
        ";color:#fff}.skip{opacity:.75}</style><h1>winjoin on this server</h1>\n");
    text_addf(&page, "<p>%u passed, %u failed, %u skipped%s</p>\n", counts[ROW_PASS],
              counts[ROW_FAIL], counts[ROW_SKIP], kit->wine ? " (Wine)" : "");
    text_add(&page, "<table><tr><th>outcome<th>row<th>question<th>expected<th>found</tr>\n");
    json_array_foreach(rows, i, row) add_html_row(&page, row);
    add_html_documented(&page, list);
    text_add(&page, "</table></html>\n");
    return text_take(&page);
}

static int save(struct kit *kit, const char *folder, const char *name, const char *text) {
    _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, name);
    struct error err = {0};

    if (host_write(kit->host, path, text, strlen(text), HOST_PUBLIC, &err) < 0)
        return (void)fprintf(stderr, "acceptance: %s\n", err.message), -1;
    (void)printf("written: %s\n", path);
    return 0;
}

/* How many rows of on-real-windows.md the kit has settled, and how many are a person's. */
static void print_documented(const json_t *list) {
    unsigned settled = 0, hand = 0;
    const json_t *row;
    size_t i;

    json_array_foreach(list, i, row) {
        const char *outcome = json_text_at(row, "outcome");

        settled += text_equal(outcome, "pass") || text_equal(outcome, "fail");
        hand += text_equal(outcome, "by hand");
    }
    (void)printf("of %u rows of on-real-windows.md: %u settled, %u skipped, %u by hand\n",
                 (unsigned)json_array_size(list), settled,
                 (unsigned)json_array_size(list) - settled - hand, hand);
}

int report_write(struct kit *kit, const char *folder) {
    rows = rows ? rows : json_array();
    json_t *list = documented(kit, rows);
    _cleanup_json_ json_t *report =
        json_pack("{s:s,s:b,s:i,s:i,s:i,s:o,s:o}", "kind", "AcceptanceReport", "wine", kit->wine,
                  "passed", counts[ROW_PASS], "failed", counts[ROW_FAIL], "skipped",
                  counts[ROW_SKIP], "rows", rows, "documented", list);
    _cleanup_(freep) char *json = json_write_pretty(report);
    _cleanup_(freep) char *page = html(kit, list);
    _cleanup_(freep) char *calls = hns_recorded();
    int written = save(kit, folder, "report.json", json) | save(kit, folder, "report.html", page) |
                  save(kit, folder, "hns.jsonl", calls);

    print_documented(list);
    (void)printf("%u passed, %u failed, %u skipped\n", counts[ROW_PASS], counts[ROW_FAIL],
                 counts[ROW_SKIP]);
    return counts[ROW_FAIL] || written < 0;
}
