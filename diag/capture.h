/* Packets seen by Windows' own Packet Monitor (PktMon.exe) while one flow is asked again
 * (diag --capture). Source: learn.microsoft.com, "pktmon start", "pktmon etl2pcap". */
#pragma once

#include "base/json.h"
#include "host/host.h"

/* Where the packets are after diag_capture_end(), as pcapng. */
#define DIAG_CAPTURE_FILE HOST_OWN_FOLDER "\\capture.pcapng"

/* Starts the capture: the first 128 bytes of each packet, at most 16 MiB. One that a killed run of
 * ours left is stopped first; one of somebody else runs on, and this fails. ERROR_UNSUPPORTED where
 * this Windows has no Packet Monitor, otherwise the kinds of host_run(), ERROR_HOST. Nothing runs
 * when it fails. */
int diag_capture_begin(struct host *host, struct error *err);
/* Stops it in any case, after Ctrl-C, too, and makes the file, which the caller removes. *ret:
 * {drops[]} as diag_capture_drops() has them; new reference. `target` as there. */
int diag_capture_end(struct host *host, const char *target, json_t **ret, struct error *err);

/* What a text of `pktmon etl2txt` says of dropped packets: [{reason, packets, ofThisFlow}], by
 * first sight, at most 32 reasons. A packet is of this flow when its lines have the address
 * `target`. Pure; new reference. */
json_t *diag_capture_drops(const char *text, const char *target);
