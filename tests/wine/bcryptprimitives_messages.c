/* Windows has a message for each error of HNS (0x803Bxxxx). Who needs it: flanneld's host-gw, which
 * knows an endpoint that is attached already by the words of the error. */
#include "tests/wine/bcryptprimitives_messages.h"
#include "tests/hns/model.h"
#include "tests/wine/exports.h"

static const DWORD facility_mask = 0xffff0000, facility_hns = 0x803b0000;

typedef DWORD WINAPI format_function(DWORD, const void *, DWORD, DWORD, WCHAR *, DWORD, va_list *);
static format_function *wine_format;

static DWORD WINAPI format_message(DWORD flags, const void *source, DWORD id, DWORD language,
                                   WCHAR *buffer, DWORD size, va_list *arguments) {
    bool ours = (id & facility_mask) == facility_hns && (flags & FORMAT_MESSAGE_FROM_SYSTEM) &&
                !(flags & FORMAT_MESSAGE_ALLOCATE_BUFFER);
    int written =
        ours ? MultiByteToWideChar(CP_UTF8, 0, model_hr_text(id), -1, buffer, (int)size) : 0;

    return written > 1 ? (DWORD)written - 1
                       : wine_format(flags, source, id, language, buffer, size, arguments);
}

void messages_repair(void) {
    wine_format =
        export_replace(GetModuleHandleW(L"kernel32.dll"), "FormatMessageW", (void *)format_message);
}
