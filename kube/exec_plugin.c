/* Gets credentials from a program, as the "exec" section of a kubeconfig describes. */
#include "kube/kubeconfig.h"

#include "base/base64.h"
#include "host/terminal.h"

enum { PLUGIN_MS = 60000 };

int exec_credential_read(const char *text, size_t len, const char *version,
                         struct kubeconfig *config, struct error *err) {
    _cleanup_json_ json_t *answer = NULL;
    const char *token, *cert, *key;

    if (json_read(text, len, "ExecCredential", &answer, ERROR_IGNORED) < 0 ||
        !text_equal(json_text_at(answer, "kind"), "ExecCredential"))
        return error_set(err, ERROR_MALFORMED,
                         /* Do not quote the output, because it may contain a secret. */
                         "its output is not an ExecCredential");
    if (!text_equal(json_text_at(answer, "apiVersion"), version))
        return error_set(err, ERROR_MALFORMED, "its output is not of apiVersion %s", version);
    token = json_text_at(answer, "status.token");
    cert = json_text_at(answer, "status.clientCertificateData");
    key = json_text_at(answer, "status.clientKeyData");
    if (!cert != !key || (!cert && (!token || !*token)))
        return error_set(err, ERROR_MALFORMED,
                         "its output has neither a token nor a client certificate with its key");
    config->token = token && *token ? xstrdup(token) : NULL;
    config->client_cert_pem = xstrdup_null(cert);
    config->client_key_pem = xstrdup_null(key);
    return 0;
}

/* Finds the program: "x" in the folders of PATH, "./x" relative to the kubeconfig. NULL when it is
 * not found. The caller frees the path. */
static char *find_program(struct host *host, const char *kubeconfig, const char *command) {
    _cleanup_(freep) char *path = host_environment(host, "PATH");
    const char *slash = strrchr(kubeconfig, '\\'), *other = strrchr(kubeconfig, '/');
    _cleanup_(text_list_free) struct text_list folders = {0};
    char *found = NULL;

    if (other > slash)
        slash = other;
    if (command[0] == '/' || command[0] == '\\' || (command[0] && command[1] == ':'))
        text_list_add(&folders, "");
    else if (strpbrk(command, "/\\"))
        text_list_add_owned(&folders,
                            xstrndup(kubeconfig, slash ? (size_t)(slash - kubeconfig) : 0));
    else
        /* A PATH of Windows with one folder has no ";", and the ":" of its drive. */
        text_list_split(&folders, path ? path : "", path && strpbrk(path, ";\\") ? ';' : ':');
    for (size_t i = 0; i < folders.count && !found; i++) {
        static const char *const ends[] = {"", ".exe"};

        for (size_t e = 0; e < ARRAY_SIZE(ends) && !found; e++) {
            _cleanup_(freep) char *name = xasprintf("%s%s%s%s", folders.items[i],
                                                    *folders.items[i] ? "/" : "", command, ends[e]);
            _cleanup_(freep) char *full = terminal_full_path(name);

            if (host_file_type(host, full) == HOST_FILE || host_file_type(host, full) == HOST_LINK)
                found = take_ptr(full);
        }
    }
    return found;
}

/* Builds the program's environment: what kubectl passes and what the kubeconfig adds. The proxy
 * variables keep their passwords, because such a program signs in through the proxy; no other
 * program gets them. */
static void environment_make(struct host *host, const struct kubeconfig *config,
                             const char *version, struct text_list *ret) {
    static const char *const proxies[] = {"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"};
    _cleanup_json_ json_t *info = json_pack("{s:s, s:s, s:{s:b}}", "kind", "ExecCredential",
                                            "apiVersion", version, "spec", "interactive", 0);
    _cleanup_(freep) char *text = NULL;

    json_each(json_object_get(config->exec, "env"), i, item) {
        const char *name = json_text_at(item, "name"), *value = json_text_at(item, "value");

        if (name && *name && !strchr(name, '='))
            text_list_add_owned(ret, xasprintf("%s=%s", name, value ? value : ""));
    }
    if (json_bool_at(config->exec, "provideClusterInfo", false)) {
        _cleanup_(freep) char *ca =
            config->ca_pem ? base64_encode(config->ca_pem, strlen(config->ca_pem)) : NULL;

        json_put(info, "spec.cluster",
                 json_pack("{s:s, s:s*, s:s*, s:s*, s:b}", "server", config->server,
                           "tls-server-name", config->tls_server_name, "proxy-url",
                           config->proxy_url, "certificate-authority-data", ca,
                           "insecure-skip-tls-verify", config->insecure_skip_tls_verify));
    }
    text = json_write(info);
    text_list_add_owned(ret, xasprintf("KUBERNETES_EXEC_INFO=%s", text));
    for (size_t i = 0; i < ARRAY_SIZE(proxies); i++) {
        _cleanup_(secret_freep) char *value = host_environment(host, proxies[i]);
        bool named = false;

        for (size_t k = 0; k < ret->count; k++)
            named |= text_starts_with(ret->items[k], proxies[i]) &&
                     ret->items[k][strlen(proxies[i])] == '=';
        if (value && !named)
            text_list_add_owned(ret, xasprintf("%s=%s", proxies[i], value));
    }
}

int kubeconfig_run_plugin(struct host *host, const char *path, struct kubeconfig *config,
                          struct error *err) {
    static const char *const versions[] = {"client.authentication.k8s.io/v1",
                                           "client.authentication.k8s.io/v1beta1"};
    const char *command = json_text_at(config->exec, "command");
    const char *version = json_text_at(config->exec, "apiVersion");
    const char *hint = json_text_at(config->exec, "installHint");
    _cleanup_(text_list_free) struct text_list words = {0}, environment = {0};
    _cleanup_(freep) char *program = NULL;
    _cleanup_(secret_freep) char *output = NULL;
    struct host_process process;
    int code = 0, result;

    if (!command || !*command)
        return error_set(err, ERROR_USAGE, "kubeconfig: exec names no command");
    if (!text_equal(version, versions[0]) && !text_equal(version, versions[1]))
        return error_set(err, ERROR_UNSUPPORTED,
                         "kubeconfig: exec of apiVersion '%s' is not supported",
                         version ? version : "");
    if (text_equal(json_text_at(config->exec, "interactiveMode"), "Always"))
        return error_set(err, ERROR_UNSUPPORTED,
                         "kubeconfig: exec with interactiveMode Always is not supported");
    program = find_program(host, path, command);
    if (!program) {
        (void)error_set(err, ERROR_USAGE, "run '%s' of the kubeconfig: it is not in PATH", command);
        return hint ? error_hint(err, "%s", hint) : -1;
    }

    text_list_add(&words, program);
    json_read_texts(json_object_get(config->exec, "args"), &words);
    environment_make(host, config, version, &environment);
    process = (struct host_process){.argv = (const char *const *)words.items,
                                    .environment = (const char *const *)environment.items,
                                    .timeout_ms = PLUGIN_MS,
                                    .named = true};
    result = host_run(host, &process, &code, &output, err);
    if (result == 0 && code)
        result = error_set(err, ERROR_DENIED, "it ended with exit code %d", code);
    if (result == 0)
        result = exec_credential_read(output, strlen(output), version, config, err);
    return result < 0 ? error_prefix(err, "run '%s' of the kubeconfig", command) : 0;
}
