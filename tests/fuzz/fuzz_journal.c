/* The journal as a crash, a disk or a person left it: what was taken is written and read again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/undo/journal.h"
#include "tests/memory/host_memory.h"

#define TARGET "C:\\winjoin-fuzz"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct host *host = host_memory_new();
    struct journal journal = {0}, again = {0};
    struct error err = {0};

    if (host_write(host, JOURNAL_FILE, data, size, HOST_SECRET, NULL) < 0)
        abort();
    if (journal_open(host, WINJOIN_FOLDER, &journal, &err) == 0) {
        if (journal_record(&journal, JOURNAL_FILE_ENTRY, TARGET, NULL, NULL) < 0 ||
            journal_open(host, WINJOIN_FOLDER, &again, NULL) < 0 || again.count != journal.count ||
            !journal_find(&again, JOURNAL_FILE_ENTRY, TARGET))
            abort();
        while (again.count)
            if (journal_pop(&again, NULL) < 0)
                abort();
        journal_close(&again);
        journal_close(&journal);
    } else if (err.kind != ERROR_MALFORMED) {
        abort();
    }
    host_free(host);
    return 0;
}
