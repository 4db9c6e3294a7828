/* hnscall DLL EXPORT SIGNATURE [INPUT...]: one call of an export of computenetwork.dll or
 * vmcompute.dll; prints the HRESULT and each output on a line. Who needs it: the test of the two
 * DLLs. Letters: tests/hns/hnsd.h; an input "-" is NULL. */
#include <objbase.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

enum { ARGUMENTS_MAX = 5, NAME_MAX_CHARS = 128 };

typedef HRESULT WINAPI export_call(ULONG_PTR, ULONG_PTR, ULONG_PTR, ULONG_PTR, ULONG_PTR);

struct argument {
    ULONG_PTR value; /* what is passed */
    GUID guid;
    ULONG_PTR out; /* what an output points at */
};

static ULONG_PTR input(struct argument *a, wchar_t letter, const WCHAR *text) {
    WCHAR braced[64];

    if (!wcscmp(text, L"-"))
        return 0;
    if (letter == L'h')
        return (ULONG_PTR)wcstoull(text, NULL, 16);
    if (letter == L'u')
        return (ULONG_PTR)wcstoul(text, NULL, 10);
    if (letter != L'g')
        return (ULONG_PTR)text;
    (void)swprintf(braced, 64, L"{%ls}", text);
    return CLSIDFromString(braced, &a->guid) == S_OK ? (ULONG_PTR)&a->guid : 0;
}

static void print(const WCHAR *text) {
    char utf8[65536] = "";

    (void)WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof(utf8), NULL, NULL);
    (void)printf("%s\n", utf8);
}

static void output(wchar_t letter, struct argument *a) {
    if (letter == L'o' && a->out)
        print((WCHAR *)a->out);
    else if (letter == L'o')
        (void)printf("NULL\n");
    else
        (void)printf("%llx\n", (unsigned long long)a->out);
    if (letter == L'o')
        CoTaskMemFree((void *)a->out);
}

static export_call *find(const WCHAR *dll, const WCHAR *name) {
    HMODULE library = LoadLibraryW(dll);
    char narrow[NAME_MAX_CHARS] = "";
    export_call *call = NULL;
    FARPROC found;

    (void)WideCharToMultiByte(CP_UTF8, 0, name, -1, narrow, sizeof(narrow), NULL, NULL);
    found = library ? GetProcAddress(library, narrow) : NULL;
    memcpy(&call, &found, sizeof(call));
    return call;
}

int wmain(int argc, WCHAR **argv) {
    struct argument arguments[ARGUMENTS_MAX] = {0};
    const WCHAR *signature = argc > 3 ? argv[3] : L"";
    export_call *call = argc > 3 ? find(argv[1], argv[2]) : NULL;
    int next = 4;

    if (!call || wcslen(signature) > ARGUMENTS_MAX) {
        (void)fprintf(stderr, "hnscall: no such export\n");
        return 2;
    }
    for (size_t i = 0; signature[i]; i++) {
        struct argument *a = &arguments[i];

        if (wcschr(L"oHU", signature[i]))
            a->value = (ULONG_PTR)&a->out;
        else if (next < argc)
            a->value = input(a, signature[i], argv[next++]);
    }
    (void)printf("0x%08lx\n",
                 (unsigned long)call(arguments[0].value, arguments[1].value, arguments[2].value,
                                     arguments[3].value, arguments[4].value));
    for (size_t i = 0; signature[i]; i++)
        if (wcschr(L"oHU", signature[i]))
            output(signature[i], &arguments[i]);
    return 0;
}
