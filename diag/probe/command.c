/* Reads the command line of the probe, for winjoin-probe and for `winjoin probe`. */
#include "diag/probe/probe.h"
#include "host/socket.h"

const char probe_usage[] =
    "usage: probe tcp|udp|udp-any|dns|dns-tcp|http TARGET:PORT [flags]\n"
    "       probe resolve NAME [flags]\n"
    "       probe serve --mailbox DIR --name NAME [--tcp PORT] [--udp PORT] [--address IP]\n"
    "flags: --payload BYTES  (tcp, udp) send so much to an echo and check what comes back\n"
    "       --expect NAME    (tcp, udp) the echo that must answer\n"
    "                        (http) so much must come back (1)\n"
    "       --question NAME  (dns) the name to ask for, (http) the page\n"
    "       --timeout MS     of one attempt (2000)\n"
    "       --attempts N     (3)\n";

/* A flag of a verb; its value goes to `text` or to `number`. */
struct flag {
    const char *name;
    const char **text;
    unsigned *number;
    long long max;
};

static int flag_take(const struct flag *flags, size_t count, int argc, char *const *argv, int *at,
                     struct error *err) {
    const char *argument = argv[*at];

    for (size_t i = 0; i < count; i++) {
        const char *value;
        long long number;
        size_t len = strlen(flags[i].name);

        if (strncmp(argument, flags[i].name, len) != 0 || (argument[len] && argument[len] != '='))
            continue;
        value = argument[len] ? argument + len + 1 : ++*at < argc ? argv[*at] : NULL;
        if (!value)
            return error_set(err, ERROR_USAGE, "read flag %s: value missing", flags[i].name);
        if (flags[i].text) {
            *flags[i].text = value;
            return 0;
        }
        if (text_to_number(value, 0, flags[i].max, &number) < 0)
            return error_set(err, ERROR_USAGE, "read flag %s: '%s' is not a number 0..%lld",
                             flags[i].name, value, flags[i].max);
        *flags[i].number = (unsigned)number;
        return 0;
    }
    return error_set(err, ERROR_USAGE, "read flags: unknown flag '%s'", argument);
}

/* Reads a target: "10.96.0.1:443", "[fd00::1]:53", or only a name for the verb resolve. */
static int target_parse(const char *text, struct probe *probe, struct error *err) {
    _cleanup_(freep) char *host = NULL;

    if (probe->kind == PROBE_RESOLVE)
        host = xstrdup(text);
    else if (text_split_port(text, &host, &probe->port) < 0 || !probe->port)
        return error_set(err, ERROR_USAGE, "read target '%s': it is not HOST:PORT", text);
    if (text_format(probe->target, sizeof probe->target, "%s", host) < 0)
        return error_set(err, ERROR_USAGE, "read target: it is too long");
    if (!probe_target_is_valid(probe->target))
        return error_set(err, ERROR_USAGE, "read target '%s': it is neither an address nor a name",
                         text);
    return 0;
}

static int probe_read(int argc, char *const *argv, struct probe *probe, struct error *err) {
    const char *question = "", *expect = "";
    const struct flag flags[] = {
        {"--payload", NULL, &probe->payload, PROBE_PAYLOAD_MAX},
        {"--timeout", NULL, &probe->timeout_ms, PROBE_TIMEOUT_MAX_MS},
        {"--attempts", NULL, &probe->attempts, PROBE_ATTEMPTS_MAX},
        {"--question", &question, NULL, 0},
        {"--expect", &expect, NULL, 0},
    };
    struct probe_list one = {.items = probe, .count = 1};
    _cleanup_(probe_list_free) struct probe_list read_back = {0};
    _cleanup_(freep) char *text = NULL;
    bool targeted = false;

    probe->timeout_ms = 2000;
    probe->attempts = 3;
    probe->payload = probe->kind == PROBE_UDP || probe->kind == PROBE_UDP_ANY ? 16
                     : probe->kind == PROBE_PAGE                              ? 1
                                                                              : 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (flag_take(flags, ARRAY_SIZE(flags), argc, argv, &i, err) < 0)
                return -1;
        } else if (targeted) {
            return error_set(err, ERROR_USAGE, "read flags: one target only, not '%s'", argv[i]);
        } else if (target_parse(argv[i], probe, err) < 0) {
            return -1;
        } else {
            targeted = true;
        }
    }
    if (!targeted)
        return error_set(err, ERROR_USAGE, "read flags: the target is missing");
    if (!*question && (probe->kind == PROBE_DNS || probe->kind == PROBE_DNS_TCP))
        question = "kubernetes.default.svc.cluster.local";
    if (!*question && probe->kind == PROBE_PAGE)
        question = "metrics";
    if (text_format(probe->question, sizeof probe->question, "%s", question) < 0 ||
        text_format(probe->expect, sizeof probe->expect, "%s", expect) < 0)
        return error_set(err, ERROR_USAGE, "read flags: a name is too long");
    /* The rules of probes.txt hold for probes by hand, too: the probe is written as a list and
     * parsed again. */
    text = probe_list_write(&one);
    if (probe_list_parse(text, strlen(text), &read_back, err) == 0)
        return 0;
    err->kind = ERROR_USAGE;
    return error_prefix(err, "read the command line");
}

