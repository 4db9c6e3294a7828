"""The signed text: odd YAML, odd servers in it, odd signatures of it."""
import base64
import json
import re

import odd
from case import SECRET
from odd_cases import case, config, jws, server_line

JWS_KEY = "jws-kubeconfig-abcdef"
BAD_SERVER = "its server"


def server(name, code, value, *says):
    """What takes the place of https://HOST:PORT; @ is HOST:PORT, ~ an at sign."""
    def change(text, made):
        return server_line(value.replace("@", made.endpoint).replace("~", "@").replace("\\", "\\\\"))(text)
    return case("server: " + name, code, *says, kubeconfig=change, call={"hidden": ("pass-word",)}
                if code else {})


SERVERS = [
    server("a slash at the end", 0, "https://@/"),
    server("a path", 0, "https://@/clusters/one"),
    server("a user", 1, '"https://me:pass-word~@"', BAD_SERVER),
    server("a query", 1, '"https://@?a=b"', BAD_SERVER),
    server("a fragment", 1, '"https://@#a"', BAD_SERVER),
    server("a blank behind", 1, '"https://@ "', BAD_SERVER),
    server("a blank before", 1, '" https://@"', BAD_SERVER),
    server("a line break", 1, '"https://@\\nX: y"', BAD_SERVER),
    server("a tab", 1, '"https://@\\t"', BAD_SERVER),
    server("an escape sequence of a terminal", 1, '"https://@\\e[31m"', BAD_SERVER),
    server("a scheme in capitals", 1, '"HTTPS://@"', BAD_SERVER),
    server("no host", 1, '"https://"', BAD_SERVER),
    server("a port alone", 1, '"https://:6443"', BAD_SERVER),
    server("no port", 0, '"https://api.example"', "the cluster's own address is https://api.example"),
    server("port 0", 1, '"https://127.0.0.1:0"', BAD_SERVER),
    server("a port too great", 1, '"https://127.0.0.1:65536"', BAD_SERVER),
    server("a port that is none", 1, '"https://127.0.0.1:https"', BAD_SERVER),
    server("two ports", 1, '"https://127.0.0.1:1:2"', BAD_SERVER),
    server("an open bracket", 1, '"https://[::1"', BAD_SERVER),
    server("an IPv6 address", 0, '"https://[fd00::5]:6443"', "https://[fd00::5]:6443"),
    server("an IPv6 address with a zone", 1, '"https://[fe80::1%25eth0]:6443"', BAD_SERVER),
    server("an IPv6 address without brackets", 1, '"https://fd00::5:6443"', BAD_SERVER),
    server("one slash", 1, '"https:/127.0.0.1:6443"', "must be an https URL"),
    server("no slash", 1, '"https:127.0.0.1:6443"', "must be an https URL"),
    server("a backslash", 1, '"https://127.0.0.1:6443\\\\x"', BAD_SERVER),
    server("percent signs in the host", 1, '"https://%31.example:6443"', BAD_SERVER),
    server("letters of other alphabets", 1, '"https://m\u00fcnchen.example:6443"', BAD_SERVER),
    server("unix:", 1, '"unix:///run/x.sock"', "must be an https URL"),
    server("file:", 1, '"file:///etc/passwd"', "must be an https URL"),
]


def text(name, code, change, *says, **more):
    return config(name, code, change, *says, **more)


def extra(line):
    return lambda t: t + line + "\n"


def ca_data(change):
    return lambda t: re.sub("certificate-authority-data: (.*)", lambda m:
                            "certificate-authority-data: " + change(m.group(1)), t)


MANY = {"call": {"timeout": "30s", "seconds": 60, "memory": 256}}

