/* An ordinary user of this server, for the time of a row: made, acted as, and removed again. Its
 * password is random, told to nobody and forgotten at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <windows.h>

#include <lm.h>

#include "base/memory.h"
#include "tests/acceptance/acceptance.h"

#define NAME L"winjoin-acceptance"
/* Tells one that a killed kit left from one that is somebody's. */
#define COMMENT L"winjoin's acceptance kit: can be deleted"

enum { RANDOM_CHARS = 32, LIVES_SECONDS = 3600, NAME_TAKEN = 2224, NO_SUCH_USER = 2221 };

/* Of every kind that a policy may ask for. */
static int make_password(struct kit *kit, wchar_t ret[RANDOM_CHARS + 5], struct error *err) {
    static const wchar_t letters[] =
        L"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    unsigned char bytes[RANDOM_CHARS];

    if (host_random(kit->host, bytes, sizeof bytes, err) < 0)
        return -1;
    for (size_t i = 0; i < RANDOM_CHARS; i++)
        ret[i] = letters[bytes[i] % 64];
    memcpy(ret + RANDOM_CHARS, L"aA1-", 5 * sizeof *ret);
    secret_wipe((char *)bytes, sizeof bytes);
    return 0;
}

/* One that is left over goes first. */
static bool is_ours(void) {
    USER_INFO_1 *there = NULL;
    bool ours = NetUserGetInfo(NULL, NAME, 1, (LPBYTE *)&there) == NERR_Success &&
                there->usri1_comment && wcscmp(there->usri1_comment, COMMENT) == 0;

    if (there)
        NetApiBufferFree(there);
    return ours;
}

static DWORD add(wchar_t *password) {
    USER_INFO_1 user = {.usri1_name = (wchar_t *)(size_t)NAME,
                        .usri1_password = password,
                        .usri1_priv = USER_PRIV_USER,
                        .usri1_comment = (wchar_t *)(size_t)COMMENT,
                        .usri1_flags = UF_SCRIPT | UF_DONT_EXPIRE_PASSWD};
    USER_INFO_1017 ends = {(DWORD)time(NULL) + LIVES_SECONDS};
    DWORD code;

    if (is_ours())
        (void)NetUserDel(NULL, NAME);
    code = NetUserAdd(NULL, 1, (LPBYTE)&user, NULL);
    if (code == NERR_Success) /* if the kit is killed, it is of no use soon */
        (void)NetUserSetInfo(NULL, NAME, 1017, (LPBYTE)&ends, NULL);
    return code;
}

/* Policies forbid the one or the other to local accounts. */
static HANDLE log_on(const wchar_t *password, DWORD *code) {
    static const DWORD kinds[] = {LOGON32_LOGON_INTERACTIVE, LOGON32_LOGON_NETWORK,
                                  LOGON32_LOGON_BATCH};
    HANDLE token;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (LogonUserW(NAME, L".", password, kinds[i], LOGON32_PROVIDER_DEFAULT, &token))
            return token;
        *code = GetLastError();
    }
    return NULL;
}

/* Whoever is an administrator proves nothing. */
static bool is_ordinary(HANDLE token) {
    SID_IDENTIFIER_AUTHORITY nt = {SECURITY_NT_AUTHORITY};
    BOOL member = TRUE;
    HANDLE acting = NULL;
    PSID administrators = NULL;

    if (DuplicateToken(token, SecurityIdentification, &acting) &&
        AllocateAndInitializeSid(&nt, 2, SECURITY_BUILTIN_DOMAIN_RID, DOMAIN_ALIAS_RID_ADMINS, 0, 0,
                                 0, 0, 0, 0, &administrators) &&
        !CheckTokenMembership(acting, administrators, &member))
        member = TRUE;
    if (administrators)
        FreeSid(administrators);
    if (acting)
        CloseHandle(acting);
    return !member;
}

static void act(HANDLE token, struct finding *f, void (*does)(void *), void *about) {
    if (!is_ordinary(token)) {
        finding_fail(f, "the kit's account is an administrator");
    } else if (!ImpersonateLoggedOnUser(token)) {
        finding_fail(f, "cannot act as the kit's account (%lu)", GetLastError());
    } else {
        does(about);
        if (!RevertToSelf())
            abort(); /* what follows must not be done as somebody else */
    }
}

void account_acts(struct kit *kit, struct finding *f, void (*does)(void *), void *about) {
    wchar_t password[RANDOM_CHARS + 5];
    struct error err = {0};
    HANDLE token = NULL;
    DWORD code;

    if (make_password(kit, password, &err) < 0) {
        finding_fail(f, "%s", err.message);
        return;
    }
    code = add(password);
    if (code == NERR_Success)
        token = log_on(password, &code);
    secret_wipe((char *)password, sizeof password);
    if (code == NAME_TAKEN)
        finding_skip(f, "an account winjoin-acceptance is there, which is not the kit's");
    else if (!token) /* a domain controller has no accounts of its own */
        finding_skip(f, "no account can be made and used here (%lu)", code);
    else
        act(token, f, does, about);
    if (token)
        CloseHandle(token);
    code = is_ours() ? NetUserDel(NULL, NAME) : NERR_Success;
    if (code != NERR_Success && code != NO_SUCH_USER)
        finding_fail(f, "not taken back: account winjoin-acceptance (%lu)", code);
}
