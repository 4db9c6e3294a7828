/* How winjoin writes and removes, where an ordinary user watches and plants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/win32/win32.h"
#include "tests/acceptance/acceptance.h"

#define FOLDER "C:\\winjoin-acceptance"

enum { TOLD_MAX = 16384, TOLD_MS = 2000 };

/* The names that Windows tells of, into `ret`; once each. */
static void read_told(const BYTE *from, DWORD len, struct text_list *ret) {
    for (DWORD at = 0, next = 1; next && at + sizeof(FILE_NOTIFY_INFORMATION) <= len; at += next) {
        const FILE_NOTIFY_INFORMATION *one = (const void *)(from + at);
        wchar_t name[MAX_PATH] = {0};
        bool known = false;

        memcpy(name, one->FileName, min(one->FileNameLength, sizeof name - sizeof *name));
        _cleanup_(freep) char *text = win32_narrow(name);
        for (size_t i = 0; i < ret->count; i++)
            known = known || text_equal(ret->items[i], text);
        if (!known)
            text_list_add(ret, text);
        next = one->NextEntryOffset;
    }
}

_Alignas(DWORD) static BYTE told[TOLD_MAX];

static bool listen_to(HANDLE folder, OVERLAPPED *wait) {
    return ReadDirectoryChangesW(folder, told, sizeof told, FALSE, FILE_NOTIFY_CHANGE_FILE_NAME,
                                 NULL, wait, NULL);
}

/* Writes the file twice, and hears of each name in its folder. */
static int write_watched(struct kit *kit, struct text_list *ret, struct error *err) {
    HANDLE folder = CreateFileA(FOLDER, FILE_LIST_DIRECTORY, WIN32_SHARE_ALL, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED, NULL);
    OVERLAPPED wait = {.hEvent = CreateEventA(NULL, TRUE, FALSE, NULL)};
    bool listens = listen_to(folder, &wait);
    int result = listens ? 0 : win32_fail(err, GetLastError(), "watch '%s'", FOLDER);
    DWORD len;

    for (unsigned i = 0; i < 2 && result == 0; i++)
        result = host_write(kit->host, FOLDER "\\file", "x", 1, HOST_SECRET, err);
    while (listens && WaitForSingleObject(wait.hEvent, TOLD_MS) == WAIT_OBJECT_0 &&
           GetOverlappedResult(folder, &wait, &len, FALSE)) {
        read_told(told, len, ret);
        listens = listen_to(folder, &wait);
    }
    if (listens && CancelIo(folder))
        (void)GetOverlappedResult(folder, &wait, &len, TRUE);
    CloseHandle(folder);
    CloseHandle(wait.hEvent);
    return result;
}

/* A name beside the file that is the same each time could be taken before. */
static void write_row(struct kit *kit, const struct row *row, struct finding *f) {
    struct text_list names = {0};
    struct error err = {0};
    unsigned beside = 0;

    (void)row;
    if (host_make_folder(kit->host, FOLDER, HOST_PUBLIC, &err) < 0 ||
        write_watched(kit, &names, &err) < 0)
        finding_fail(f, "%s", err.message);
    for (size_t i = 0; i < names.count; i++)
        beside += !text_equal(names.items[i], "file");
    if (f->outcome == ROW_PASS && beside != 2)
        finding_fail(f, "%u names beside the file in two writes", beside);
    for (size_t i = 0; i < names.count; i++)
        finding_note(f, "%s", names.items[i]);
    text_list_free(&names);
    if (host_list(kit->host, FOLDER, &names, &err) < 0 || names.count != 1)
        finding_fail(f, "%u files are left in its folder", (unsigned)names.count);
    kit_expect_secret(kit, FOLDER "\\file", f);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
    text_list_free(&names);
}

static int junction(struct kit *kit, struct finding *f, const char *path, const char *to) {
    _cleanup_(freep) char *said = NULL;
    int code = kit_run(kit, f, 60, &said,
                       (const char *const[]){"C:\\Windows\\System32\\cmd.exe", "/c", "mklink", "/J",
                                             path, to, NULL});

    if (code)
        finding_fail(f, "mklink /J: exit code %d: %s", code, said);
    return code;
}

