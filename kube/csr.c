/* Implements csr.h. */
#include "kube/csr.h"

#include "base/base64.h"
#include "kube/object.h"
#include "pki/certificate.h"

#define CSR_PATH "/apis/certificates.k8s.io/v1/certificatesigningrequests"

/* Limit for a certificate in base64. A normal chain has a few KiB. */
enum { CERTIFICATE_MAX = 512 * 1024 };

const char *const kube_csr_states[] = {"pending", "approved", "denied", "failed", "issued"};

void kube_csr_free(struct kube_csr *csr) {
    free_all(csr->name, csr->uid, csr->version, csr->request_pem, csr->signer_name,
             csr->certificate_pem, csr->reason, csr->message);
    *csr = (struct kube_csr){0};
}

/* Decodes base64 to text; free() it. NULL when it is absent or damaged, or contains a NUL. */
static char *decoded(const json_t *object, const char *path) {
    const char *text = json_text_at(object, path);
    unsigned char *data = NULL;
    size_t len = 0;

    if (!text || !*text || base64_decode(text, strlen(text), &data, &len, NULL) < 0)
        return NULL;
    if (memchr(data, '\0', len))
        freep(&data);
    return (char *)data;
}

int kube_csr_from_json(const json_t *object, struct kube_csr *ret, struct error *err) {
    static const struct {
        const char *type;
        enum kube_csr_state state;
    } states[] = {{"Approved", KUBE_CSR_APPROVED},
                  {"Failed", KUBE_CSR_FAILED},
                  {"Denied", KUBE_CSR_DENIED}}; /* The last matching row decides the state. */
    const char *name = json_text_at(object, "metadata.name");
    const char *given = json_text_at(object, "status.certificate");
    struct kube_csr csr = {0};

    if (kube_object_check(object, "CertificateSigningRequest", "certificates.k8s.io/v1", err) < 0)
        return -1;
    if (!name || !json_is_object(json_at(object, "spec")))
        return error_set(err, ERROR_MALFORMED, "decode CertificateSigningRequest: no name or spec");
    /* The name becomes part of commands that people copy, so it must be safe. */
    if (!kube_name_is_valid(name))
        return error_set(err, ERROR_MALFORMED,
                         "decode CertificateSigningRequest: \"%.100s\" is not an object name",
                         name);
    if (given && strlen(given) > CERTIFICATE_MAX)
        return error_set(
            err, ERROR_MALFORMED,
            "decode CertificateSigningRequest \"%.100s\": its certificate is longer than %d KiB",
            name, CERTIFICATE_MAX / 1024);
    csr.certificate_pem = decoded(object, "status.certificate");
    if (!csr.certificate_pem && given && *given)
        return error_set(
            err, ERROR_MALFORMED,
            "decode CertificateSigningRequest \"%.100s\": its certificate is not base64 text",
            name);
    csr.name = xstrdup(name);
    csr.uid = xstrdup(json_text_or(object, "metadata.uid", ""));
    csr.version = xstrdup(json_text_or(object, "metadata.resourceVersion", ""));
    csr.signer_name = xstrdup_null(json_text_at(object, "spec.signerName"));
    csr.request_pem = decoded(object, "spec.request");
    csr.reason = xstrdup("");
    csr.message = xstrdup("");
    for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
        json_each(json_at(object, "status.conditions"), k, condition)
            if (text_equal(json_text_at(condition, "type"), states[i].type)) {
                csr.state = states[i].state;
                text_set(&csr.reason, xstrdup(json_text_or(condition, "reason", "")));
                text_set(&csr.message, xstrdup(json_text_or(condition, "message", "")));
            }
    }
    if (csr.state == KUBE_CSR_APPROVED && csr.certificate_pem)
        csr.state = KUBE_CSR_ISSUED;
    *ret = csr;
    return 0;
}

int kube_csr_create(struct kube_client *client, const char *request_pem, const char *signer,
                    struct kube_csr *ret, struct error *err) {
    _cleanup_(freep) char *request = base64_encode(request_pem, strlen(request_pem));
    const char *usage = text_equal(signer, KUBE_CSR_SERVING_SIGNER) ? "server auth" : "client auth";
    _cleanup_json_ json_t *answer = NULL;
    _cleanup_json_ json_t *body = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:[s, s]}}", "apiVersion", "certificates.k8s.io/v1",
        "kind", "CertificateSigningRequest", "metadata", "generateName", "csr-", "spec", "request",
        request, "signerName", signer, "usages", "digital signature", usage);

    if (kube_create(client, CSR_PATH, body, &answer, err) < 0)
        return error_prefix(err, "send the certificate signing request");
    return kube_csr_from_json(answer, ret, err);
}

int kube_csr_get(struct kube_client *client, const char *name, struct kube_csr *ret,
                 struct error *err) {
    _cleanup_(freep) char *segment = kube_escape(name);
    _cleanup_(freep) char *path = xasprintf(CSR_PATH "/%s", segment);
    _cleanup_json_ json_t *answer = NULL;

    if (kube_get(client, path, &answer, err) < 0)
        return -1;
    return kube_csr_from_json(answer, ret, err);
}

