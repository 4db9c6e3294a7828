/* winjoin config: files that are written. */
#include "program_scene.h"

#define JOIN                                                                                       \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  "                  \
    "bootstrapToken:\n    apiServerEndpoint: 10.0.0.1:6443\n    token: abcdef.0123456789abcdef\n"  \
    "    unsafeSkipCAVerification: true\n"

/* The file may hold a token, and what is there may be somebody's. */
static void config_migrated_into_a_file(void **state) {
    static const struct {
        const char *name, *message;
    } refused[] = {
        {"D:\\etc", "--new-config: 'D:\\etc' is a folder"},
        {"D:\\", "--new-config: 'D:\\' is a folder"},
        {"D:\\etc\\link.yaml",
         "--new-config: 'D:\\etc\\link.yaml' is a symbolic link: name the file that it leads to"},
        {"D:\\ect\\new.yaml", "--new-config: the folder of 'D:\\ect\\new.yaml' does not exist"},
    };
    _cleanup_(freep) char *text = NULL;
    struct error err;
    size_t len;

    (void)state;
    put("D:\\etc\\old.yaml", JOIN);
    assert_int_equal(host_link(program->host, "D:\\etc\\link.yaml", "D:\\etc\\old.yaml", NULL), 0);
    text_list_add(&program->words, "migrate");
    program->options.old_config = (char *)"D:\\etc\\old.yaml";
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        program->options.new_config = (char *)refused[i].name;
        assert_int_equal(verb(verb_config, &err), -1);
        assert_string_equal(err.message, refused[i].message);
        assert_int_equal(err.kind, ERROR_USAGE);
    }
    assert_int_equal(host_file_type(program->host, "D:\\etc\\link.yaml"), HOST_LINK);
    assert_int_equal(host_file_type(program->host, "D:\\ect"), HOST_ABSENT);
    program->options.new_config = (char *)"D:\\etc\\old.yaml";
    assert_int_equal(verb(verb_config, &err), 0);
    assert_int_equal(host_read(program->host, "D:\\etc\\old.yaml", 65536, &text, &len, &err), 0);
    assert_non_null(strstr(text, "upgradeManifests: 5m0s"));
    assert_non_null(strstr(host_memory_log(program->host), "write D:\\etc\\old.yaml secret"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(config_migrated_into_a_file, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
