/* What computenetwork.dll and vmcompute.dll share: each export is one request to hnsd on
 * 127.0.0.1:$HNS_PORT (default 17999); tests/hns/hnsd.h has the frames. Without hnsd every export
 * answers 0x800706b5, as HNS does while its service is stopped. */
#pragma once

#include <winsock2.h>

#include <objbase.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define HNS_DOWN ((HRESULT)0x800706b5) /* RPC_S_UNKNOWN_IF */

enum { HNS_ARGUMENTS_MAX = 5, HNS_PORT_DEFAULT = 17999, HNS_ANSWER_MAX = 64 * 1024 * 1024 };
static const uint32_t hns_null = 0xffffffff;

struct hns_frame {
    unsigned char *data;
    size_t len, size;
};

static void *hns_alloc(void *old, size_t size) {
    void *memory = realloc(old, size);

    if (!memory)
        abort();
    return memory;
}

static void hns_put(struct hns_frame *f, const void *data, size_t len) {
    if (f->len + len > f->size) {
        f->size = (f->len + len) * 2;
        f->data = hns_alloc(f->data, f->size);
    }
    memcpy(f->data + f->len, data, len);
    f->len += len;
}

static void hns_put_text(struct hns_frame *f, const char *text) {
    uint32_t len = (uint32_t)strlen(text);

    hns_put(f, &len, sizeof(len));
    hns_put(f, text, len);
}

static void hns_put_wide(struct hns_frame *f, const WCHAR *wide) {
    char *text;
    int len;

    if (!wide) {
        hns_put(f, &hns_null, sizeof(hns_null));
        return;
    }
    len = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    text = hns_alloc(NULL, len > 0 ? (size_t)len : 1);
    text[0] = '\0';
    (void)WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, len, NULL, NULL);
    hns_put_text(f, text);
    free(text);
}

static void hns_put_guid(struct hns_frame *f, const GUID *g) {
    char text[40];

    if (!g) {
        hns_put(f, &hns_null, sizeof(hns_null));
        return;
    }
    (void)snprintf(text, sizeof(text), "%08lx-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                   g->Data1, g->Data2, g->Data3, g->Data4[0], g->Data4[1], g->Data4[2], g->Data4[3],
                   g->Data4[4], g->Data4[5], g->Data4[6], g->Data4[7]);
    hns_put_text(f, text);
}

/* One input by its letter; outputs are set to nothing first, as the exports do. */
static void hns_put_argument(struct hns_frame *f, char letter, ULONG_PTR value) {
    char text[24];

    switch (letter) {
    case 's':
        hns_put_wide(f, (const WCHAR *)value);
        break;
    case 'h':
        (void)snprintf(text, sizeof(text), "%llx", (unsigned long long)value);
        hns_put_text(f, text);
        break;
    case 'u':
        (void)snprintf(text, sizeof(text), "%u", (unsigned)value);
        hns_put_text(f, text);
        break;
    case 'p':
        hns_put_text(f, value ? "ptr" : "null");
        break;
    case 'd': /* a layer's DriverInfo: flavour, home folder */
        hns_put_wide(f, value ? *(WCHAR **)(value + sizeof(void *)) : NULL);
        break;
    case 'g':
        hns_put_guid(f, (const GUID *)value);
        break;
    default:
        if (value && (letter == 'o' || letter == 'H'))
            *(void **)value = NULL;
    }
}

static void hns_put_caller(struct hns_frame *f, const char *dll, const char *function,
                           const char *signature) {
    WCHAR path[MAX_PATH] = L"";
    const WCHAR *base;
    char id[16];

    (void)GetModuleFileNameW(NULL, path, MAX_PATH - 1);
    base = wcsrchr(path, L'\\');
    hns_put_wide(f, base ? base + 1 : path);
    (void)snprintf(id, sizeof(id), "%lu", GetCurrentProcessId());
    hns_put_text(f, id);
    (void)snprintf(id, sizeof(id), "%lu", GetCurrentThreadId());
    hns_put_text(f, id);
    hns_put_text(f, dll);
    hns_put_text(f, function);
    hns_put_text(f, signature);
}

/* ---- the wire ---- */

static int hns_port(void) {
    char text[16];
    DWORD len = GetEnvironmentVariableA("HNS_PORT", text, sizeof(text));

    return len && len < sizeof(text) ? (int)strtol(text, NULL, 10) : HNS_PORT_DEFAULT;
}

static SOCKET hns_connect(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    WSADATA data;
    SOCKET s;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return INVALID_SOCKET;
    s = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((u_short)hns_port());
    if (s != INVALID_SOCKET && !connect(s, (struct sockaddr *)&address, sizeof(address)))
        return s;
    if (s != INVALID_SOCKET)
        (void)closesocket(s);
    return INVALID_SOCKET;
}

