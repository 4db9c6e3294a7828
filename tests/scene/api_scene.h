/* A cluster in memory for tests of the join: the API server's answers, a CA that signs, and a node
 * that comes alive as its services are started on the in-memory host. */
#pragma once

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "host/http.h"
#include "kube/csr.h"
#include "netsetup/hns/hcn_network.h"
#include "pki/certificate.h"
#include "pki/token.h"
#include "tests/memory/host_memory.h"

#define SCENE_TOKEN_ID "abcdef"
#define SCENE_TOKEN_SECRET "0123456789abcdef"
#define SCENE_TOKEN SCENE_TOKEN_ID "." SCENE_TOKEN_SECRET
#define SCENE_SERVER "https://10.0.0.10:6443"

struct api_scene {
    const char *server_version;  /* of /version; NULL: 404 */
    const char *kubelet_version; /* that the Node reports; NULL: none */
    bool registered;             /* the Node stays when the kubelet stops */
    json_t *node_patch;          /* what the last PATCH of the Node said; borrowed, or NULL */
    json_t *pods;                /* of this node; borrowed, or NULL */
    const char *flannel;         /* its net-conf.json; NULL: it is not there */
    EVP_PKEY *ca_key;
    X509 *ca;
    char *ca_pem;
    char pin[PIN_TEXT_MAX];
    char *kubeconfig;
    char *certificate;   /* issued, or NULL */
    char *request;       /* of the CSR that was sent, base64 */
    struct host *host;   /* whose services bring the Node to life */
    bool approve;        /* CSRs are signed at once */
    bool holds_serving;  /* but for those of serving certificates, which wait for a person */
    const char *denied;  /* name of the CSR, when it is denied */
    bool unprepared;     /* nodes may not read EndpointSlices, so that kube-proxy programmes none */
    const char *may_not; /* in an access review: what is refused; NULL: nothing */
    bool no_prefix;      /* nobody gives Nodes a podCIDR */
    bool no_pod_subnet;  /* kubeadm's file names none */
    const char *image_repository;     /* that it names; NULL: none */
    const char *daemon_set, *backend; /* of Windows nodes, its CALICO_NETWORKING_BACKEND; or NULL */
    const char *conf;                 /* with which the Node becomes Ready; NULL: winjoin's own */
    const char *second_set;           /* beside daemon_set */
    const char *hides;                /* in the path of what may not be read; or NULL */
    const char *other_node; /* "10.244.7.0/24 10.0.0.77", its prefix and address; NULL: none */
    char *node_asked_as;    /* the client certificate with which a Node was last read; or NULL */
    bool serving; /* the cluster wants serving certificates; the running kubelet asked for one */
};

#define SCENE_CLUSTER                                                                              \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: kubernetes\n"    \
    "kubernetesVersion: v1.37.1\ncontrolPlaneEndpoint: api:6443\n"                                 \
    "networking:\n  dnsDomain: cluster.local\n"                                                    \
    "  serviceSubnet: 10.96.0.0/12\n"

static char *scene_pem(X509 *certificate) {
    BIO *bio = BIO_new(BIO_s_mem());
    char *data;
    long len;
    char *copy;

    PEM_write_bio_X509(bio, certificate);
    len = BIO_get_mem_data(bio, &data);
    copy = xstrndup(data, (size_t)len);
    BIO_free(bio);
    return copy;
}

static void scene_dates(X509 *certificate) {
    ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20260101000000Z");
    ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "20360101000000Z");
}

static void scene_make_ca(struct api_scene *s) {
    X509_NAME *name = X509_NAME_new();
    X509_EXTENSION *ca;

    s->ca_key = EVP_EC_gen("P-256");
    s->ca = X509_new();
    X509_set_version(s->ca, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(s->ca), 1);
    scene_dates(s->ca);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"kubernetes", -1,
                               -1, 0);
    X509_set_subject_name(s->ca, name);
    X509_set_issuer_name(s->ca, name);
    X509_NAME_free(name);
    X509_set_pubkey(s->ca, s->ca_key);
    ca = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(s->ca, ca, -1);
    X509_EXTENSION_free(ca);
    X509_sign(s->ca, s->ca_key, EVP_sha256());
    s->ca_pem = scene_pem(s->ca);
}

