/* pktmon: Windows' Packet Monitor as `diag --capture` calls it, refusing what the real one does not
 * know. Nothing is captured: the text names one packet to the rig's outside that was dropped.
 * Whether it runs stands in the registry. */
#include <windows.h>

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

#define KEY L"SOFTWARE\\winjoin-rig"

/* pcapng: a section header block without any packet */
static const char PCAPNG[] = "\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0"
                             "\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0";
static const char TEXT[] =
    "[0]0000.0000::2026-11-23 09:00:00.000000000 [Microsoft-Windows-PktMon] Drop: PktGroupId 1, "
    "PktNumber 1, Appearance 1, Direction Tx , Type IP , Component 34, Filter 1, DropReason "
    "INET: no route , DropLocation 0xE000460A, OriginalSize 60, LoggedSize 60 \r\n"
    "\tIP 10.244.3.4.50000 > 192.0.2.1.443: Flags [S], seq 1, win 65280, length 0\r\n";

static int refuse(const char *why) {
    printf("\r\n%s\r\n", why);
    return 1;
}

static bool runs(void) {
    DWORD on = 0, size = sizeof on;

    return RegGetValueW(HKEY_LOCAL_MACHINE, KEY, L"PacketMonitor", RRF_RT_REG_DWORD, NULL, &on,
                        &size) == ERROR_SUCCESS &&
           on;
}

static int set_runs(DWORD on) {
    return (int)RegSetKeyValueW(HKEY_LOCAL_MACHINE, KEY, L"PacketMonitor", REG_DWORD, &on,
                                sizeof on);
}

static int write_file(const WCHAR *path, const char *data, DWORD len) {
    DWORD written = 0;
    HANDLE file =
        CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    bool done = file != INVALID_HANDLE_VALUE && WriteFile(file, data, len, &written, NULL) &&
                written == len;

    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    return done ? 0 : refuse("The file cannot be written.");
}

static int start(int argc, WCHAR **argv) {
    const WCHAR *file = NULL;
    bool capture = false;

    for (int i = 2; i < argc; i++) {
        if (wcscmp(argv[i], L"--capture") == 0)
            capture = true;
        else if (i + 1 < argc &&
                 (wcscmp(argv[i], L"--pkt-size") == 0 || wcscmp(argv[i], L"--file-size") == 0))
            i++;
        else if (i + 1 < argc && wcscmp(argv[i], L"--file-name") == 0)
            file = argv[++i];
        else
            return refuse("Unknown parameter.");
    }
    if (!capture || !file)
        return refuse("Invalid parameters.");
    if (runs())
        return refuse("Packet Monitor is already started.");
    return set_runs(1) ? 1 : write_file(file, "etl", 3);
}

int wmain(int argc, WCHAR **argv) {
    bool pcap = argc > 1 && wcscmp(argv[1], L"etl2pcap") == 0;

    if (argc > 1 && wcscmp(argv[1], L"start") == 0)
        return start(argc, argv);
    if (argc == 2 && wcscmp(argv[1], L"stop") == 0)
        return runs() ? set_runs(0) : refuse("Packet Monitor is not running.");
    if (argc != 5 || (!pcap && wcscmp(argv[1], L"etl2txt") != 0) || wcscmp(argv[3], L"--out") != 0)
        return refuse("Unknown command.");
    if (GetFileAttributesW(argv[2]) == INVALID_FILE_ATTRIBUTES)
        return refuse("The file does not exist.");
    return pcap ? write_file(argv[4], PCAPNG, sizeof PCAPNG - 1)
                : write_file(argv[4], TEXT, sizeof TEXT - 1);
}
