/* The table of the forms of a report (DIAG_FORMS), which diag -o names. A new form is a row in it,
 * its function in report.h, and a file for the function beside this one. */
#pragma once

#include "diag/reports/report.h"

/* A form is made by the only function that it has. The caller frees what that returns. */
struct diag_form {
    const char *name; /* The value of -o. */
    char *(*text)(const struct diag_report *report);
    /* Text in the style of the terminal. */
    char *(*styled)(const struct diag_report *report, const struct diag_text_style *style);
    /* A document, which the program prints as JSON or YAML, with "changes" or "error" in it. */
    json_t *(*document)(const struct diag_report *report);
};
/* The table: name, function. The first is the default. */
#define DIAG_FORMS(FORM)                                                                           \
    FORM("text", .styled = diag_report_text)                                                       \
    FORM("json", .document = diag_report_json)                                                     \
    FORM("yaml", .document = diag_report_json)                                                     \
    FORM("junit", .text = diag_report_junit)                                                       \
    FORM("html", .text = diag_report_html)                                                         \
    FORM("metrics", .text = diag_report_metrics)
/* The names as choices of -o: "text|json|...". */
#define DIAG_FORM_CHOICE(name, ...) "|" name
#define DIAG_FORM_CHOICES (&(DIAG_FORMS(DIAG_FORM_CHOICE))[1])

/* Finds a form by name; the default when no form has that name, or it is NULL. */
const struct diag_form *diag_form_find(const char *name);
