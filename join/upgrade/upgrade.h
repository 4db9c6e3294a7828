/* An upgrade: newer programs and a new configuration for a joined node. It is a list of phases for
 * the join's runner (join/run.h), with a journal of its own (UPGRADE_FOLDER) that restores the
 * state before. When it is killed at any point, the next run continues it; when a phase fails, it
 * returns to the state before. */
#pragma once

#include "join/join.h"
#include "join/phases/phases.h"

/* A program that the upgrade replaces. Texts are owned. */
struct upgrade_program {
    char *name, *target;
    char *from, *to;               /* Versions; NULL: unknown */
    const struct service *service; /* Service that runs the program; NULL: none */
};

struct upgrade {
    bool drain; /* Given by the caller: evict the node's Pods first */
    struct journal journal;
    struct upgrade_program *programs;
    size_t program_count;
    json_t *files;             /* Files to write: [{path, service, differences: [...]}] */
    struct text_list services; /* Names of services that are stopped and started again */
    bool replaces_winjoin;     /* winjoin.exe itself is replaced; it hosts the services */
    bool resumed;              /* Continues an upgrade that did not end */
    bool went_back;
    struct reset_result back;
};

/* Fills options that the call does not give with what the join chose (node/chosen.h): the node's
 * address and Pod prefixes, whether kube-proxy runs, DSR, the runtime's socket, the CA's file. An
 * absent file fills nothing; one that cannot be read is an error with a hint. */
int upgrade_recall(struct host *host, struct join_options *options, struct error *err);
/* Fails with `why` because a file that a join wrote cannot be read; adds a hint if the file is
 * damaged. Returns -1. */
int upgrade_unread(const char *what, const struct error *why, struct error *err);
/* Opens a join with the phases of an upgrade; the caller has set only `drain` in `upgrade`.
 * upgrade_close() closes both, also after a failure. ERROR_USAGE: the machine has not joined. */
int upgrade_open(struct join *join, struct upgrade *upgrade, struct error *err);
void upgrade_close(struct join *join);
/* Returns an UpgradePlan: {apiVersion, kind, node, changed, resumed, programs: [{name, path, from?,
 * to?}], files: [{path, service, differences: [text]}], services: [name], drain, warnings: [text]}.
 * New reference. */
json_t *upgrade_plan(const struct join *join);
/* Returns the plan as a text for a person. The caller frees. */
char *upgrade_plan_text(const struct join *join);
/* Returns an UpgradeResult: a JoinResult with the plan's programs, files and services, and
 * wentBack. New reference. */
json_t *upgrade_result(const struct join *join);

/* Functions for the table of phases in upgrade.c only; they are in compare.c, switch.c and
 * drain.c. */
int upgrade_compare(struct join *join, struct error *err);
int upgrade_stage(struct join *join, struct error *err);
int upgrade_cordon(struct join *join, struct error *err);
int upgrade_plugins(struct join *join, struct error *err);
int upgrade_winjoin(struct join *join, struct error *err);
int upgrade_switch(struct join *join, struct error *err);
int upgrade_ready(struct join *join, struct error *err);
/* Makes the node schedulable again if upgrade_cordon() cordoned it. A failure is a warning with the
 * kubectl command. */
void upgrade_uncordon(struct join *join);

/* Suffix of a new program that is next to the old one until its service is switched. */
#define UPGRADE_BESIDE ".new"
/* Returns true when the upgrade brings a new sandbox image. */
bool upgrade_has_image(const struct upgrade *upgrade);
/* Makes the text files of a service that an upgrade writes (NULL: of all services), without those
 * that the node has already. */
struct wanted_files;
int upgrade_files(struct join *join, const struct service *service, struct wanted_files *ret,
                  struct error *err);