static void scene_open(struct api_scene *s, struct host *host) {
    struct certificates list = {0};
    _cleanup_(freep) char *ca = NULL;

    *s = (struct api_scene){.host = host, .approve = true};
    scene_make_ca(s);
    ca = base64_encode(s->ca_pem, strlen(s->ca_pem));
    s->kubeconfig = xasprintf("apiVersion: v1\nclusters:\n- cluster:\n    "
                              "certificate-authority-data: %s\n    server: " SCENE_SERVER
                              "\n  name: \"\"\ncontexts: null\ncurrent-context: \"\"\nkind: "
                              "Config\nusers: null\n",
                              ca);
    if (certificates_parse(s->ca_pem, strlen(s->ca_pem), &list, NULL) < 0)
        abort();
    (void)text_format(s->pin, sizeof s->pin, "%s", list.items[0].pin);
    certificates_free(&list);
}

static void scene_close(struct api_scene *s) {
    EVP_PKEY_free(s->ca_key);
    X509_free(s->ca);
    free(s->ca_pem);
    free(s->kubeconfig);
    free(s->certificate);
    free(s->node_asked_as);
    free(s->request);
}

/* Signs what the request asks for, as kube-controller-manager's csrsigning does. */
static void scene_sign(struct api_scene *s) {
    _cleanup_(freep) unsigned char *pem = NULL;
    X509 *certificate = X509_new();
    STACK_OF(X509_EXTENSION) * names;
    X509_REQ *request;
    EVP_PKEY *key;
    size_t len;
    BIO *bio;

    if (base64_decode(s->request, strlen(s->request), &pem, &len, NULL) < 0)
        abort();
    bio = BIO_new_mem_buf(pem, (int)len);
    request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
    BIO_free(bio);
    key = X509_REQ_get_pubkey(request);
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 2);
    scene_dates(certificate);
    X509_set_subject_name(certificate, X509_REQ_get_subject_name(request));
    X509_set_issuer_name(certificate, X509_get_subject_name(s->ca));
    X509_set_pubkey(certificate, key);
    names = X509_REQ_get_extensions(request);
    for (int i = 0; i < sk_X509_EXTENSION_num(names); i++)
        X509_add_ext(certificate, sk_X509_EXTENSION_value(names, i), -1);
    sk_X509_EXTENSION_pop_free(names, X509_EXTENSION_free);
    X509_sign(certificate, s->ca_key, EVP_sha256());
    free(s->certificate);
    s->certificate = scene_pem(certificate);
    EVP_PKEY_free(key);
    X509_REQ_free(request);
    X509_free(certificate);
}

static bool scene_runs(const struct api_scene *s, const char *service) {
    _cleanup_(freep) char *path = xasprintf("services.%s.state", service);

    return text_equal(json_string_value(host_memory_at(s->host, path)), "running");
}

static int scene_json(struct http_response *ret, long status, json_t *json) {
    ret->status = status;
    ret->body = json_write(json);
    ret->body_len = strlen(ret->body);
    ret->content_type = xstrdup("application/json");
    ret->retry_after = -1;
    json_decref(json);
    return 0;
}

static int scene_status(struct http_response *ret, long code, const char *reason) {
    return scene_json(ret, code,
                      json_pack("{s:s, s:s, s:s, s:s, s:i}", "kind", "Status", "status", "Failure",
                                "reason", reason, "message", reason, "code", (int)code));
}

