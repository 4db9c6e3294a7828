/* No block that is freed holds the token: whatever copies of it a call made, each was overwritten.
 * Looked at by the sanitizers' hook; without them there is nothing to see. */
#include "tests/scene/program_scene.h"

#include "host/host_ops.h"

#define SECRET "s3cr3t7q9z2w5x8v"
#define TOKEN "abcdef." SECRET
#define ENDPOINT "127.0.0.1:1"
#define PLANTED "D:\\planted"
#define UNPROVEN " --discovery-token-unsafe-skip-ca-verification --dry-run --timeout 1s"

#ifdef __SANITIZE_ADDRESS__
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *block);
void __sanitizer_print_stack_trace(void);
#else
static int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *,
                                                                       size_t),
                                                     void (*on_free)(const volatile void *)) {
    (void)on_malloc, (void)on_free;
    return 0;
}
static size_t __sanitizer_get_allocated_size(const volatile void *block) {
    (void)block;
    return 0;
}
static void __sanitizer_print_stack_trace(void) {
}
#endif

static volatile bool looking; /* else free() is believed to look at nothing */
static volatile unsigned found;

static void on_malloc(const volatile void *block, size_t size) {
    (void)block, (void)size;
}

static void on_free(const volatile void *block) {
    size_t size = __sanitizer_get_allocated_size(block);
    const char *at = (const char *)block;

    for (size_t i = 0; looking && i + sizeof SECRET - 1 <= size; i++)
        if (at[i] == SECRET[0] && memcmp(at + i, SECRET, sizeof SECRET - 1) == 0) {
            looking = false; /* the trace allocates, too */
            found++;
            __sanitizer_print_stack_trace();
            looking = true;
            return;
        }
}

/* ---- a host whose own copies do not count: a real one has none ---- */

static const char *variable_value, *planted;
static struct host_ops watched;
static void (*really_free)(struct host *host);

static void free_watched(struct host *host) {
    looking = false;
    really_free(host);
    looking = true;
}

static int open_watched(const char *rootfs, struct host **ret, struct error *err) {
    (void)rootfs, (void)err;
    looking = false;
    *ret = host_memory_new();
    if (planted)
        assert_int_equal(host_write(*ret, PLANTED, planted, strlen(planted), HOST_PUBLIC, NULL), 0);
    if (variable_value)
        host_memory_set_environment(*ret, "WINJOIN_TOKEN", variable_value);
    watched = *(*ret)->ops;
    really_free = watched.free;
    watched.free = free_watched;
    (*ret)->ops = &watched;
    looking = true;
    return 0;
}

static void run_words(size_t count, const char *const *words) {
    struct capture captured[2];
    char *argv[16] = {NULL};

    assert_true(count < ARRAY_SIZE(argv));
    for (size_t i = 0; i < count; i++)
        argv[i] = xstrdup(words[i]);
    capture_begin(&captured[0], stdout);
    capture_begin(&captured[1], stderr);
    looking = true;
    (void)program_run((int)count, argv, open_watched);
    looking = false;
    capture_end(&captured[1], &err_out);
    capture_end(&captured[0], &out);
    for (size_t i = 0; i < count; i++)
        free(argv[i]);
    if (found) {
        (void)fputs(text_str(&err_out), stderr); /* with the traces */
        fail_msg("%u freed blocks hold the token", found);
    }
}

static void run_line(const char *line) {
    _cleanup_(text_list_free) struct text_list words = {0};

    text_list_split(&words, line, ' ');
    run_words(words.count, (const char *const *)words.items);
}

/* ---- tests ---- */

static void the_hook_sees_a_copy(void **state) {
    char *volatile copy = xstrdup("x" TOKEN); /* the compiler leaves out what nobody reads */

    (void)state;
    if (__sanitizer_get_allocated_size(copy) == 0) {
        free(copy);
        return;
    }
    looking = true;
    free(copy);
    looking = false;
    assert_int_equal(found, 1);
    found = 0;
    copy = xstrdup("x" TOKEN);
    looking = true;
    secret_free_text(copy);
    looking = false;
    assert_int_equal(found, 0);
}

static void a_token_of_the_call(void **state) {
    static const char *const pasted[] = {"winjoin",
                                         "join",
                                         "sudo kubeadm join " ENDPOINT " --token " TOKEN
                                         " --discovery-token-unsafe-skip-ca-verification",
                                         "--dry-run",
                                         "--timeout",
                                         "1s"};

    (void)state;
    run_line("winjoin join " ENDPOINT " --token " TOKEN UNPROVEN);
    run_line("winjoin join " ENDPOINT " --token=" TOKEN UNPROVEN);
    run_line("winjoin join kubeadm join " ENDPOINT " --token " TOKEN UNPROVEN);
    run_line("kubeadm join " ENDPOINT " --token " TOKEN UNPROVEN);
    run_line("winjoin join " ENDPOINT " --tls-bootstrap-token " TOKEN
             " --discovery-token " TOKEN UNPROVEN);
    run_line("winjoin join --tokenn " TOKEN);
    run_line("winjoin " TOKEN);
    run_line("winjoin join " ENDPOINT " --token " TOKEN UNPROVEN " -v 9 -o json");
    run_words(ARRAY_SIZE(pasted), pasted);
}

static void a_token_of_the_environment(void **state) {
    (void)state;
    variable_value = TOKEN;
    run_line("winjoin join " ENDPOINT UNPROVEN);
    variable_value = "x" TOKEN;
    run_line("winjoin join " ENDPOINT UNPROVEN);
    variable_value = NULL;
}

static void a_token_of_a_file(void **state) {
    (void)state;
    planted = TOKEN "\n";
    run_line("winjoin join " ENDPOINT " --token-file " PLANTED UNPROVEN);
    planted = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n"
              "  bootstrapToken:\n    token: " TOKEN "\n    apiServerEndpoint: " ENDPOINT "\n"
              "    unsafeSkipCAVerification: true\n";
    run_line("winjoin join --config " PLANTED " --dry-run --timeout 1s");
    run_line("winjoin config validate --config " PLANTED);
    planted = "apiVersion: v1\nkind: Config\nclusters:\n- name: k\n  cluster:\n"
              "    server: http://" ENDPOINT "\nusers:\n- name: u\n  user:\n    token: " TOKEN "\n"
              "contexts:\n- name: c\n  context:\n    cluster: k\n    user: u\ncurrent-context: c\n";
    /* refused, as it is not https: libcurl has copies of its own */
    run_line("winjoin join --discovery-file " PLANTED " --dry-run --timeout 1s");
    assert_has(&err_out, "its server must be an https URL");
    planted = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hook_sees_a_copy),
        cmocka_unit_test(a_token_of_the_call),
        cmocka_unit_test(a_token_of_the_environment),
        cmocka_unit_test(a_token_of_a_file),
    };

    assert_true(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) >= 0);
    return cmocka_run_group_tests(tests, NULL, free_output);
}
