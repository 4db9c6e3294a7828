/* Access lists as texts: what Windows writes, what closing leaves, what is inherited, who may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "tests/memory/access_rules.h"

#define EVE "S-1-5-21-1-2-3-1001"
#define OWN "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
#define WHOLE "(A;OICI;FA;;;S-1-5-18)(A;OICI;FA;;;S-1-5-32-544)"
#define READ "(A;OICI;0x1200a9;;;S-1-5-32-545)"

static void read_and_written(void **state) {
    static const char *const rows[][2] = {
        {"D:", "D:"},
        {"O:BAD:PAI(A;OICI;FA;;;SY)", "O:S-1-5-32-544D:P(A;OICI;FA;;;S-1-5-18)"},
        {"O:BAG:SYD:AI(A;ID;FR;;;BU)S:AI(AU;SAFA;FA;;;WD)",
         "O:S-1-5-32-544D:(A;ID;0x120089;;;S-1-5-32-545)"},
        {"O:" EVE "G:BAD:(D;;SDWDWO;;;WD)", "O:" EVE "D:(D;;0xd0000;;;S-1-1-0)"},
        {"D:(A;;DCLCRPCR;;;BU)(A;NPIO;0301;;;LA)", "D:(A;;0x116;;;S-1-5-32-545)(A;NPIO;0xc1;;;LA)"},
        {"D:NO_ACCESS_CONTROL", "D:NO_ACCESS_CONTROL"},
        {"O:SY", "O:S-1-5-18D:NO_ACCESS_CONTROL"},
        {"D:(XD;ID;FX;;;WD;(@User.a==\"b)\"))", "D:(XD;ID;FX;;;WD;(@User.a==\"b)\"))"},
        {"D:(OA;CI;CR;00299570-246d-11d0-a768-00aa006e0529;;AU)",
         "D:(OA;CI;CR;00299570-246d-11d0-a768-00aa006e0529;;AU)"},
    };
    static const char *const wrong[] = {
        "",
        "X",
        "O",
        "BA",
        "D:(",
        "D:()",
        "D:(A;;FA;;)",
        "D:(A;;FA;;;)",
        "D:(A;;QQ;;;SY)",
        "D:(A;;F;;;SY)",
        "D:(A;ZZ;FA;;;SY)",
        "D:(A;O;FA;;;SY)",
        "D:(;;FA;;;SY)",
        "D:(A;;FA;;;SY",
        "D:(A;;FA;;;SY)x",
        "D:(A;;0x1g;;;SY)",
        "D:(A;;0x123456789;;;SY)",
        "D:(A;;FA;;;SY)D:(A;;FA;;;BA)",
        "D:(XD;;FX;;;WD;(\")",
        "O:BAD:(A;SA;FA;;;SY)",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(access_list_free) struct access_list list = {0};
        _cleanup_(freep) char *written = NULL;

        assert_int_equal(access_list_read(rows[i][0], &list, NULL), 0);
        written = access_list_write(&list);
        assert_string_equal(written, rows[i][1]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        _cleanup_(access_list_free) struct access_list list = {0};
        struct error err = {0};

        if (access_list_read(wrong[i], &list, &err) == 0)
            fail_msg("taken: %s", wrong[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
}

/* NULL: the list stays. */
static void closing(void **state) {
    static const struct {
        enum host_access access;
        const char *before, *after;
    } rows[] = {
        /* as it is on a fresh server, below C:\ */
        {HOST_READ_ONLY, "O:BAD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;0x1200a9;;;BU)",
         "D:P" WHOLE READ},
        {HOST_READ_ONLY, "O:BAD:AI(A;OICIID;FA;;;BA)(A;CIID;LC;;;BU)(A;CIIOID;DC;;;BU)",
         "D:P(A;OICI;FA;;;S-1-5-32-544)"},
        {HOST_SECRET, "O:BAD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;0x1200a9;;;BU)",
         "D:P" WHOLE},
        /* what gives everything leaves what reads; a creator's and an owner's */
        {HOST_READ_ONLY, "O:BAD:(A;OICI;GA;;;WD)", "D:P(A;OICI;0x1200a9;;;S-1-1-0)"},
        {HOST_READ_ONLY, "O:BAD:(A;;GRGWGX;;;AU)", "D:P(A;;0x1200a9;;;S-1-5-11)"},
        {HOST_READ_ONLY, "O:" EVE "D:P(A;;FA;;;" EVE ")", NULL},
        {HOST_READ_ONLY, "O:BAD:P(A;OICIIO;GA;;;CO)", "D:P(A;OICIIO;0x1200a9;;;S-1-3-0)"},
        {HOST_SECRET, "O:BAD:P(A;;FA;;;OW)(A;;FA;;;" SID_TRUSTED_INSTALLER ")", NULL},
        /* a condition may hold for anybody; what refuses stays */
        {HOST_READ_ONLY,
         "O:BAD:P(A;;FA;;;BA)(XA;;FR;;;WD;(a==1))(XD;ID;FR;;;WD;(a==1))(D;;FA;;;BG)",
         "D:P(A;;FA;;;S-1-5-32-544)(XD;;FR;;;WD;(a==1))(D;;FA;;;S-1-5-32-546)"},
        {HOST_SECRET, OWN, NULL},
        {HOST_READ_ONLY, "O:BA" OWN READ, NULL},
        {HOST_SECRET, "O:BAD:NO_ACCESS_CONTROL", "O:BA" OWN},
        {HOST_SECRET, "not one", "O:BA" OWN},
        {HOST_PROBE_MAILBOX, OWN,
         OWN "(A;OICI;0x1301bf;;;S-1-5-93-2-1)(A;OICI;0x1301bf;;;S-1-5-93-2-2)"},
        {HOST_POD_VOLUMES, OWN, NULL},
        {HOST_POD_VOLUMES, OWN "(A;OICIIO;FA;;;WD)(D;;FA;;;BG)", NULL},
        {HOST_POD_VOLUMES, OWN "(A;OICI;FR;;;WD)",
         "O:BA" OWN "(A;OICIIO;0x1200a9;;;BU)(A;CIIO;0x6;;;BU)(A;OICIIO;GA;;;CO)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *after = access_list_closed(rows[i].before, rows[i].access);
        _cleanup_(freep) char *again = after ? access_list_closed(after, rows[i].access) : NULL;

        if (!text_equal(after, rows[i].after))
            fail_msg("%s\n  becomes %s\n  not     %s", rows[i].before, after ? after : "what it is",
                     rows[i].after ? rows[i].after : "what it is");
        if (rows[i].access != HOST_PROBE_MAILBOX)
            assert_null(again);
    }
}

static void inherited(void **state) {
    static const struct {
        const char *above, *own;
        bool folder;
        const char *all;
    } rows[] = {
        {"D:P(A;OICI;FA;;;SY)(A;CI;LC;;;BU)(A;OI;FR;;;BU)", "D:", true,
         "D:(A;OICIID;FA;;;S-1-5-18)(A;CIID;0x4;;;S-1-5-32-545)(A;OIIOID;0x120089;;;S-1-5-32-545)"},
        {"D:P(A;OICI;FA;;;SY)(A;CI;LC;;;BU)(A;OI;FR;;;BU)", "D:(A;;FA;;;WD)", false,
         "D:(A;;FA;;;S-1-1-0)(A;ID;FA;;;S-1-5-18)(A;ID;0x120089;;;S-1-5-32-545)"},
        {"D:P(A;OICINP;FA;;;SY)", "D:", true, "D:(A;ID;FA;;;S-1-5-18)"},
        {"D:P(A;CIIO;DC;;;BU)(A;;FA;;;BA)", "D:", true, "D:(A;CIID;0x2;;;S-1-5-32-545)"},
        {"D:P(A;OICIIO;GA;;;CO)", "O:" EVE, true,
         "O:" EVE "D:(A;ID;FA;;;" EVE ")(A;OICIIOID;0x10000000;;;S-1-3-0)"},
        {"D:P(A;OICI;FA;;;SY)", "D:P(A;;FA;;;BA)", true, "D:P(A;;FA;;;S-1-5-32-544)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(access_list_free) struct access_list above = {0}, list = {0};
        _cleanup_(freep) char *all = NULL;

        assert_int_equal(access_list_read(rows[i].above, &above, NULL), 0);
        assert_int_equal(access_list_read(rows[i].own, &list, NULL), 0);
        access_list_inherit(&list, rows[i].folder, &above);
        all = access_list_write(&list);
        assert_string_equal(all, rows[i].all);
    }
}

static void who_may(void **state) {
    static const char *const eve[] = {EVE, SID_USERS, "S-1-5-11", NULL};
    static const struct {
        const char *list;
        uint32_t rights;
    } rows[] = {
        {"O:BA" OWN, 0},
        {"O:BAD:NO_ACCESS_CONTROL", ACCESS_ALL},
        {"O:BAD:(A;;FR;;;BU)(A;;DC;;;AU)(A;IO;FA;;;WD)", 0x12008b},
        {"O:BAD:(A;;GX;;;WD)", 0x1200a0},
        {"O:BAD:(D;;FA;;;BU)(A;;FA;;;WD)", 0},
        {"O:BAD:(A;;FR;;;WD)(D;;FA;;;BU)", 0x120089}, /* the first that says it counts */
        {"O:BAD:(XD;;FA;;;BU;(a==1))(A;;FR;;;WD)", 0x120089},
        {"O:BAD:(XA;;FR;;;BU;(a==1))", 0x120089},
        {"O:" EVE "D:P", 0x60000},
        {"O:" EVE "D:P(A;;FR;;;OW)", 0x120089},
        {"O:BAD:P(A;;FA;;;OW)", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(access_list_free) struct access_list list = {0};
        uint32_t got;

        assert_int_equal(access_list_read(rows[i].list, &list, NULL), 0);
        got = access_list_rights(&list, eve);
        if (got != rows[i].rights)
            fail_msg("%s: 0x%x, not 0x%x", rows[i].list, (unsigned)got, (unsigned)rows[i].rights);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_and_written),
        cmocka_unit_test(closing),
        cmocka_unit_test(inherited),
        cmocka_unit_test(who_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