static json_t *scene_csr(struct api_scene *s) {
    bool serving = s->serving && scene_runs(s, "kubelet");
    json_t *status = json_object();

    if (s->certificate && !serving) {
        _cleanup_(freep) char *data = base64_encode(s->certificate, strlen(s->certificate));

        json_object_set_new(status, "conditions",
                            json_pack("[{s:s, s:s, s:s}]", "type", "Approved", "status", "True",
                                      "reason", "AutoApproved"));
        json_object_set_new(status, "certificate", json_string(data));
    } else if (s->denied) {
        json_object_set_new(status, "conditions",
                            json_pack("[{s:s, s:s, s:s, s:s}]", "type", "Denied", "status", "True",
                                      "reason", "KubectlDeny", "message", "not today"));
    }
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s}, s:o}", "apiVersion",
                     "certificates.k8s.io/v1", "kind", "CertificateSigningRequest", "metadata",
                     "name", s->denied ? s->denied : "csr-x7k2p", "uid", "u1", "resourceVersion",
                     "5", "spec", "request", s->request, "signerName",
                     serving ? "kubernetes.io/kubelet-serving"
                             : "kubernetes.io/kube-apiserver-client-kubelet",
                     "status", status);
}

static json_t *scene_list(const char *kind, json_t *item) {
    return json_pack("{s:s, s:{s:s}, s:o}", "kind", kind, "metadata", "resourceVersion", "9",
                     "items", item ? json_pack("[o]", item) : json_array());
}

/* The Node is registered once the kubelet runs and Ready once a CNI file is there. */
static json_t *scene_node(const struct api_scene *s) {
    json_t *node;
    bool ready =
        host_file_type(s->host, s->conf ? s->conf : "C:\\etc\\cni\\net.d\\10-winjoin.conf") !=
        HOST_ABSENT;

    if (!s->registered && !scene_runs(s, "kubelet"))
        return NULL;
    node = json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:{s:s}}, s:{s:s, s:[s]}, s:{s:[{s:s, s:s}], "
                     "s:[{s:s, s:s, s:s, s:s}]}}",
                     "apiVersion", "v1", "kind", "Node", "metadata", "name", "win-7k2", "uid", "n1",
                     "resourceVersion", "9", "labels", "kubernetes.io/os", "windows", "spec",
                     "podCIDR", "10.244.3.0/24", "podCIDRs", "10.244.3.0/24", "status", "addresses",
                     "type", "InternalIP", "address", "10.0.0.21", "conditions", "type", "Ready",
                     "status", ready ? "True" : "False", "reason",
                     ready ? "KubeletReady" : "KubeletNotReady", "message",
                     ready ? "ready" : "cni config uninitialized");
    if (s->no_prefix)
        json_object_del(node, "spec");
    if (s->kubelet_version)
        json_object_set_new(json_object_get(node, "status"), "nodeInfo",
                            json_pack("{s:s}", "kubeletVersion", s->kubelet_version));
    if (s->node_patch)
        json_object_update_recursive(node, s->node_patch);
    return node;
}

/* One of flannel's, ready to be reached. */
static json_t *scene_other_node(const char *words) {
    _cleanup_(freep) char *prefix = xstrndup(words, strcspn(words, " "));
    const char *address = words + strlen(prefix) + 1;
    json_t *annotations = json_pack("{s:s, s:s, s:s}", "flannel.alpha.coreos.com/backend-type",
                                    "vxlan", "flannel.alpha.coreos.com/backend-data",
                                    "{\"VNI\":4096,\"VtepMAC\":\"0a:58:0a:f4:07:00\"}",
                                    "flannel.alpha.coreos.com/public-ip", address);

    return json_pack("{s:{s:s, s:o}, s:{s:s}, s:{s:{s:s}, s:[{s:s, s:s}]}}", "metadata", "name",
                     "other", "annotations", annotations, "spec", "podCIDR", prefix, "status",
                     "nodeInfo", "machineID", "OTHER-7", "addresses", "type", "InternalIP",
                     "address", address);
}

static int scene_config_map(struct http_response *ret, const char *key, const char *text) {
    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                "data", key, text));
}