/* What it leads to is neither removed nor written to. */
static void junction_row(struct kit *kit, const struct row *row, struct finding *f) {
    struct error err = {0}, refused = {0};

    (void)row;
    if (host_write(kit->host, FOLDER "\\kept\\file", "x", 1, HOST_PUBLIC, &err) < 0 ||
        host_make_folder(kit->host, FOLDER "\\tree\\below", HOST_PUBLIC, &err) < 0)
        finding_fail(f, "%s", err.message);
    else if (junction(kit, f, FOLDER "\\tree\\below\\away", FOLDER "\\kept") == 0) {
        if (host_write(kit->host, FOLDER "\\tree\\below\\away\\more", "x", 1, HOST_PUBLIC,
                       &refused) == 0 ||
            refused.kind != ERROR_DENIED)
            finding_fail(f, "a file is written through the junction: %s", refused.message);
        if (host_make_folder(kit->host, FOLDER "\\tree\\below\\away", HOST_READ_ONLY, &refused) ==
            0)
            finding_fail(f, "the junction is taken for a folder");
        if (host_remove_tree(kit->host, FOLDER "\\tree", &err) < 0)
            finding_fail(f, "%s", err.message);
        if (host_file_type(kit->host, FOLDER "\\tree") != HOST_ABSENT)
            finding_fail(f, "the folder with the junction is still there");
        if (host_file_type(kit->host, FOLDER "\\kept\\file") != HOST_FILE)
            finding_fail(f, "what the junction leads to is gone");
    }
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

/* While winjoin writes below a folder, nobody moves it away. */
static void held_row(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};
    struct error err = {0};

    (void)row;
    if (host_make_folder(kit->host, FOLDER "\\a\\b", HOST_PUBLIC, &err) < 0 ||
        win32_path_hold(FOLDER "\\a\\b\\file", &held, &err) < 0)
        finding_fail(f, "%s", err.message);
    else if (MoveFileA(FOLDER "\\a\\b", FOLDER "\\a\\c") || MoveFileA(FOLDER "\\a", FOLDER "\\c"))
        finding_fail(f, "a folder that is held was renamed");
    else
        finding_note(f, "error %lu", GetLastError());
    win32_held_path_free(&held);
    held = (struct win32_held_path){0};
    if (f->outcome == ROW_PASS && !MoveFileA(FOLDER "\\a", FOLDER "\\c"))
        finding_fail(f, "a folder that is not held was not renamed (%lu)", GetLastError());
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

/* Windows' own folders belong to SYSTEM and TrustedInstaller. */
static void owners_row(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const paths[] = {"C:\\Program Files\\Common Files", "C:\\ProgramData",
                                        "C:\\Windows\\System32\\cmd.exe"};

    (void)row;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct host_untrusted found = {0};
        struct error err = {0};
        _cleanup_(freep) char *says = NULL;

        if (host_find_untrusted(kit->host, paths[i], &found, &err) < 0)
            finding_fail(f, "%s", err.message);
        else if (found.path)
            finding_fail(f, "%s", says = host_untrusted_text(&found));
        else
            finding_note(f, "%s", paths[i]);
        host_untrusted_free(&found);
    }
}

const struct row write_rows[] = {
    {"write", "a file is written under a name that nobody can know before, and closed at once",
     "another name each time, nothing left of it, " SECRET, 0, write_row, NULL},
    {"junction", "nothing is written through a junction, and a removal leaves what it leads to",
     "refused; the other folder is as it was", NEEDS_WINDOWS, junction_row, NULL},
    {"held-folder", "a folder cannot be renamed while winjoin writes below it",
     "refused, and allowed afterwards", 0, held_row, NULL},
    {"owners", "who owns Windows' own folders is no stranger", "none is found", 0, owners_row,
     NULL},
    {0},
};
