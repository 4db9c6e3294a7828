/* The options of a join: kubeadm join's worker flags and winjoin's own, from flags, environment,
 * files and the cluster's own defaults. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "join/configuration/option_rows.h"
#include "netsetup/plan/network_plan.h"

#define JOIN_SOURCE_NONE "none" /* Value of --source-base: nothing is downloaded from upstream. */

/* Type of an option's value. */
enum option_type {
    OPTION_TEXT,     /* char *, owned by the struct that holds it */
    OPTION_SECRET,   /* char *, as OPTION_TEXT, hidden in logs and zeroed when it is freed */
    OPTION_LIST,     /* struct text_list */
    OPTION_BOOL,     /* bool */
    OPTION_NUMBER,   /* long long, 0..2147483647 */
    OPTION_DURATION, /* long long, milliseconds; Go's form (30s, 5m) */
    /* char *, one of the choices "auto|on|off", or any name in "@mode" (netsetup/modes) or
     * "@plugin". */
    OPTION_CHOICE,
};
#define OPTION_FIELD_TEXT(field) char *field;
#define OPTION_FIELD_SECRET(field) char *field;
#define OPTION_FIELD_LIST(field) struct text_list field;
#define OPTION_FIELD_BOOL(field) bool field;
#define OPTION_FIELD_NUMBER(field) long long field;
#define OPTION_FIELD_DURATION(field) long long field;
#define OPTION_FIELD_CHOICE(field) char *field;
#define JOIN_OPTION_FIELD(field, type, ...) OPTION_FIELD_##type(field)

/* The values of all options. An option that is not given is NULL, 0 or empty. Owned:
 * join_options_free(). */
struct join_options {
    JOIN_OPTIONS(JOIN_OPTION_FIELD)
    long long verify_attempts; /* Number of attempts from diag --count; 0 means the default */
    bool verify_capture;       /* diag --capture was given */
};

/* A row of the table of options. cmd/ makes its flags from the same rows. */
struct join_option {
    enum option_type type;
    const char *name; /* Name of the field in struct join_options */
    size_t offset;    /* Offset of the value in struct join_options */
    const char *flag; /* Name of the flag, without dashes; NULL means no flag */
    /* The choices of an OPTION_CHOICE: "auto|on|off", or "@mode" or "@plugin" for the names in
     * those tables, which `check` looks up. */
    const char *choices;
    const char *help; /* Text of the help; NULL when kubeadm's documentation has it */
    const char *join; /* Path in a JoinConfiguration, or NULL */
    const char *node; /* Path in a NodeConfiguration, or NULL */
    bool v1beta4;     /* A JoinConfiguration has the field since v1beta4 only */
    /* For a list: values of flags are added to those of the document. Other lists are replaced. */
    bool adds;
    /* The value shapes the node: a later phase alone (`join phase NAME`) and an upgrade use the
     * join's value when the command gives none (join/found/options.c). What node/chosen.h has, such
     * as the network's mode, is not kept a second time. */
    bool kept;
    /* The value is a local path. It is made absolute, and refused in the cluster's defaults. */
    bool is_path;
    /* Limits of a number. For a list of prefixes, `max` is how many of one family; 0 means any. */
    long long min, max;
    /* Checks a text, or each text of a list; NULL means that anything is valid. */
    int (*check)(const char *text, struct error *err);
};
#define JOIN_OPTION_ID(field, ...) JOIN_OPTION_##field,
enum { JOIN_OPTIONS(JOIN_OPTION_ID) JOIN_OPTION_COUNT };
extern const struct join_option join_option_table[JOIN_OPTION_COUNT];
#define join_each_option(o)                                                                        \
    for (const struct join_option *o = join_option_table;                                          \
         o < join_option_table + JOIN_OPTION_COUNT; o++)

/* Returns the address of the option's value. */
void *join_option_field(const struct join_options *options, const struct join_option *option);
/* Frees the value of one option. */
void option_free(enum option_type type, void *field);
void join_options_free(struct join_options *options);
/* Returns the type of the option's field in a configuration document. */
enum yaml_field_type join_option_yaml(const struct join_option *option);
/* Returns the option as the value of its field in a document; NULL when it is not given or an empty
 * text. New reference. */
