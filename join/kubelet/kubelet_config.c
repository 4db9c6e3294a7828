/* Adapts the cluster's KubeletConfiguration to a Windows node, with one table or function per kind
 * of change. */
#include "host/path.h"
#include "join/configuration/kubelet_arguments.h"
#include "join/kubelet/kubelet_files.h"

static const char *const eviction_maps[] = {"evictionHard", "evictionSoft",
                                            "evictionSoftGracePeriod", "evictionMinimumReclaim"};
static const char *const linux_signals[] = {"nodefs.inodesFree", "imagefs.inodesFree",
                                            "containerfs.inodesFree", "pid.available"};

/* Is the value empty? kubeadm writes many of them, and their removal is not listed as a change. */
static bool is_empty(const json_t *value) {
    const char *text = json_string_value(value);

    return json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (text && (!*text || text_equal(text, "0s")));
}

static void remove_linux(json_t *config, struct kubelet_changes *changes) {
    for (const struct linux_setting *s = linux_settings; s->field; s++) {
        const json_t *value = json_object_get(config, s->field);
        const char *text = json_string_value(value);

        if (!value || (s->gate && json_is_true(json_object_get(
                                      json_object_get(config, "featureGates"), s->gate))))
            continue;
        if (s->only && !(text && text_starts_with(text, s->only)))
            continue;
        if (!is_empty(value))
            kubelet_changes_add(changes, s->field, value, NULL, "Linux only");
        json_object_del(config, s->field);
    }
    for (size_t i = 0; i < ARRAY_SIZE(eviction_maps); i++) {
        json_t *map = json_object_get(config, eviction_maps[i]);
        bool touched = false;

        for (size_t k = 0; k < ARRAY_SIZE(linux_signals); k++) {
            const json_t *value = json_object_get(map, linux_signals[k]);
            _cleanup_(freep) char *field = NULL;

            if (!value)
                continue;
            field = xasprintf("%s[%s]", eviction_maps[i], linux_signals[k]);
            kubelet_changes_add(changes, field, value, NULL, "no such eviction signal on Windows");
            json_object_del(map, linux_signals[k]);
            touched = true;
        }
        if (touched && json_object_size(map) == 0)
            /* An empty map would switch off the kubelet's defaults. */
            json_object_del(config, eviction_maps[i]);
    }
}

/* Sets a field and lists the change. Takes ownership of `value`. */
static void force(json_t *config, const char *path, json_t *value, const char *why,
                  struct kubelet_changes *changes) {
    const json_t *old = json_at(config, path);

    if (old && json_equal(old, value)) {
        json_decref(value);
        return;
    }
    if (!old || !is_empty(old) || !is_empty(value))
        kubelet_changes_add(changes, path, old, value, why);
    json_put(config, path, value);
}

/* Sets a field that is absent or empty, as kubeadm does, without recording a change. Takes
 * ownership of `value`. */
static void fill_in(json_t *config, const char *path, json_t *value) {
    const json_t *old = json_at(config, path);
    const char *text = json_string_value(old);

    if (!old || json_is_null(old) || (text && !*text))
        json_put(config, path, value);
    else
        json_decref(value);
}

/* Warns of unsafe or wrong settings of the access to the kubelet's ports. They stay, because the
 * cluster decides (kubeadm: warnDefaultComponentConfigValue). */