TEXTS = [
    text("a mark of a document", 0, lambda t: "---\n" + t),
    text("a second document", 0, lambda t: t + "---\nkind: Pod\n"),
    text("a second document that is broken", 1, lambda t: t + "---\n[\n", "line"),
    text("an empty document before", 1, lambda t: "---\n---\n" + t, "not a kubeconfig"),
    text("the end of the document, and more", 0, lambda t: t + "...\n# bye\n"),
    text("a directive", 0, lambda t: "%YAML 1.1\n---\n" + t),
    text("a directive of another version", 1, lambda t: "%YAML 2.0\n---\n" + t, "line"),
    text("a directive for tags", 1, lambda t: "%TAG ! tag:x.example,2000:\n---\n" + t + "x: !a b\n",
         "tags are not allowed"),
    text("a tag of its own", 1, extra("x: !me y"), "tags are not allowed"),
    text("a text's tag", 0, lambda t: t.replace("kind: Config", "kind: !!str Config")),
    text("a number's tag", 1, extra("x: !!int 5"), "tags are not allowed"),
    text("a tag of bytes", 1, lambda t: t.replace("kind: Config", "kind: !!binary Q29uZmln"),
         "tags are not allowed"),
    text("a tag of Python", 1, extra("x: !!python/object/apply:os.system [id]"),
         "tags are not allowed"),
    text("a merge key", 1, lambda t: t.replace("kind: Config", "<<: {kind: Config}")),
    text("a billion laughs", 1, lambda t: t + "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        "%s: &%s [%s]\n" % (b, b, ",".join(["*" + a] * 9)) for a, b in zip("abcdefgh", "bcdefghi")),
         "anchors are not allowed"),
    text("an alias to nothing", 1, extra("x: *y"), "aliases are not allowed"),
    text("an anchor alone", 1, extra("x: &y z"), "anchors are not allowed"),
    text("a key with a question mark", 0, extra("? x\n: y")),
    text("a list for a key", 1, extra("? [x]\n: y"), "a key must be a plain string"),
    text("a null for a key", 0, extra("~: y")),
    text("numbers for keys", 0, extra("5: y\n1.5: z\ntrue: x")),
    text("keys that are numbers alike", 0, extra("1: y\n0x1: z")),
    text("a key twice, deep in", 1, extra("x: {a: {b: 1, b: 2}}"), "duplicate key"),
    text("a key twice, once quoted", 1, extra('x: 1\n"x": 2'), "duplicate key"),
    text("keys that differ in case", 0, extra("Kind: Pod\nCLUSTERS: 5")),
    text("a byte order mark", 0, lambda t: "\ufeff" + t),
    text("a byte order mark within", 0, extra("x: \ufeffy")),
    text("UTF-16", 1, lambda t: t.encode("utf-16-le").decode("latin-1"), ""),
    text("NEL for a line's end", 1, extra("# a\u0085# b"), "U+0085 is a line break in YAML"),
    text("a line separator", 1, extra("x: a\u2028b")),
    text("CR alone for a line's end", 0, lambda t: t.replace("\n", "\r")),
    text("no newline at the end", 0, lambda t: t.rstrip("\n")),
    text("blanks at the ends of lines", 0, lambda t: t.replace("\n", "   \n")),
    text("flow style", 0, lambda t: json.dumps({"apiVersion": "v1", "kind": "Config", "clusters": [
        {"name": "", "cluster": {"server": re.search("server: (.*)", t).group(1),
                                 "certificate-authority-data": re.search("data: (.*)", t).group(1)}}
    ]}).replace('"name"', "name").replace('"kind"', "kind")),
    text("a comma too many", 1, extra("x: [a,,b]"), "line"),
    text("an open quote", 1, extra('x: "a'), "line"),
    text("an open bracket", 1, extra("x: [a"), "line"),
    text("an escape that is none", 1, extra('x: "\\q"'), "line"),
    text("a slash by an escape", 0, extra('x: "\\/"')),
    text("a slash by an escape in a key", 0, extra('"\\/": x')),
    text("a slash behind two backslashes", 0, extra('# \\/\nx: ["\u00fc\\\\/", \'\\/\']')),
    text("a NUL by an escape", 1, extra('x: "\\0"'), "NUL"),
    text("an endless number", 0, extra("x: .inf")),
    text("no number", 0, extra("x: .NaN")),
    text("a date", 0, extra("x: 2026-11-21")),
    text("a number of 60 digits", 0, extra("x: " + "1" * 60)),
    text("sexagesimals", 0, extra("x: 190:20:30")),
    text("nothing but a comment", 1, lambda t: "# nothing\n", "not a kubeconfig"),
    text("a number", 1, lambda t: "5\n", "not a kubeconfig"),
    text("blanks", 1, lambda t: "   \n", "not a kubeconfig"),
    text("60 levels deep", 0, extra("x: " + "[" * 55 + "]" * 55)),
    text("a key of 2000 letters", 1, extra("k" * 2000 + ": v")),
    text("a comment of 1 MiB", 0, extra("# " + "x" * 1048576), **MANY),
    text("60000 users", 0, lambda t: t.replace("users: null", "users:\n" + "".join(
        "- {name: u%d}\n" % i for i in range(60000))), **MANY),
    text("140 maps of 1900 keys", 0, lambda t: t + "x:\n" + ("- {%s}\n" % ",".join(
        "k%d: 1" % i for i in range(1900))) * 140, **MANY),
    text("CA data quoted", 0, ca_data(lambda d: '"' + d + '"')),
    text("CA data with a blank", 1, ca_data(lambda d: '"' + d[:40] + " " + d[40:] + '"'), "base64"),
    text("CA data with a tab", 1, ca_data(lambda d: '"' + d[:40] + "\\t" + d[40:] + '"'), "base64"),
    text("CA data in lines with blanks", 1, ca_data(lambda d: "|\n      " + d[:40] + " \n      " +
                                                     d[40:]), "base64"),
    text("CA data with padding in the middle", 1, ca_data(lambda d: "QQ==" + d), "base64"),
    text("CA data with too much padding", 1, ca_data(lambda d: d.rstrip("=") + "===="), "base64"),
    text("CA data with spare bits", 1, ca_data(lambda d: base64.b64encode(
        base64.b64decode(d)[:-1]).decode() + "R=="), "base64"),
    text("CA data as bytes", 1, ca_data(lambda d: "!!binary " + d), "tags are not allowed"),
    text("CA data as a list", 1, ca_data(lambda d: "[" + d + "]")),
    text("CA data of 700 KiB", 0, ca_data(lambda d: base64.b64encode(
        b"# text\n" * 100000 + base64.b64decode(d)).decode()), **MANY),
    text("a CA inside and a file for it", 0, lambda t: t.replace(
        "    server:", "    certificate-authority: /nonexistent\n    server:")),
    text("a proxy of the cluster", 0, lambda t: t.replace(
        "    server:", "    proxy-url: http://127.0.0.1:1\n    server:")),
    text("no compression", 0, lambda t: t.replace(
        "    server:", "    disable-compression: true\n    server:")),
    text("credentials that come along", 0, lambda t: t.replace(
        "users: null", "users: [{name: u, user: {token: other-token}}]").replace(
        'contexts: null\ncurrent-context: ""', "contexts: [{name: c, context: {cluster: '', user: u}}"
        "]\ncurrent-context: c")),
    text("a program that comes along", 0, lambda t: t.replace(
        "users: null", "users: [{name: u, user: {exec: {command: /bin/false, apiVersion: "
        "client.authentication.k8s.io/v1, interactiveMode: Never}}}]")),
    text("clusters that are null", 1, lambda t: re.sub(r"clusters:\n(?:[- ].*\n)+", "clusters: null\n",
                                                       t), "it has no cluster"),
    text("clusters that are an empty list", 1, lambda t: re.sub(
        r"clusters:\n(?:[- ].*\n)+", "clusters: []\n", t), "it has no cluster"),
    text("no clusters", 1, lambda t: re.sub(r"clusters:\n(?:[- ].*\n)+", "", t),
         "it has no cluster"),
    text("a cluster whose name is null", 0, lambda t: t.replace('name: ""', "name: null")),
    text("a cluster whose name is a number", 1, lambda t: t.replace('name: ""', "name: 5"),
         "no cluster matches"),
    text("a cluster without a name", 0, lambda t: t.replace('  name: ""\n', "")),
    text("extensions", 0, extra("extensions: [{name: a, extension: {b: c}}]")),
    text("preferences", 0, lambda t: t.replace("preferences: {}", "preferences: {colors: true}")),
    text("preferences as a list", 0, lambda t: t.replace("preferences: {}", "preferences: [a]")),
    text("a kind in small letters", 1, lambda t: t.replace("kind: Config", "kind: config"),
         "kind must be Config"),
    text("a version in capitals", 1, lambda t: t.replace("apiVersion: v1", "apiVersion: V1"), "apiVersion must be v1"),
    text("a version that is a number", 1, lambda t: t.replace("apiVersion: v1", "apiVersion: 1"),
         "apiVersion must be v1"),
]


