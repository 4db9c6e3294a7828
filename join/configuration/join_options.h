/* The options of a join: kubeadm join's worker flags and winjoin's own, from flags, environment,
 * files and the cluster's own defaults. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "join/configuration/option_rows.h"
#include "netsetup/plan/network_plan.h"

#define JOIN_SOURCE_NONE "none" /* --source-base: nothing is fetched from upstream */

/* What an option's value is. */
enum option_type {
    OPTION_TEXT,     /* char *, owned by the target */
    OPTION_SECRET,   /* as text; hidden in logs, zeroed when freed */
    OPTION_LIST,     /* struct text_list */
    OPTION_BOOL,     /* bool */
    OPTION_NUMBER,   /* long long, 0..2147483647 */
    OPTION_DURATION, /* long long, milliseconds; Go's form (30s, 5m) */
    OPTION_CHOICE,   /* char *; one of "auto|on|off", "@mode" (netsetup/modes), "@plugin" */
};
#define OPTION_FIELD_TEXT(field) char *field;
#define OPTION_FIELD_SECRET(field) char *field;
#define OPTION_FIELD_LIST(field) struct text_list field;
#define OPTION_FIELD_BOOL(field) bool field;
#define OPTION_FIELD_NUMBER(field) long long field;
#define OPTION_FIELD_DURATION(field) long long field;
#define OPTION_FIELD_CHOICE(field) char *field;
#define JOIN_OPTION_FIELD(field, type, ...) OPTION_FIELD_##type(field)

/* Not given is NULL, 0 or empty. Owned: join_options_free(). */
struct join_options {
    JOIN_OPTIONS(JOIN_OPTION_FIELD)
    long long verify_attempts; /* diag --count; 0 = default */
    bool verify_capture;       /* diag --capture */
};

/* An option as join reads it; cmd makes its flags of the same rows. */
struct join_option {
    enum option_type type;
    size_t offset;       /* in struct join_options */
    const char *flag;    /* without dashes; NULL: none gives it */
    const char *choices; /* of OPTION_CHOICE; "@mode", "@plugin" are judged by `check` */
    const char *help;    /* NULL: kubeadm's documents tell */
    const char *join;    /* path in a JoinConfiguration, or NULL */
    const char *node;    /* path in a NodeConfiguration, or NULL */
    bool v1beta4;        /* of a JoinConfiguration: not before v1beta4 */
    bool adds;           /* a list that flags add to; they replace others */
    bool is_path;        /* of this machine: made absolute; not for the cluster's defaults */
    long long min, max;  /* of a number; of a list of prefixes, how many of a family: 0 = any */
    int (*check)(const char *text, struct error *err); /* of a text, or each of a list */
};
#define JOIN_OPTION_ID(field, ...) JOIN_OPTION_##field,
enum { JOIN_OPTIONS(JOIN_OPTION_ID) JOIN_OPTION_COUNT };
extern const struct join_option join_option_table[JOIN_OPTION_COUNT];
#define join_each_option(o)                                                                        \
    for (const struct join_option *o = join_option_table;                                          \
         o < join_option_table + JOIN_OPTION_COUNT; o++)

/* Where the option is. */
void *join_option_field(const struct join_options *options, const struct join_option *option);
/* Frees the value of a field. */
void option_free(enum option_type type, void *field);
void join_options_free(struct join_options *options);
/* The type of its field in a configuration. */
enum yaml_field_type join_option_yaml(const struct join_option *option);
/* The option as the value of that field: NULL where it is not given, an empty text too. New
 * reference. */
json_t *join_option_json(const struct join_options *options, const struct join_option *option);
/* Takes the option from such a value, unless it is given already. */
void join_option_take(struct join_options *options, const struct join_option *option,
                      const json_t *value);
/* All but the tokens, which stay NULL. */
void join_options_copy(const struct join_options *from, struct join_options *ret);

/* Is the value (of join_option_json()) one that the option takes? ERROR_USAGE with the name of its
 * flag, or where `yaml` is given, whose document has the value, with the text's name, line and
 * column. */
int join_option_check(const struct join_option *option, const json_t *value,
                      const struct yaml *yaml, const json_t *document, struct error *err);
/* Values of the network that are right alone may not work together. ERROR_USAGE. */
int join_network_check(const struct join_options *options, struct error *err);
/* All checks of a call that need neither host nor network. ERROR_USAGE names the flag. */
int join_options_check(const struct join_options *options, struct error *err);

/* The address of a mirror (an https URL and no more): else ERROR_USAGE with the reason. */
int join_mirror_check(const char *url, struct error *err);
/* The same, or JOIN_SOURCE_NONE. */
int join_source_base_check(const char *url, struct error *err);
/* An image's name, as containerd pulls it: "registry.corp.example/pause:3.10.1". ERROR_USAGE. */
int join_sandbox_image_check(const char *image, struct error *err);
/* Whole, "v1.37.1" or "1.37.1": it is compared with what programs say. ERROR_USAGE. */
int join_kubernetes_version_check(const char *version, struct error *err);
/* Checks to ignore: all of them or single ones, compared without case; one given twice counts once
 * (kubeadm: ValidateIgnorePreflightErrors). ERROR_USAGE. */
int join_ignored_check(const struct text_list *ignored, struct error *err);
/* What the options say of the network; borrowed from them. */
void join_network_input(const struct join_options *options, struct network_input *ret);

/* "192.0.2.1". ERROR_USAGE. */
int node_address_check(const char *text, struct error *err);
/* "10.244.0.0/16". ERROR_USAGE. */
int node_prefix_check(const char *text, struct error *err);
/* "192.0.2.1", "192.0.2.1:443", "[2001:db8::1]:443". ERROR_USAGE. */
int node_target_address_check(const char *text, struct error *err);
/* "example.com", "example.com:443". ERROR_USAGE. */
int node_target_name_check(const char *text, struct error *err);
/* A whole word of a command line, "--v=4": the program would not start with others. ERROR_USAGE. */
int node_argument_check(const char *text, struct error *err);
/* An image's name, as containerd takes it, with its host: "mcr.microsoft.com/windows/nanoserver:
 * ltsc2022". ERROR_USAGE. */
int node_image_check(const char *text, struct error *err);
/* No control characters: a name or a path of one line. ERROR_USAGE. */
int node_line_check(const char *text, struct error *err);

/* A name as names are compared: lower case; a path with '-' for its separators and without its
 * drive, as kubeadm makes ids of paths on Linux. The caller frees. */
char *ignored_check_canonical(const char *id);
/* true when one of the names means this check: in any case; "all"; paths in ids by either
 * spelling, with a drive or without ("FileAvailable--etc-kubernetes-kubelet.conf",
 * "FileAvailable-C:\etc\kubernetes\kubelet.conf"). */
bool ignored_checks_have(const struct text_list *ignored, const char *id);
