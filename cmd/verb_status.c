/* winjoin status, certs, capabilities: what this node is and can. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "join/run.h"
#include "join/kubelet/kubelet_files.h"
#include "netsetup/hcn_network.h"
#include "pki/certificate.h"
#include "services/service_table.h"
#include "netsetup/hns_features.h"

static const char *state_name(enum host_service_state state) {
    static const char *const names[] = {"absent",  "stopped",  "starting",
                                        "running", "stopping", "paused"};

    return names[state];
}

static json_t *services_json(struct host *host, struct text *out) {
    json_t *rows = json_array();

    for (const struct service *const *row = service_table; *row; row++) {
        const char *name = (*row)->name;
        struct host_service service = {0};
        struct error ignored = {0};

        if (host_service_query(host, name, &service, &ignored) < 0)
            continue;
        if (service.state != HOST_SERVICE_ABSENT) {
            json_array_append_new(rows, json_pack("{s:s, s:s, s:b}", "name", name, "state",
                                                  state_name(service.state), "winjoin",
                                                  service_is_ours(&service)));
            text_addf(out, "service   %-16s %s%s\n", name, state_name(service.state),
                      service_is_ours(&service) ? "" : " (not winjoin's)");
        }
        host_service_free(&service);
    }
    return rows;
}

static json_t *networks_json(struct host *host, struct text *out) {
    json_t *rows = json_array(), *item;
    _cleanup_json_ json_t *networks = NULL;
    struct error why = {0};
    size_t i;

    if (hcn_list(host, HCN_NETWORK, NULL, NULL, &networks, &why) < 0) {
        text_addf(out, "network   unknown: %s\n", why.message);
        return rows;
    }
    json_array_foreach(networks, i, item) {
        const char *name = json_text_at(item, "Name"), *type = json_text_at(item, "Type");
        const char *owner = json_text_at(item, "Owner");
        bool ours = text_equal(owner, HCN_OWNER);

        json_array_append_new(rows, json_pack("{s:s*, s:s, s:b}", "name", name, "type",
                                              type ? type : "NAT", "winjoin", ours));
        text_addf(out, "network   %-16s %s%s\n", name ? name : "?", type ? type : "NAT",
                  ours ? "" : " (not winjoin's)");
    }
    return rows;
}

/* The stored client certificate's dates, read without judging whether it still fits. */
static json_t *certificate_json(struct host *host, struct text *out) {
    _cleanup_(secret_freep) char *pem = NULL;
    struct certificates list = {0};
    char from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX];
    struct error why = {0};
    json_t *json;
    size_t len;

    if (host_read(host, KUBELET_CLIENT_CERTIFICATE_FILE, 1 << 20, &pem, &len, &why) < 0 ||
        certificates_parse(pem, len, &list, &why) < 0) {
        text_addf(out, "identity  none: %s\n",
                  why.kind == ERROR_ABSENT ? "this machine has not joined" : why.message);
        return NULL;
    }
    rfc3339_format(list.items[0].not_before, from);
    rfc3339_format(list.items[0].not_after, to);
    json = json_pack("{s:s, s:s, s:s, s:s, s:i}", "path", KUBELET_CLIENT_CERTIFICATE_FILE,
                     "subject", list.items[0].subject, "notBefore", from, "notAfter", to,
                     "daysLeft", (int)((list.items[0].not_after - host_now(host)) / 86400));
    text_addf(out, "identity  %s, valid until %s\n", list.items[0].subject, to);
    certificates_free(&list);
    return json;
}

static void add_journal(struct host *host, json_t *document, struct text *out) {
    struct journal journal = {0};
    struct error why = {0};

    if (journal_open(host, &journal, &why) < 0) {
        text_addf(out, "journal   %s\n", why.message);
        return;
    }
    json_object_set_new(document, "joined", json_boolean(journal.count > 0));
    json_object_set_new(document, "journalEntries", json_integer((json_int_t)journal.count));
    text_addf(out, "journal   %zu changes that winjoin reset would undo\n", journal.count);
    journal_close(&journal);
}

int verb_status(struct program *program, struct error *err) {
    struct host_facts facts = {0};
    struct text out = {0};
    json_t *document, *certificate;

    if (host_facts(program->host, &facts, err) < 0)
        return -1;
    text_addf(&out, "host      %s, %s %u.%u.%u.%u\n", facts.host_name, facts.product, facts.major,
              facts.minor, facts.build, facts.revision);
    document = json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                         "NodeStatus", "hostName", facts.host_name, "product", facts.product);
    add_journal(program->host, document, &out);
    certificate = certificate_json(program->host, &out);
    if (certificate)
        json_object_set_new(document, "certificate", certificate);
    json_object_set_new(document, "services", services_json(program->host, &out));
    json_object_set_new(document, "networks", networks_json(program->host, &out));
    output_text(program, text_str(&out));
    output_result(program, document);
    text_free(&out);
    return 0;
}

int verb_certs(struct program *program, struct error *err) {
    struct text out = {0};
    json_t *certificate = certificate_json(program->host, &out);

    if (!certificate) {
        text_free(&out);
        (void)error_set(err, ERROR_ABSENT, "read '%s': this machine has no node certificate",
                        KUBELET_CLIENT_CERTIFICATE_FILE);
        return error_hint(err, "winjoin join makes one");
    }
    output_text(program, text_str(&out));
    output_result(program, json_pack("{s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                                     "NodeCertificates", "client", certificate));
    text_free(&out);
    return 0;
}

int verb_capabilities(struct program *program, struct error *err) {
    struct hns_version version = {0};
    struct text out = {0};
    json_t *features, *item;
    char number[24];
    size_t i;

    if (hns_version_get(program->host, &version, err) < 0)
        return -1;
    features = hns_features_json(version);
    (void)text_format(number, sizeof number, "%u.%u", version.major, version.minor);
    text_addf(&out, "HNS %s\n", number);
    json_array_foreach(features, i, item)
        text_addf(&out, "  %-4s %-24s %s\n", json_bool_at(item, "available", false) ? "yes" : "no",
                  json_text_at(item, "name"), json_text_at(item, "reason"));
    output_text(program, text_str(&out));
    output_result(program,
                  json_pack("{s:s, s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                            "Capabilities", "hnsVersion", number, "features", features));
    text_free(&out);
    return 0;
}