static void warn_of_open_doors(const json_t *config, struct kubelet_changes *changes) {
    static const struct {
        const char *path, *wrong, *why;
    } rows[] = {
        {"authentication.anonymous.enabled", "true",
         "anonymous requests to the kubelet are allowed"},
        {"authentication.webhook.enabled", "false", "service account tokens are refused"},
        {"authorization.mode", "\"AlwaysAllow\"",
         "every authenticated client is allowed everything"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const json_t *value = json_at(config, rows[i].path);
        _cleanup_(freep) char *text = value ? json_write(value) : NULL;

        if (text_equal(text, rows[i].wrong))
            text_list_add_owned(&changes->warnings,
                                xasprintf("the cluster's KubeletConfiguration has %s: %s (%s)",
                                          rows[i].path, text, rows[i].why));
    }
    if (json_number_at(config, "readOnlyPort", 0) != 0)
        text_list_add(
            &changes->warnings,
            "the cluster's KubeletConfiguration opens readOnlyPort, which needs no authentication");
}

static void force_values(json_t *config, const struct kubelet_config_input *input,
                         struct kubelet_changes *changes) {
    const char *why = "required on Windows", *path = json_text_or(config, "staticPodPath", "");
    const char *drive = input->drive ? input->drive : "C:";
    _cleanup_(freep) char *folder =
        *path == '/' ? text_replace(xasprintf("%s%s", drive, path), "/", '\\') : xstrdup(path);
    _cleanup_json_ json_t *servers = json_array();
    const json_t *frequency;

    force(config, "staticPodPath", json_string(folder), "path with its drive letter", changes);
    force(config, "authentication.x509.clientCAFile",
          json_string(input->ca_file ? input->ca_file : KUBERNETES_CA_FILE),
          "path of the cluster's CA on this node", changes);
    if (input->local_dns && input->cluster_dns)
        force(config, "clusterDNS", json_texts(input->cluster_dns),
              "the cluster's DNS Service, as pods on Windows reach it", changes);
    force(config, "resolvConf", json_string(""), why, changes);
    force(config, "cgroupsPerQOS", json_false(), why, changes);
    force(config, "enforceNodeAllocatable", json_array(), why, changes);
    force(config, "rotateCertificates", json_true(), "as kubeadm sets it", changes);

    /* On Windows the kubelet gets no notice of new manifests; it reads the folder every 20 s.
     * Reading one small folder every 2 s costs almost nothing, and static Pods, also those of the
     * network test, start at once. A frequency that the cluster chose stays. */
    frequency = json_object_get(config, "fileCheckFrequency");
    if (!frequency || is_empty(frequency))
        force(config, "fileCheckFrequency", json_string("2s"),
              "static pods start at once; 20 s is the default", changes);

    /* The kubelet gives Pods all these DNS servers in this order, whatever addresses the Pods have,
     * so IPv4 servers are put first. */
    for (int ipv6 = 0; ipv6 <= 1; ipv6++)
        json_each(json_object_get(config, "clusterDNS"), i, item) {
            const char *text = json_string_value(item);

            if ((text && strchr(text, ':')) == ipv6)
                json_array_append(servers, item);
        }
    if (json_array_size(servers) > 1)
        force(config, "clusterDNS", json_incref(servers),
              "pods on Windows have an IPv4 address, an IPv6 one in dual stack only", changes);
}

/* Applies the user's patches. A patched path without a drive letter is kept, but gets a warning. */
static int apply_patches(const struct patches *patches, json_t **config,
                         struct kubelet_changes *changes, struct error *err) {
    static const char *const paths[] = {"staticPodPath", "authentication.x509.clientCAFile",
                                        "resolvConf", "volumePluginDir", "podLogsDir"};
    json_t *patched = NULL;

    if (!patches)
        return 0;
    for (size_t i = 0; i < patches->warnings.count; i++)
        text_list_add(&changes->warnings, patches->warnings.items[i]);
    if (patches_apply(patches, *config, &patched, NULL, err) < 0)
        return -1;
    kubelet_changes_compare(changes, "", *config, patched, "patched");
    json_decref(*config);
    *config = patched;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        const char *path = json_text_at(patched, paths[i]);

        if (path && *path == '/')
            text_list_add_owned(&changes->warnings,
                                xasprintf("a patch sets %s to '%s', a path without a drive letter",
                                          paths[i], path));
    }
    return 0;
}

int kubelet_config_make(const struct kubelet_config_input *input, json_t **ret,
                        struct kubelet_changes *changes, struct error *err) {
    static const struct text_list none;
    const char *version = json_text_at(input->cluster, "apiVersion"), *path;
    _cleanup_json_ json_t *config = NULL;
    _cleanup_(freep) char *folder = NULL;

    if (!text_equal(json_text_at(input->cluster, "kind"), "KubeletConfiguration"))
        return error_set(
            err, ERROR_MALFORMED,
            "make the kubelet's configuration: the cluster's is not a KubeletConfiguration");
    if (!text_equal(version, "kubelet.config.k8s.io/v1beta1"))
        return error_set(err, ERROR_MALFORMED,
                         "make the kubelet's configuration: apiVersion \"%s\" is not "
                         "kubelet.config.k8s.io/v1beta1",
                         version ? version : "");
    config = json_deep_copy(input->cluster);
    fill_in(config, "staticPodPath", json_string("/etc/kubernetes/manifests"));
    fill_in(config, "clusterDNS", json_texts(input->cluster_dns ? input->cluster_dns : &none));
    fill_in(config, "clusterDomain", json_string(input->dns_domain ? input->dns_domain : ""));
    fill_in(config, "authentication.anonymous.enabled", json_false());
    fill_in(config, "authentication.webhook.enabled", json_true());
    fill_in(config, "authorization.mode", json_string("Webhook"));
    fill_in(config, "healthzBindAddress", json_string("127.0.0.1"));
    fill_in(config, "healthzPort", json_integer(10248));
    fill_in(config, "rotateCertificates", json_true());
    remove_linux(config, changes);
    force_values(config, input, changes);
    warn_of_open_doors(config, changes);
    /* Manifests in this folder run as SYSTEM. winjoin restricts access to this folder, so it must
     * be the one that the kubelet will read. */
    path = json_text_at(config, "staticPodPath");
    if (path_normalize(path, &folder, err) < 0 || folder[1] != ':')
        return error_set(err, ERROR_MALFORMED,
                         "make the kubelet's configuration: staticPodPath '%.100s' of the "
                         "cluster's is not a folder of this machine",
                         path);
    if (apply_patches(input->patches, &config, changes, err) < 0)
        return -1;
    force(config, "containerRuntimeEndpoint",
          json_string(input->cri_socket ? input->cri_socket : KUBELET_CRI_SOCKET),
          "the socket of this node", changes);
    *ret = take_ptr(config);
    return 0;
}