# --- signatures ------------------------------------------------------------------------------------


def encoded(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def header(name, text_):
    return jws(name, lambda s: encoded(text_.encode()) + ".." + s.split("..")[1])


def signature(name, code, change, *says):
    return case("signature: " + name, code, *says, data=lambda data, _: change(data))


MORE_SIGNATURES = [
    jws("a newline in the middle", lambda s: s[:20] + "\n" + s[20:]),
    jws("a blank behind", lambda s: s + " "),
    jws("padding in the header", lambda s: s.split("..")[0] + "=.." + s.split("..")[1]),
    jws("a NUL's picture behind", lambda s: s + "\u2400"),
    jws("one dot", lambda s: s.replace("..", ".")),
    jws("three parts without a payload", lambda s: s.replace("..", "._.")),
    jws("five parts", lambda s: s + ".a.b"),
    jws("as JSON", lambda s: json.dumps({"protected": s.split("..")[0],
                                         "signature": s.split("..")[1]})),
    jws("a million letters", lambda s: s + "A" * 1000000),
    jws("the last letter's spare bits", lambda s: s[:-1] + chr(ord(s[-1]) + 1)),
    jws("the signature halved", lambda s: s.split("..")[0] + ".." + s.split("..")[1][:21]),
    jws("the signature of nothing", lambda s: s.split("..")[0] + ".." + "A" * 43),
    header("HS384", '{"alg":"HS384","kid":"abcdef"}'),
    header("HS512", '{"alg":"HS512","kid":"abcdef"}'),
    header("RS256", '{"alg":"RS256","kid":"abcdef"}'),
    header("alg in small letters", '{"alg":"hs256","kid":"abcdef"}'),
    header("None", '{"alg":"None","kid":"abcdef"}'),
    header("no alg", '{"kid":"abcdef"}'),
    header("no kid", '{"alg":"HS256"}'),
    header("an empty kid", '{"alg":"HS256","kid":""}'),
    header("kid in capitals", '{"alg":"HS256","kid":"ABCDEF"}'),
    header("kid twice", '{"alg":"HS256","kid":"abcdef","kid":"abcdef"}'),
    header("alg twice", '{"alg":"none","alg":"HS256","kid":"abcdef"}'),
    header("typ", '{"alg":"HS256","kid":"abcdef","typ":"JWT"}'),
    header("crit", '{"alg":"HS256","kid":"abcdef","crit":["b64"],"b64":false}'),
    header("jku", '{"alg":"HS256","kid":"abcdef","jku":"https://192.0.2.1/"}'),
    header("a newline behind", '{"alg":"HS256","kid":"abcdef"}\n'),
    header("escapes", '{"alg":"HS256","kid":"\\u0061bcdef"}'),
    header("nothing", "{}"),
    signature("a hundred of others beside", 0, lambda d: {**d, **{
        "jws-kubeconfig-%06d" % i: "x" for i in range(100)}}),
    signature("others under names that are none", 1, lambda d: {
        "kubeconfig": d["kubeconfig"], "jws-kubeconfig-": "x", "jws-kubeconfig-abc": "x",
        "jws-kubeconfig-\x1b[31m00": "x", "jws-kubeconfig-abcdef ": "x"}, "no tokens"),
    signature("by the whole token", 4, lambda d: {**d, JWS_KEY: odd.tokens.detached_jws(
        "abcdef", "abcdef." + SECRET, d["kubeconfig"])}, "failed to verify JWS signature"),
    signature("by the secret and a newline", 4, lambda d: {**d, JWS_KEY: odd.tokens.detached_jws(
        "abcdef", SECRET + "\n", d["kubeconfig"])}, "failed to verify JWS signature"),
    signature("of the JSON text", 4, lambda d: {**d, JWS_KEY: odd.tokens.detached_jws(
        "abcdef", SECRET, json.dumps(d["kubeconfig"]))}, "failed to verify JWS signature"),
    signature("of base64 of the text", 4, lambda d: {**d, JWS_KEY: odd.tokens.detached_jws(
        "abcdef", SECRET, base64.b64encode(d["kubeconfig"].encode()).decode())},
              "failed to verify JWS signature"),
    signature("of the text in another form of Unicode", 4, lambda d: {
        "kubeconfig": d["kubeconfig"] + "# u\u0308\n", JWS_KEY: odd.tokens.detached_jws(
            "abcdef", SECRET, d["kubeconfig"] + "# \u00fc\n")}, "failed to verify JWS signature"),
]
CASES = [*SERVERS, *TEXTS, *MORE_SIGNATURES]