json_t *join_option_json(const struct join_options *options, const struct join_option *option);
/* Sets the option from the value of its field in a document, unless the option is given already. */
void join_option_take(struct join_options *options, const struct join_option *option,
                      const json_t *value);
/* Copies all options but the tokens, which are NULL in *ret. */
void join_options_copy(const struct join_options *from, struct join_options *ret);

/* Checks a value in the form of join_option_json(). The ERROR_USAGE names the option's flag, or,
 * when `yaml` is given, the text, line and column; the value is then from `document` of that
 * text. */
int join_option_check(const struct join_option *option, const json_t *value,
                      const struct yaml *yaml, const json_t *document, struct error *err);
/* Checks whether the options of the network fit together; each may be valid alone. Fails with
 * ERROR_USAGE. */
int join_network_check(const struct join_options *options, struct error *err);
/* Checks all options as far as neither host nor network are needed. Fails with ERROR_USAGE, which
 * names the flag. */
int join_options_check(const struct join_options *options, struct error *err);

/* Checks the address of a mirror: an https URL and no more. Fails with ERROR_USAGE and the
 * reason. */
int join_mirror_check(const char *url, struct error *err);
/* Checks --source-base: as join_mirror_check(), or JOIN_SOURCE_NONE. */
int join_source_base_check(const char *url, struct error *err);
/* Checks the name of an image with its tag or digest, as containerd pulls it:
 * "registry.corp.example/pause:3.10.1". Fails with ERROR_USAGE. */
int join_sandbox_image_check(const char *image, struct error *err);
/* Checks that a version has three numbers ("v1.37.1" or "1.37.1"), because it is compared with what
 * programs report. Fails with ERROR_USAGE. */
int join_kubernetes_version_check(const char *version, struct error *err);
/* Checks --ignore-preflight-errors: either "all" or single checks, in any case; duplicates are
 * allowed (kubeadm: ValidateIgnorePreflightErrors). Fails with ERROR_USAGE. */
int join_ignored_check(const struct text_list *ignored, struct error *err);
/* Copies the options about the network to *ret, which borrows their texts. */
void join_network_input(const struct join_options *options, struct network_input *ret);

/* Checks an IP address: "192.0.2.1". Fails with ERROR_USAGE. */
int node_address_check(const char *text, struct error *err);
/* Checks a prefix: "10.244.0.0/16". Fails with ERROR_USAGE. */
int node_prefix_check(const char *text, struct error *err);
/* Checks an address with or without port: "192.0.2.1", "192.0.2.1:443", "[2001:db8::1]:443". Fails
 * with ERROR_USAGE. */
int node_target_address_check(const char *text, struct error *err);
/* Checks a host name with or without port: "example.com", "example.com:443". Fails with
 * ERROR_USAGE. */
int node_target_name_check(const char *text, struct error *err);
/* Checks an argument of the kubelet's command line, "--v=4". Other words would keep the kubelet
 * from starting. Fails with ERROR_USAGE. */
int node_argument_check(const char *text, struct error *err);
/* Checks an image's name for containerd, which must include its registry:
 * "mcr.microsoft.com/windows/nanoserver:ltsc2022". Fails with ERROR_USAGE. */
int node_image_check(const char *text, struct error *err);
/* Checks that a name or path has no control characters, so that it fits on one line.
 * ERROR_USAGE. */
int node_line_check(const char *text, struct error *err);

/* Returns the id of a preflight check in the form in which ids are compared: lower case; in paths,
 * '-' for separators, without the drive, as kubeadm makes ids of paths on Linux. The caller
 * frees. */
char *ignored_check_canonical(const char *id);
/* Returns true when one of the ids means this check, in any case, or is "all". A path in an id may
 * have a drive or not, and '-' for separators ("FileAvailable--etc-kubernetes-kubelet.conf",
 * "FileAvailable-C:\etc\kubernetes\kubelet.conf"). */
bool ignored_checks_have(const struct text_list *ignored, const char *id);