static bool hns_send(SOCKET s, const unsigned char *data, size_t len) {
    while (len) {
        int n = send(s, (const char *)data, (int)len, 0);

        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static bool hns_receive(SOCKET s, void *data, size_t len) {
    char *at = data;

    while (len) {
        int n = recv(s, at, (int)len, 0);

        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* The answer's bytes behind its length; NULL when there is none. The caller frees. */
static unsigned char *hns_exchange(const struct hns_frame *request, uint32_t *ret_len) {
    uint32_t size = (uint32_t)request->len;
    unsigned char *answer = NULL;
    SOCKET s = hns_connect();

    if (s == INVALID_SOCKET)
        return NULL;
    if (hns_send(s, (unsigned char *)&size, sizeof(size)) &&
        hns_send(s, request->data, request->len) && hns_receive(s, ret_len, sizeof(*ret_len)) &&
        *ret_len >= 4 && *ret_len <= HNS_ANSWER_MAX) {
        answer = hns_alloc(NULL, (size_t)*ret_len + 1);
        if (!hns_receive(s, answer, *ret_len)) {
            free(answer);
            answer = NULL;
        }
    }
    (void)closesocket(s);
    return answer;
}

/* ---- outputs ---- */

static WCHAR *hns_wide(const char *text) {
    int len = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    WCHAR *wide = CoTaskMemAlloc((size_t)(len > 0 ? len : 1) * sizeof(*wide));

    if (!wide)
        abort();
    wide[0] = L'\0';
    (void)MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, len);
    return wide;
}

static void hns_give(char letter, ULONG_PTR where, const char *text) {
    if (!where)
        return;
    if (letter == 'o')
        *(WCHAR **)where = hns_wide(text);
    else if (letter == 'H')
        *(ULONG_PTR *)where = (ULONG_PTR)strtoull(text, NULL, 16);
    else if (letter == 'U')
        *(DWORD *)where = (DWORD)strtoul(text, NULL, 10);
    else if (letter == 'G') {
        WCHAR braced[40];

        if (swprintf(braced, 40, L"{%hs}", text) > 0)
            (void)CLSIDFromString(braced, (CLSID *)where);
    }
}

static HRESULT hns_outputs(const char *signature, const ULONG_PTR *values, unsigned char *answer,
                           uint32_t len) {
    HRESULT hr;
    size_t at = sizeof(hr);

    memcpy(&hr, answer, sizeof(hr));
    for (; *signature; signature++, values++) {
        uint32_t size;
        unsigned char kept;

        if (!strchr("oHUG", *signature))
            continue;
        if (at + sizeof(size) > len)
            break;
        memcpy(&size, answer + at, sizeof(size));
        at += sizeof(size);
        if (size == hns_null)
            continue;
        if (size > len - at)
            break;
        kept = answer[at + size];
        answer[at + size] = '\0';
        hns_give(*signature, *values, (char *)answer + at);
        answer[at + size] = kept;
        at += size;
    }
    return hr;
}

static HRESULT hns_forward(const char *dll, const char *function, const char *signature,
                           const ULONG_PTR *values) {
    struct hns_frame request = {0};
    unsigned char *answer;
    uint32_t len;
    HRESULT hr = HNS_DOWN;

    hns_put_caller(&request, dll, function, signature);
    for (size_t i = 0; signature[i]; i++)
        hns_put_argument(&request, signature[i], values[i]);
    answer = hns_exchange(&request, &len);
    if (answer)
        hr = hns_outputs(signature, values, answer, len);
    free(answer);
    free(request.data);
    return hr;
}

/* ---- exports: one macro for each number of arguments; HNS_DLL is the library's name ---- */

#define HNS_EXPORT(name, declared, signature, ...)                                                 \
    __declspec(dllexport) HRESULT WINAPI name declared;                                            \
    HRESULT WINAPI name declared {                                                                 \
        const ULONG_PTR values[HNS_ARGUMENTS_MAX] = {__VA_ARGS__};                                 \
                                                                                                   \
        return hns_forward(HNS_DLL, #name, signature, values);                                     \
    }
#define EXPORT_1(name, s) HNS_EXPORT(name, (ULONG_PTR a), s, a)
#define EXPORT_2(name, s) HNS_EXPORT(name, (ULONG_PTR a, ULONG_PTR b), s, a, b)
#define EXPORT_3(name, s) HNS_EXPORT(name, (ULONG_PTR a, ULONG_PTR b, ULONG_PTR c), s, a, b, c)
#define EXPORT_4(name, s)                                                                          \
    HNS_EXPORT(name, (ULONG_PTR a, ULONG_PTR b, ULONG_PTR c, ULONG_PTR d), s, a, b, c, d)
#define EXPORT_5(name, s)                                                                          \
    HNS_EXPORT(name, (ULONG_PTR a, ULONG_PTR b, ULONG_PTR c, ULONG_PTR d, ULONG_PTR e), s, a, b,   \
               c, d, e)
