/* Talks over a named pipe as a client. It uses overlapped I/O, so that time limits hold whatever
 * the server does. */
#include "host/win32/win32.h"

#include <sddl.h>

enum { PIECE = 16384, BUSY_WAIT_MS = 100 };

/* One direction of the conversation. `pending` is true while an operation is running. */
struct transfer {
    OVERLAPPED over;
    bool pending;
};

/* A conversation. Both directions run at the same time: a pipe without buffers (of go-winio, which
 * containerd uses) blocks a writer until the other end reads, and a gRPC server writes before it
 * reads. */
struct host_pipe {
    const char *path;
    struct host_pipe_talk asked;
    HANDLE pipe;
    struct transfer in, out;
    char heard[PIECE];
    struct text unsaid, reply;
    uint64_t end; /* End of the time for the whole conversation, in GetTickCount64() time. */
};

static void transfer_end(HANDLE pipe, struct transfer *transfer) {
    DWORD bytes;

    /* Wait until Windows has stopped writing into our memory. */
    if (transfer->pending &&
        (CancelIoEx(pipe, &transfer->over) || GetLastError() == ERROR_NOT_FOUND))
        (void)GetOverlappedResult(pipe, &transfer->over, &bytes, TRUE);
    if (transfer->over.hEvent)
        (void)CloseHandle(transfer->over.hEvent);
}

void win32_pipe_close(struct host *, struct host_pipe *talk) {
    transfer_end(talk->pipe, &talk->in);
    transfer_end(talk->pipe, &talk->out);
    if (talk->pipe != INVALID_HANDLE_VALUE)
        (void)CloseHandle(talk->pipe);
    text_free(&talk->unsaid);
    text_free(&talk->reply);
    free(talk);
}

static int failed(const struct host_pipe *talk, struct error *err) {
    return win32_fail(err, GetLastError(), "pipe '%s'", talk->path);
}

static int check_time(struct host *host, const struct host_pipe *talk, struct error *err) {
    if (host_interrupted(host))
        return error_set(err, ERROR_INTERRUPTED, "pipe '%s': interrupted", talk->path);
    if (GetTickCount64() >= talk->end)
        return error_set(err, ERROR_TIMED_OUT, "pipe '%s': timed out", talk->path);
    return 0;
}

/* ---- checking the server of a pipe ---- */

/* A TOKEN_USER with space for its SID behind it. */
union token_user {
    TOKEN_USER user;
    char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
};

/* Is the process trusted? Trusted are SYSTEM, the user of this process, and administrators. In an
 * administrator's process that is not elevated, the Administrators group is only used for denial,
 * so it does not count. */
static bool is_trusted(HANDLE token, PSID user) {
    char sid[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof sid, len = 0;
    _cleanup_(freep) char *room = NULL;
    const TOKEN_GROUPS *groups;
    union token_user own;

    if (IsWellKnownSid(user, WinLocalSystemSid) ||
        (GetTokenInformation(GetCurrentProcessToken(), TokenUser, &own, sizeof own, &len) &&
         EqualSid(user, own.user.User.Sid)))
        return true;
    (void)GetTokenInformation(token, TokenGroups, NULL, 0, &len);
    room = xcalloc(1, len + sizeof *groups);
    groups = (const TOKEN_GROUPS *)(const void *)room;
    if (!CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, sid, &size) ||
        !GetTokenInformation(token, TokenGroups, room, len, &len))
        return false;
    for (DWORD i = 0; i < groups->GroupCount; i++)
        if (groups->Groups[i].Attributes & SE_GROUP_ENABLED && EqualSid(groups->Groups[i].Sid, sid))
            return true;
    return false;
}

/* Checks who serves the pipe. Any user can create a pipe with a free name and receive data for a
 * service. So the server must be a service that runs as SYSTEM, as an administrator or as the user
 * of this process. */
static int check_server(HANDLE pipe, const char *path, struct error *err) {
    _cleanup_(freep) char *name = NULL;
    HANDLE process = NULL, token = NULL;
    union token_user user;
    wchar_t *sid = NULL;
    ULONG id = 0;
    DWORD len = 0;
    bool service;
    int result = 0;

    if (!GetNamedPipeServerProcessId(pipe, &id))
        return win32_fail(err, GetLastError(), "find out who serves '%s'", path);
    if (win32_is_service(id, &service, err) < 0)
        return error_prefix(err, "find out who serves '%s'", path);
    if (!service)
        return error_set(err, ERROR_DENIED,
                         "open '%s': process %lu serves it, which is no service of Windows", path,
                         id);
    process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, id);
    if (!process || !OpenProcessToken(process, TOKEN_QUERY, &token) ||
        !GetTokenInformation(token, TokenUser, &user, sizeof user, &len)) {
        result = win32_fail(err, GetLastError(), "find out who runs process %lu, which serves '%s'",
                            id, path);
    } else if (!is_trusted(token, user.user.User.Sid)) {
        if (ConvertSidToStringSidW(user.user.User.Sid, &sid))
            name = win32_narrow(sid);
        LocalFree(sid);
        result = error_set(err, ERROR_DENIED,
                           "open '%s': process %lu of user %s serves it, which is no administrator",
                           path, id, name ? name : "unknown");
    }
    if (token)
        (void)CloseHandle(token);
    if (process)
        (void)CloseHandle(process);
    return result;
}