static int scene_cluster_info(struct api_scene *s, struct http_response *ret) {
    _cleanup_(freep) char *jws =
        jws_make(SCENE_TOKEN_ID, SCENE_TOKEN_SECRET, s->kubeconfig, strlen(s->kubeconfig));

    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                "data", "kubeconfig", s->kubeconfig,
                                "jws-kubeconfig-" SCENE_TOKEN_ID, jws));
}

static int scene_create_csr(struct api_scene *s, const struct http_request *request,
                            struct http_response *ret) {
    json_t *body = NULL;
    bool held;

    if (json_read(request->body, request->body_len, "CSR", &body, NULL) < 0)
        abort();
    free(s->request);
    s->request = xstrdup(json_text_at(body, "spec.request"));
    held = s->holds_serving &&
           text_equal(json_text_at(body, "spec.signerName"), KUBE_CSR_SERVING_SIGNER);
    json_decref(body);
    if (held)
        freep(&s->certificate);
    else if (s->approve)
        scene_sign(s);
    return scene_json(ret, 201, scene_csr(s));
}

/* A list, or a watch's stream of one event. */
static int scene_collection(const struct http_request *request, struct http_response *ret,
                            const char *kind, json_t *item) {
    if (!strstr(request->url, "watch="))
        return scene_json(ret, 200, scene_list(kind, item));
    if (!item) {
        ret->status = 200;
        return 0;
    }
    return scene_json(ret, 200, json_pack("{s:s, s:o}", "type", "MODIFIED", "object", item));
}

/* Those of the name that is asked for, or all. */
static json_t *scene_daemon_sets(const struct api_scene *s, const char *url) {
    const char *const names[] = {s->daemon_set, s->second_set};
    json_t *list = scene_list("DaemonSetList", NULL);

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (names[i] && (!strstr(url, "fieldSelector") || text_ends_with(url, names[i])))
            json_array_append_new(json_object_get(list, "items"),
                                  json_pack("{s:{s:s, s:s}, s:{s:{s:{s:[{s:[{s:s, s:s}]}]}}}}",
                                            "metadata", "namespace", "agents", "name", names[i],
                                            "spec", "template", "spec", "containers", "env", "name",
                                            "CALICO_NETWORKING_BACKEND", "value",
                                            s->backend ? s->backend : "vxlan"));
    return list;
}

static int scene_review(const struct api_scene *s, const char *body, struct http_response *ret) {
    if (!strstr(body, "\"verb\""))
        fail_msg("a review that asks nothing");
    return scene_json(
        ret, 201,
        json_pack("{s:{s:b}}", "status", "allowed", !s->may_not || !strstr(body, s->may_not)));
}