static int by_hand(enum probe_kind kind, int argc, char *const *argv, struct text *output,
                   struct error *err) {
    struct probe probe = {.id = "probe", .kind = kind};
    struct probe_result result;

    if (probe_read(argc, argv, &probe, err) < 0)
        return -1;
    probe_measure(&probe, &result);
    text_addf(output, "%s %u/%u", probe_outcome_names[result.outcome], result.succeeded,
              result.attempts);
    if (result.succeeded)
        text_addf(output, "  %u.%03u ms", result.median_us / 1000, result.median_us % 1000);
    if (result.responder[0])
        text_addf(output, "  from %s", result.responder);
    for (size_t i = 0; i < result.address_count; i++)
        text_addf(output, "%s%s", i ? ", " : "  ", result.addresses[i]);
    text_add(output, "\n");
    if (result.outcome == PROBE_OK)
        return 0;
    return error_set(err, ERROR_NETWORK, "probe '%s': %s", probe.target,
                     probe_outcome_names[result.outcome]);
}

int probe_command(int argc, char *const *argv, struct text *output, struct error *err) {
    const char *verb = argc > 0 ? argv[0] : "";

    if (text_equal(verb, "--help") || text_equal(verb, "-h") || text_equal(verb, "/?")) {
        text_add(output, probe_usage);
        return 0;
    }
    if (socket_start() < 0)
        return error_set(err, ERROR_HOST, "start the sockets");
    if (text_equal(verb, "serve")) {
        struct probe_server server = {.address = "", .run = ""};
        const struct flag flags[] = {
            {"--mailbox", &server.mailbox, NULL, 0},  {"--name", &server.name, NULL, 0},
            {"--run", &server.run, NULL, 0},          {"--address", &server.address, NULL, 0},
            {"--tcp", NULL, &server.tcp_port, 65535}, {"--udp", NULL, &server.udp_port, 65535},
        };

        for (int i = 1; i < argc; i++)
            if (flag_take(flags, ARRAY_SIZE(flags), argc, argv, &i, err) < 0)
                return -1;
        if (!server.mailbox || !server.name)
            return error_set(err, ERROR_USAGE, "read flags: serve needs --mailbox and --name");
        if (!probe_id_is_valid(server.name))
            return error_set(err, ERROR_USAGE, "read flag --name: '%s' is not a name", server.name);
        if (server.run[0] && !probe_id_is_valid(server.run))
            return error_set(err, ERROR_USAGE, "read flag --run: '%s' is not a name", server.run);
        if (server.address[0] && strlen(server.address) > 45)
            return error_set(err, ERROR_USAGE, "read flag --address: '%s' is not an address",
                             server.address);
        probe_serve(&server);
        return 0;
    }
    for (int kind = PROBE_TCP; kind <= PROBE_RESOLVE; kind++)
        if (text_equal(verb, probe_kind_names[kind]))
            return by_hand((enum probe_kind)kind, argc, argv, output, err);
    return error_set(err, ERROR_USAGE, "read the command line: '%s' is not a probe", verb);
}
