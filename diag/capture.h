/* Captures packets with Packet Monitor of Windows (PktMon.exe) while one flow is asked again (diag
 * --capture). Source: learn.microsoft.com, "pktmon start", "pktmon etl2pcap". */
#pragma once

#include "base/json.h"
#include "host/host.h"

/* The file that holds the packets after diag_capture_end(), in pcapng format. */
#define DIAG_CAPTURE_FILE HOST_OWN_FOLDER "\\capture.pcapng"

/* Starts a capture of the first 128 bytes of each packet, with at most 16 MiB. A capture that a
 * killed run of winjoin left is stopped first; a capture of another program keeps running, and this
 * call fails. Fails with ERROR_UNSUPPORTED where this Windows has no Packet Monitor, otherwise as
 * host_run(), or with ERROR_HOST. After a failure no capture of winjoin runs. */
int diag_capture_begin(struct host *host, struct error *err);
/* Stops the capture in any case, also after Ctrl-C, and makes the file DIAG_CAPTURE_FILE, which the
 * caller removes. *ret gets {drops[]} as diag_capture_drops() makes it, a new reference. `target`
 * is as for diag_capture_drops(). */
int diag_capture_end(struct host *host, const char *target, json_t **ret, struct error *err);

/* Reads what the text of `pktmon etl2txt` says about dropped packets: [{reason, packets,
 * ofThisFlow}], in the order of their first line, at most 32 reasons. A packet belongs to this flow
 * when its lines hold the address `target`. Pure; returns a new reference. */
json_t *diag_capture_drops(const char *text, const char *target);
