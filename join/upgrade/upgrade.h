/* An upgrade: newer programs and a new configuration for a joined node. It is a list of phases for
 * the join's runner (join/run.h), with a journal of its own (UPGRADE_FOLDER). When an upgrade is
 * killed at any point, the next run continues it. When a phase fails, the journal restores the
 * state before the upgrade. */
#pragma once

#include "join/join.h"
#include "join/phases/phases.h"

/* A program that the upgrade replaces. Texts are owned. */
struct upgrade_program {
    char *name, *target;
    char *from, *to;               /* The old and the new version; NULL when unknown. */
    const struct service *service; /* The service that runs it; NULL when no service does. */
};

struct upgrade {
    bool drain; /* Set by the caller: evict the node's Pods first. */
    struct journal journal;
    struct upgrade_program *programs;
    size_t program_count;
    json_t *files;             /* The files to write: [{path, service, differences: [...]}]. */
    struct text_list services; /* Names of the services that are stopped and started again. */
    bool replaces_winjoin;     /* winjoin.exe itself is replaced; it hosts the services. */
    bool resumed;              /* This run continues an upgrade that did not end. */
    bool went_back;            /* A phase failed, so the earlier state was restored. */
    struct reset_result back;  /* The result of restoring that state. */
};

/* Opens a join with the phases of an upgrade; the caller has set only `drain` in `upgrade`.
 * upgrade_close() closes both, also after a failure. Fails with ERROR_USAGE when the machine has
 * not joined. */
int upgrade_open(struct join *join, struct upgrade *upgrade, struct error *err);
void upgrade_close(struct join *join);
/* Returns an UpgradePlan: {apiVersion, kind, node, changed, resumed, programs: [{name, path, from?,
 * to?}], files: [{path, service, differences: [text]}], services: [name], drain, warnings: [text]}.
 * New reference. */
json_t *upgrade_plan(const struct join *join);
/* Returns the plan as a text for a person. The caller frees the text. */
char *upgrade_plan_text(const struct join *join);
/* Returns an UpgradeResult: a JoinResult with the plan's programs, files and services, and
 * wentBack. New reference. */
json_t *upgrade_result(const struct join *join);

/* These functions are the phases, only for the table in upgrade.c, which describes each. They are
 * in compare.c, replace.c and drain.c, and fail as the phases of a join do. */
int upgrade_compare(struct join *join, struct error *err);
int upgrade_stage(struct join *join, struct error *err);
int upgrade_cordon(struct join *join, struct error *err);
int upgrade_plugins(struct join *join, struct error *err);
int upgrade_winjoin(struct join *join, struct error *err);
int upgrade_replace(struct join *join, struct error *err);
int upgrade_ready(struct join *join, struct error *err);
/* Makes the node schedulable again if upgrade_cordon() cordoned it. A failure is a warning with the
 * kubectl command. */
void upgrade_uncordon(struct join *join);

/* Suffix of a new program file, which is beside the old one until its service is switched. */
#define UPGRADE_BESIDE ".new"
/* Does the upgrade bring a new sandbox image? */
bool upgrade_has_image(const struct upgrade *upgrade);
/* Makes the files of a service that an upgrade writes, without those that the node has already with
 * the same content. `service` NULL means all services. The caller frees *ret with
 * wanted_files_free(). Fails as wanted_files_make(). */
struct wanted_files;
int upgrade_files(struct join *join, const struct service *service, struct wanted_files *ret,
                  struct error *err);
