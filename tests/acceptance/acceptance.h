/* The acceptance kit: one program that asks a real Windows Server what winjoin's tests can only
 * model, takes back what it made, and writes one report. A question is a row; rows of one subject
 * are a file. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "host/host.h"

/* Access lists of a secret file and folder (host/host.h: HOST_SECRET), as Windows writes them. */
#define SECRET "D:P(A;;FA;;;SY)(A;;FA;;;BA)"
#define SECRET_FOLDER "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
/* Of a folder of programs (HOST_READ_ONLY). */
#define PROGRAMS SECRET_FOLDER "(A;OICI;0x1200a9;;;BU)"
/* Of a folder that containers write to (HOST_PROBE_MAILBOX). */
#define MAILBOX SECRET_FOLDER "(A;OICI;0x1301bf;;;S-1-5-93-2-1)(A;OICI;0x1301bf;;;S-1-5-93-2-2)"

enum outcome { ROW_PASS, ROW_FAIL, ROW_SKIP };

/* What was found. Zero-initialised for each row. */
struct finding {
    enum outcome outcome;
    struct text found;
    json_t *differences; /* how HNS differs from the tests' model; NULL: not compared */
};

/* What a row needs beside an elevated prompt; without it the row is skipped. */
enum {
    NEEDS_WINDOWS = 1, /* Wine lacks what is asked */
    NEEDS_NODE = 2,    /* a joined node */
    NEEDS_ADAPTER = 4, /* --adapter: the server is offline for some seconds */
    NEEDS_JOIN = 8,    /* --join */
    NEEDS_KUBECONFIG = 16,
};

struct kit {
    struct host *host;
    char *folder;           /* of this program: winjoin.exe and units\*.exe are there */
    char *winjoin;          /* the program that is asked */
    const char *adapter;    /* --adapter, or NULL */
    const char *only;       /* --only: a part of the ids, or NULL */
    const char *kubeconfig; /* --kubeconfig: of the cluster's administrator, or NULL */
    char **join;            /* the words behind --join; NULL: no join */
    bool wine, joined;
};

struct row {
    const char *id;       /* "secret-acl" */
    const char *question; /* what is not known, a sentence */
    const char *expected;
    unsigned needs;
    void (*look)(struct kit *kit, const struct row *row, struct finding *ret);
    const void *about; /* the row's own */
};

/* The answer of a row: what was found, in one call or several. A row that says nothing passes. */
void finding_fail(struct finding *f, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
void finding_note(struct finding *f, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
void finding_skip(struct finding *f, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));

/* Runs a program of at most `seconds`, both outputs in one text (the caller frees). -1 with a
 * failed finding when it did not run to its end. */
int kit_run(struct kit *kit, struct finding *f, unsigned seconds, char **ret_said,
            const char *const *argv);
/* Fails unless a file or folder is for SYSTEM and Administrators alone, nothing inherited. */
void kit_expect_secret(const struct kit *kit, const char *path, struct finding *f);
/* The same for a folder of programs: to which others add nothing, but which they may read. */
void kit_expect_programs(const struct kit *kit, const char *path, struct finding *f);
/* The same for the probe's mailbox, to which containers' users write. */
void kit_expect_mailbox(const struct kit *kit, const char *path, struct finding *f);
/* Fails unless the Windows Firewall has this rule: allow, inbound, TCP, 10250. */
void kit_expect_rule(struct kit *kit, const char *name, struct finding *f);
/* Fails unless Windows would start the service again, three times, also after an exit that is no
 * crash (SERVICE_CONFIG_FAILURE_ACTIONS and _FLAG). */
void kit_recovery(const char *service, struct finding *f);

/* Has the calling thread be an ordinary user, an account of the kit's that is made and removed
 * again, while it does this. Skipped where no such account can be had. */
void account_acts(struct kit *kit, struct finding *f, void (*does)(void *), void *about);

/* Keeps the server's state before a join; rows that hold it against what is there: adapters, while
 * it is a node, and everything after a reset. */
void before_keep(struct kit *kit, struct finding *f);
void before_adapters(struct kit *kit, const struct row *row, struct finding *f);
void before_is_back(struct kit *kit, const struct row *row, struct finding *f);

/* The tables; {0} ends one. */
extern const struct row machine_rows[], service_rows[], node_rows[], join_rows[], leave_rows[];
extern const struct row write_rows[], stranger_rows[], node_stranger_rows[];
/* What acceptance.exe --attack FOLDER does: as its own user all that the rows of strangers try,
 * except that it takes nothing back; prints what was not refused. The exit code: 0 all was. */
int stranger_attacks(const char *folder);
/* What acceptance.exe --hosted is, as a service's program; the exit code. */
int services_hosted(void);
/* A row for each mode's documents; `ret` is filled, at most `max`. */
size_t hns_rows(struct row *ret, size_t max);
/* A row for each program of unit tests in the kit's folder. */
size_t unit_rows(struct kit *kit, struct row *ret, size_t max);
/* From now on what is asked of HNS and answered is kept, in the form of the tests' recordings. */
void hns_record(struct host *host);
/* One JSON object a line; the caller frees. */
char *hns_recorded(void);

/* The report, one row after the other. */
void report_row(const struct row *row, struct finding *f);
/* The rows of on-real-windows.md beside the kit, each with what the kit's rows say of it, or what a
 * person has to do. New reference; empty without that file. */
json_t *documented(struct kit *kit, const json_t *played);
/* Writes report.json, report.html and hns.jsonl into the folder; the exit code: 0 no row failed, 1.
 */
int report_write(struct kit *kit, const char *folder);