/* ---- the conversation ---- */

/* Starts a read and, when there is data to send, a write, unless one is running. */
static int begin(struct host_pipe *talk, struct error *err) {
    if (!talk->in.pending) {
        if (!ReadFile(talk->pipe, talk->heard, PIECE, NULL, &talk->in.over) &&
            GetLastError() != ERROR_IO_PENDING)
            return failed(talk, err);
        talk->in.pending = true;
    }
    if (!talk->out.pending && talk->unsaid.len) {
        if (!WriteFile(talk->pipe, talk->unsaid.data, (DWORD)talk->unsaid.len, NULL,
                       &talk->out.over) &&
            GetLastError() != ERROR_IO_PENDING)
            return failed(talk, err);
        talk->out.pending = true;
    }
    return 0;
}

/* Returns false while the operation of this direction is still running. Else returns true with its
 * number of bytes and its result. */
static bool is_done(struct host_pipe *talk, struct transfer *transfer, DWORD *ret_bytes,
                    int *ret_result, struct error *err) {
    if (!transfer->pending || WaitForSingleObject(transfer->over.hEvent, 0) != WAIT_OBJECT_0)
        return false;
    transfer->pending = false;
    *ret_result =
        GetOverlappedResult(talk->pipe, &transfer->over, ret_bytes, FALSE) ? 0 : failed(talk, err);
    return true;
}

/* Waits for either direction and passes received data to the caller. New data to send goes to
 * `reply`, because a running write still uses the buffer `unsaid`. */
int win32_pipe_turn(struct host *host, struct host_pipe *talk, unsigned wait_ms, bool *ret_done,
                    struct error *err) {
    HANDLE events[2] = {talk->in.over.hEvent, talk->out.over.hEvent};
    DWORD bytes = 0;
    int result = 0;

    if (begin(talk, err) < 0)
        return -1;
    (void)WaitForMultipleObjects(talk->out.pending ? 2 : 1, events, FALSE, wait_ms);
    if (check_time(host, talk, err) < 0)
        return -1;
    if (is_done(talk, &talk->out, &bytes, &result, err)) {
        if (result < 0)
            return -1;
        text_clear(&talk->unsaid); /* A write to a byte pipe is complete or fails. */
    }
    if (is_done(talk, &talk->in, &bytes, &result, err) &&
        (result < 0 || talk->asked.heard(talk->asked.context, talk->heard, bytes, &talk->reply,
                                         ret_done, err) < 0))
        return -1;
    if (!talk->out.pending && talk->reply.len) {
        text_add_bytes(&talk->unsaid, text_str(&talk->reply), talk->reply.len);
        text_clear(&talk->reply);
    }
    /* The next operations run while the caller does other work. */
    return *ret_done ? 0 : begin(talk, err);
}

int win32_pipe_open(struct host *host, const char *path, const struct host_pipe_talk *asked,
                    struct host_pipe **ret, struct error *err) {
    const DWORD flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
    _cleanup_wide_ wchar_t *wide = win32_wide(path);
    struct host_pipe *talk = xcalloc(1, sizeof *talk);
    int result = 1;

    talk->path = path;
    talk->asked = *asked;
    talk->pipe = INVALID_HANDLE_VALUE;
    talk->end = GetTickCount64() + asked->timeout_ms;
    talk->in.over.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    talk->out.over.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    text_add_bytes(&talk->unsaid, asked->first, asked->first_len);
    /* Opens the pipe. It retries while all instances are busy, because the server creates a new one
     * after each client. SECURITY_IDENTIFICATION lets the server see who we are but not act in our
     * name. */
    while (result > 0) {
        talk->pipe =
            CreateFileW(wide, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, flags, NULL);
        if (talk->pipe != INVALID_HANDLE_VALUE)
            result = check_server(talk->pipe, path, err);
        else if (GetLastError() != ERROR_PIPE_BUSY)
            result = win32_fail(err, GetLastError(), "open '%s'", path);
        else if (check_time(host, talk, err) < 0)
            result = -1;
        else
            (void)WaitNamedPipeW(wide, BUSY_WAIT_MS);
    }
    if (result == 0 && begin(talk, err) == 0) {
        *ret = talk;
        return 0;
    }
    win32_pipe_close(host, talk);
    return -1;
}