int kube_csr_find(struct kube_client *client, const char *signer, const char *node_name,
                  struct kube_csr *ret, struct error *err) {
    _cleanup_(freep) char *subject = xasprintf("CN=system:node:%s,O=system:nodes", node_name);

    return kube_csr_find_subject(client, signer, subject, ret, err);
}

int kube_csr_find_subject(struct kube_client *client, const char *signer, const char *subject,
                          struct kube_csr *ret, struct error *err) {
    _cleanup_json_ json_t *all = NULL;
    json_t *items, *newest = NULL;
    const char *made = "";

    if (kube_get(client, CSR_PATH, &all, err) < 0 || kube_list_items(all, &items, err) < 0)
        return -1;
    json_each(items, i, item) {
        const char *when = json_text_or(item, "metadata.creationTimestamp", "");
        _cleanup_(freep) char *request = NULL, *found = NULL;

        if (!text_equal(json_text_at(item, "spec.signerName"), signer) || strcmp(when, made) < 0)
            continue;
        request = decoded(item, "spec.request");
        found = request ? csr_subject(request) : NULL;
        if (!text_equal(found, subject))
            continue;
        newest = item;
        made = when;
    }
    if (!newest)
        return error_set(err, ERROR_ABSENT, "find a certificate request of \"%s\": none found",
                         subject);
    return kube_csr_from_json(newest, ret, err);
}

int kube_csr_refused(const struct kube_csr *csr, struct error *err) {
    return error_set(err, ERROR_DENIED,
                     "certificate signing request \"%s\" %s, reason: %s, message: %s", csr->name,
                     csr->state == KUBE_CSR_DENIED ? "is denied" : "failed", csr->reason,
                     csr->message);
}

/* ---- waiting ---- */

struct csr_wait {
    const char *name, *uid;
    struct kube_csr seen;
    kube_csr_progress *progress;
    void *context;
    struct host *host;
    uint64_t start;
};

static int tell(void *context, unsigned waited_ms, struct error *err) {
    struct csr_wait *w = context;

    if (w->progress && w->seen.name && w->progress(w->context, &w->seen, waited_ms))
        return error_set(err, ERROR_INTERRUPTED, "wait for \"%s\": interrupted", w->name);
    return 0;
}

/* Handles one watch event: returns 1 when the certificate is issued, 0 to continue, -1 when it will
 * never be issued. */
static int on_event(void *context, const char *type, const json_t *object, struct error *err) {
    struct csr_wait *w = context;
    bool listed = text_equal(type, "LISTED");
    struct kube_csr csr = {0};
    bool changed;

    if (text_equal(type, "DELETED") || (listed && !json_array_size(json_at(object, "items"))))
        return error_set(err, ERROR_ABSENT, "certificate signing request \"%s\" was deleted",
                         w->name);
    if (listed)
        return 0;
    if (kube_csr_from_json(object, &csr, err) < 0)
        return -1;
    changed = !w->seen.name || w->seen.state != csr.state;
    kube_csr_free(&w->seen);
    w->seen = csr;
    if (w->uid && *w->uid && !text_equal(w->uid, csr.uid))
        return error_set(err, ERROR_CONFLICT, "certificate signing request \"%s\" changed UIDs",
                         w->name);
    if (changed && tell(w, (unsigned)(host_monotonic_ms(w->host) - w->start), err) < 0)
        return -1;
    if (kube_csr_is_refused(&csr))
        return kube_csr_refused(&w->seen, err);
    return csr.state == KUBE_CSR_ISSUED;
}

int kube_csr_wait(struct kube_client *client, const struct kube_csr *sent, unsigned timeout_ms,
                  kube_csr_progress *progress, void *context, struct kube_csr *ret,
                  struct error *err) {
    bool waits = sent->state == KUBE_CSR_PENDING || sent->state == KUBE_CSR_APPROVED;
    struct csr_wait w = {.name = sent->name,
                         .uid = sent->uid,
                         .progress = progress,
                         .context = context,
                         .host = client->host,
                         .start = host_monotonic_ms(client->host)};
    struct kube_watch watch = {.path = CSR_PATH,
                               .name = sent->name,
                               .version = waits ? sent->version : NULL,
                               .timeout_ms = timeout_ms,
                               .on_event = on_event,
                               .on_tick = tell,
                               .context = &w};
    bool approved;

    if (watch.version && *watch.version)
        w.seen = (struct kube_csr){.name = xstrdup(sent->name), .state = sent->state};
    if (tell(&w, 0, err) == 0 && kube_watch(client, &watch, 1, err) == 0) {
        *ret = w.seen;
        return 0;
    }
    approved = w.seen.name && w.seen.state == KUBE_CSR_APPROVED;
    if (err && err->kind == ERROR_TIMED_OUT) {
        (void)error_prefix(err, "certificate signing request \"%s\" is %s", w.name,
                           !w.seen.name ? "in an unknown state (it could not be read)"
                           : approved   ? "approved but not signed"
                                        : "still pending: it has not been approved");
        if (approved)
            (void)error_hint(err, "kube-controller-manager signs it only when it runs with "
                                  "--cluster-signing-cert-file and --cluster-signing-key-file");
        else if (w.seen.name)
            (void)error_hint(err, "kubectl certificate approve %s", w.name);
    }
    kube_csr_free(&w.seen);
    return -1;
}