static int scene_answer(void *context, const struct http_request *request,
                        struct http_response *ret, struct error *err) {
    struct api_scene *s = context;
    const char *url = request->url;

    ret->retry_after = -1;
    if (strstr(url, "127.0.0.1:10248"))
        return scene_runs(s, "kubelet") ? scene_json(ret, 200, json_string("ok"))
                                        : error_set(err, ERROR_NETWORK, "connection refused");
    if (strstr(url, "configmaps/cluster-info"))
        return scene_cluster_info(s, ret);
    if (!request->bearer_token && !request->client_key_pem)
        return scene_status(ret, 401, "Unauthorized");
    if (strstr(url, s->hides ? s->hides : "nothing"))
        return scene_status(ret, 403, "Forbidden");
    if (strstr(url, "configmaps/kubeadm-config")) {
        _cleanup_(freep) char *text = xasprintf(
            SCENE_CLUSTER "%s%s%s", s->no_pod_subnet ? "" : "  podSubnet: 10.244.0.0/16\n",
            s->image_repository ? "imageRepository: " : "",
            s->image_repository ? s->image_repository : "");
        return scene_config_map(ret, "ClusterConfiguration", text);
    }
    if (text_ends_with(url, "/version") && s->server_version)
        return scene_json(ret, 200, json_pack("{s:s}", "gitVersion", s->server_version));
    if (strstr(url, "configmaps/kubelet-config")) {
        _cleanup_(freep) char *text =
            xasprintf("apiVersion: kubelet.config.k8s.io/v1beta1\n"
                      "kind: KubeletConfiguration\ncgroupDriver: systemd\n"
                      "clusterDNS:\n- 10.96.0.10\nclusterDomain: cluster.local\n"
                      "rotateCertificates: true\n%s",
                      s->serving ? "serverTLSBootstrap: true\n" : "");

        return scene_config_map(ret, "kubelet", text);
    }
    if (strstr(url, "kube-flannel/configmaps/kube-flannel-cfg") && s->flannel)
        return scene_config_map(ret, "net-conf.json", s->flannel);
    if (strstr(url, "configmaps/"))
        return scene_status(ret, 404, "NotFound");
    if (strstr(url, "/daemonsets?"))
        return scene_json(ret, 200, scene_daemon_sets(s, url));
    if (strstr(url, "certificatesigningrequests") && text_equal(request->method, "POST"))
        return scene_create_csr(s, request, ret);
    if (strstr(url, "certificatesigningrequests/"))
        return s->request ? scene_json(ret, 200, scene_csr(s)) : scene_status(ret, 404, "NotFound");
    if (strstr(url, "certificatesigningrequests"))
        return scene_collection(request, ret, "CertificateSigningRequestList",
                                s->request ? scene_csr(s) : NULL);
    if (strstr(url, "/selfsubjectrulesreviews")) /* as where another authorizer decides */
        return scene_json(ret, 201, json_pack("{s:{s:b}}", "status", "incomplete", true));
    if (strstr(url, "/selfsubjectaccessreviews"))
        return scene_review(s, request->body ? request->body : "", ret);
    if (strstr(url, "/endpointslices"))
        return s->unprepared ? scene_status(ret, 403, "Forbidden")
                             : scene_json(ret, 200, scene_list("EndpointSliceList", NULL));
    if (strstr(url, "/api/v1/nodes/")) {
        json_t *node = scene_node(s);

        free(s->node_asked_as);
        s->node_asked_as = request->client_cert_pem ? xstrdup(request->client_cert_pem) : NULL;
        return node ? scene_json(ret, 200, node) : scene_status(ret, 404, "NotFound");
    }
    if (s->other_node && strstr(url, "/api/v1/nodes?") && !strstr(url, "fieldSelector"))
        return scene_json(ret, 200, scene_list("NodeList", scene_other_node(s->other_node)));
    if (strstr(url, "/api/v1/nodes"))
        return scene_collection(request, ret, "NodeList", scene_node(s));
    return scene_status(ret, 404, "NotFound");
}

/* While winjoin waits: containerd opens its pipe, kube-proxy programmes a Service. */
static void scene_on_sleep(void *context, struct host *host) {
    static const char service[] =
        "{\"HostComputeEndpoints\":[],\"FrontendVIPs\":[\"10.96.0.1\"],\"PortMappings\":[{"
        "\"Protocol\":6,\"InternalPort\":6443,\"ExternalPort\":443}],"
        "\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}";
    struct api_scene *s = context;
    json_t *balancers = NULL;

    if (scene_runs(s, "containerd") &&
        !host_pipe_exists(host, "\\\\.\\pipe\\containerd-containerd"))
        host_memory_set_pipe(host, "\\\\.\\pipe\\containerd-containerd");
    if (s->unprepared || !scene_runs(s, "kube-proxy") ||
        hcn_list(host, HCN_LOAD_BALANCER, NULL, NULL, &balancers, NULL) < 0)
        return;
    if (json_array_size(balancers) == 0) {
        _cleanup_(freep) char *made = NULL;

        (void)hcn_create(host, HCN_LOAD_BALANCER, NULL, NULL, service, &made, NULL);
    }
    json_decref(balancers);
}
