"""Names in the server's certificate, through a proxy that finds every name here."""
from cryptography import x509

import odd
from odd_cases import UNTRUSTED, case, leaf
from proxy_cases import through

def name(what, code, endpoint, *names, says=(), **more):
    made = leaf(names=[x509.DNSName(n) for n in names]) if names else odd.default_leaf
    return case("name: " + what, code, *says, leaf=made, call={
        "endpoint": endpoint + ":6443", "proxy": through, **more,
        "environment": {"HTTPS_PROXY": "http://127.0.0.1:{proxy}", "NO_PROXY": "", "no_proxy": ""}})


NAMED = [
    name("the right one", 0, "api.test", "api.test"),
    name("in capitals", 0, "API.Test", "api.test"),
    name("a wildcard", 0, "api.k8s.test", "*.k8s.test"),
    name("a wildcard over a top-level domain", 4, "api.test", "*.test",
         says=("valid for *.test, not api.test",)),
    name("a wildcard and two labels", 4, "a.b.test", "*.test", says=(UNTRUSTED,)),
    name("a wildcard for the name behind it", 4, "b.test", "*.b.test", says=(UNTRUSTED,)),
    name("a wildcard behind a letter", 4, "api.test", "a*.test", says=(UNTRUSTED,)),
    name("a wildcard before a letter", 4, "api.test", "*i.test", says=(UNTRUSTED,)),
    name("a wildcard in the second label", 4, "api.x.test", "api.*.test", says=(UNTRUSTED,)),
    name("two wildcards", 4, "a.b.test", "*.*.test", says=(UNTRUSTED,)),
    name("a wildcard for the last label", 4, "api.test", "api.*", says=(UNTRUSTED,)),
    name("a wildcard for one label", 4, "api", "*", says=(UNTRUSTED,)),
    name("a dot behind the endpoint's", 0, "api.test.", "api.test"),
    name("a dot behind the certificate's", 4, "api.test", "api.test.", says=(UNTRUSTED,)),
    name("a dot behind both", 4, "api.test.", "api.test."),
    name("a dot before the certificate's", 4, "api.test", ".test", says=(UNTRUSTED,)),
    name("an underscore", 0, "my_api.test", "my_api.test"),
    name("punycode", 0, "xn--mnchen-3ya.test", "xn--mnchen-3ya.test"),
    name("a wildcard over punycode", 0, "xn--mnchen-3ya.k8s.test", "*.k8s.test"),
    name("letters of other alphabets", 3, "m\u00fcnchen.test", "xn--mnchen-3ya.test", says=("punycode",)),
    name("a label of 64 letters", 3, "a" * 64 + ".test", "a" * 64 + ".test"),
    name("a number for the last label", 3, "api.1", "api.1", says=("neither an address nor",)),
    name("300 letters", 3, "abcdefghi." * 30 + "test", "api.test", says=("neither an address nor",)),
    name("an empty label", 3, "api..test", "api..test", says=("neither an address nor",)),
    name("a NUL in the certificate's", 4, "api.test", "api.test\0.evil", says=(UNTRUSTED,)),
    name("a blank behind the certificate's", 4, "api.test", "api.test ", says=(UNTRUSTED,)),
    name("an address through a proxy", 4, "192.0.2.1", says=(UNTRUSTED,)),
]
CASES = NAMED
