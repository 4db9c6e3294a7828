/* An upgrade: newer programs and a configuration made again on a joined node. It is a list of
 * phases that the join's runner plays (join/run.h), with a journal of its own (UPGRADE_FOLDER) that
 * goes back to what ran before it. Killed at any point it continues when it runs again; when a
 * phase fails it goes back. */
#pragma once

#include "join/join.h"
#include "join/phases/phases.h"

/* A program that the upgrade replaces. Text is owned. */
struct upgrade_program {
    char *name, *target;
    char *from, *to;               /* versions; NULL = not known */
    const struct service *service; /* that runs it; NULL: none of its own */
};

struct upgrade {
    bool drain; /* given: evict the node's pods first */
    struct journal journal;
    struct upgrade_program *programs;
    size_t program_count;
    json_t *files;             /* [{path, service, differences: [...]}] */
    struct text_list services; /* names of those that are stopped and started again */
    bool hosts;                /* winjoin.exe itself is replaced: it hosts them */
    bool resumed;              /* an earlier upgrade did not end */
    bool went_back;
    struct reset_result back;
};

/* What the join chose (node/chosen.h) and a call does not say, into `options`: the node's address
 * and pod prefixes, whether kube-proxy runs, DSR, the runtime's socket, the CA's file. A file that
 * is not there says nothing; one that cannot be read is an error with a hint. */
int upgrade_recall(struct host *host, struct join_options *options, struct error *err);
/* For a file that a join wrote and that cannot be read: fails with `why`, and a hint where the file
 * is damaged. Returns -1. */
int upgrade_unread(const char *what, const struct error *why, struct error *err);
/* join_open() for an upgrade; `upgrade` has `drain` alone. Close both with upgrade_close(). A
 * machine that is no node: ERROR_USAGE. */
int upgrade_open(struct join *join, struct upgrade *upgrade, struct error *err);
void upgrade_close(struct join *join);
/* UpgradePlan: {apiVersion, kind, node, changed, resumed, programs: [{name, path, from?, to?}],
 * files: [{path, service, differences: [text]}], services: [name], drain, warnings: [text]}. New
 * reference. */
json_t *upgrade_plan(const struct join *join);
/* The same for a person; the caller frees. */
char *upgrade_plan_text(const struct join *join);
/* UpgradeResult: a JoinResult with the plan's programs, files and services, and wentBack. New
 * reference. */
json_t *upgrade_result(const struct join *join);

/* Of the table in upgrade.c alone: compare.c, switch.c, drain.c. */
int upgrade_compare(struct join *join, struct error *err);
int upgrade_stage(struct join *join, struct error *err);
int upgrade_cordon(struct join *join, struct error *err);
int upgrade_plugins(struct join *join, struct error *err);
int upgrade_hosts(struct join *join, struct error *err);
int upgrade_switch(struct join *join, struct error *err);
int upgrade_ready(struct join *join, struct error *err);
/* Makes the node schedulable again where upgrade_cordon() made it not so; what fails is a warning
 * with kubectl's line. */
void upgrade_uncordon(struct join *join);

/* Behind the name of a new program that lies beside the old one until it is switched to. */
#define UPGRADE_BESIDE ".new"
/* Is there a new sandbox image among what it replaces? */
bool upgrade_has_image(const struct upgrade *upgrade);
/* The text files of a service that an upgrade writes, as they are to be (every service's with
 * NULL); those that the node has so already are left out. */
struct wanted_files;
int upgrade_files(struct join *join, const struct service *service, struct wanted_files *ret,
                  struct error *err);
