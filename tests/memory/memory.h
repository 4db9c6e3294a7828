/* What the files of the in-memory host share: its state, and the record of each call. */
#pragma once

#include <stdlib.h>

#include "host/access_list.h"
#include "host/host_ops.h"
#include "host/model/model.h"
#include "tests/memory/host_memory.h"

struct memory_file {
    char *path; /* normalized */
    enum host_file_type type;
    struct access_list own; /* its owner (none: Administrators) and list; lists.c */
    char *data;             /* content, or a link's target */
    size_t len;
};

struct memory_program {
    char *name;
    int exit_code;
    char *output;
    struct text_list flags; /* what it takes; none = everything */
};

struct memory_host {
    struct host host;          /* first: this is what callers hold */
    json_t *state;             /* host/model */
    struct memory_file *files; /* sorted by path, case ignored */
    size_t file_count;
    struct memory_program *programs;
    size_t program_count;
    json_t *environment;
    struct text log;
    size_t watchers; /* started and not ended */
    bool watched_well;
    struct text_list held;    /* paths of files that a program has open, or runs from */
    size_t calls, fail_at;    /* fail_at: number of the call that fails, 0 = none */
    bool dies;                /* and all calls after it */
    const char *fail_named;   /* how the line of the call begins that fails, NULL = none */
    const char *program_path; /* NULL: where the join installs it */
    size_t failed_at;         /* where its line begins in the log */
    host_memory_hns *hns;
    void *hns_context;
    bool hns_hangs;
    host_memory_run *on_run;
    void *on_run_context;
    host_memory_pipe *pipe;
    void *pipe_context;
    bool pipe_not_yet;
    void (*on_sleep)(void *, struct host *);
    void *on_sleep_context;
    char *ending; /* service whose next `ending_times` starts end at once */
    unsigned ending_times;
    uint64_t clock_ms;
    uint64_t random;
    uint64_t free_space;
    bool interrupted;
    json_t *proved;            /* access.c; NULL: nothing is checked */
    struct text_list openings; /* access.c */
    bool others_act;           /* what is done now, other programs do */
};

static inline struct memory_host *memory_of(struct host *host) {
    return (struct memory_host *)host;
}

/* In the line of a call; Windows knows no other families. */
static inline const char *memory_family(int family) {
    if (family != 4 && family != 6)
        abort();
    return family == 6 ? "6" : "";
}

/* Records a call that can fail; -1 with ERROR_HOST when it is the one that must. */
int memory_call(struct host *host, struct error *err, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* A line in the log only. */
void memory_note(struct host *host, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));

/* files.c */
int memory_read(struct host *, const char *, size_t, char **, size_t *, struct error *);
int memory_write_part(struct host *, const char *, uint64_t, const void *, size_t, enum host_access,
                      struct error *);
int memory_read_part(struct host *, const char *, uint64_t, size_t, char **, size_t *, uint64_t *,
                     struct error *);
int memory_write(struct host *, const char *, const void *, size_t, enum host_access,
                 struct error *);
int memory_make_folder(struct host *, const char *, enum host_access, struct error *);
int memory_find_untrusted(struct host *, const char *, struct host_untrusted *, struct error *);
int memory_remove(struct host *, const char *, bool, struct error *);
int memory_rename(struct host *, const char *, const char *, struct error *);
int memory_link(struct host *, const char *, const char *, struct error *);
enum host_file_type memory_file_type(struct host *, const char *);
int memory_list(struct host *, const char *, struct text_list *, struct error *);
int memory_free_space(struct host *, const char *, uint64_t *, struct error *);
struct memory_file *memory_find(const struct memory_host *memory, const char *path);
/* true when `path` lies in the folder, at any depth. */
bool memory_lies_in(const char *path, const char *folder);
json_t *memory_files_json(const struct memory_host *memory);
void memory_files_free(struct memory_host *memory);

/* programs.c */
int memory_run(struct host *, const struct host_process *, int *, char **, struct error *);

/* lists.c: owners and access lists, as on a fresh Windows Server. */
int memory_access_get(struct host *, const char *, char **, struct error *);
int memory_access_set(struct host *, const char *, const char *, struct error *);
/* A new file or folder gets that list. */
void memory_list_give(struct memory_file *file, enum host_access access);
/* A folder that is there loses what `access` would not give. */
void memory_close(struct memory_host *memory, struct memory_file *file, enum host_access access);
/* What an ordinary user may do with what is there, or would be. */
uint32_t memory_users_rights(const struct memory_host *memory, const char *path);
/* It is his. */
bool memory_is_users(const struct memory_file *file);
/* A folder that Windows makes. */
bool memory_is_windows_own(const char *path);
/* Of each kind of access. */
extern const char *const memory_access_names[];
/* "public" (it inherits), "secret", "read-only", ...; else the list. The caller frees. */
char *memory_access_name(const struct memory_host *memory, const struct memory_file *file);

/* access.c: what an ordinary user could have had a hand in, checked as it happens. */
/* Whether an ordinary user may add files or folders to that folder, there or not. */
bool memory_users_add(const struct memory_host *memory, const char *folder);
/* Winjoin made it, or asked who owns it; gone again. */
void memory_access_made(struct memory_host *memory, const char *path);
void memory_access_looked(struct memory_host *memory, const char *path);
void memory_access_closed(struct memory_host *memory, const char *folder);
void memory_access_gone(struct memory_host *memory, const char *path);
/* Before what is done with a path. */
void memory_access_read(struct host *host, const char *path);
void memory_access_write(struct host *host, const char *path);
void memory_access_program(struct host *host, const char *program);
void memory_access_command(struct host *host, const char *command);
void memory_access_start(struct host *host, const char *service);
void memory_access_free(struct memory_host *memory);

/* scene.c */
int memory_routes(struct host *, struct host_routes *, struct error *);
int memory_neighbors(struct host *, struct host_neighbors *, struct error *);
