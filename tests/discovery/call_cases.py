"""How the program is called: odd endpoints, pins and tokens, on the command line and beside it."""
import base64

from case import TOKEN, Case
from file_cases import fifo
from odd import Odd

def call(name, code, *says, **more):
    return Case("call: " + name, code=code, says=says, odd=Odd(), **more)


HEX = "3b" * 32
CALLS = [
    call("a pin with the name in capitals", 0, pins=("{PIN}",)),
    call("a hundred pins", 0, pins=tuple("sha256:%064x" % i for i in range(100)) + ("{pin}",)),
    call("a pin and a bad one", 3, "64 hexadecimal digits", pins=("{pin}", "sha1:00")),
    call("a pin with a blank before", 3, "64 hexadecimal digits", pins=(" {pin}",)),
    call("a pin with a newline behind", 3, "64 hexadecimal digits", pins=("{pin}\n",)),
    call("a pin of 65 digits", 3, "64 hexadecimal digits", pins=("{pin}0",)),
    call("a pin of 63 digits", 3, "64 hexadecimal digits", pins=("sha256:" + HEX[:-1],)),
    call("a pin that is not hex", 3, "64 hexadecimal digits", pins=("sha256:" + "zz" * 32,)),
    call("a pin with two colons", 3, "64 hexadecimal digits", pins=("sha256:" + HEX + ":",)),
    call("a pin without a name", 3, "64 hexadecimal digits", pins=(HEX,)),
    call("an empty pin", 3, "--discovery-token-ca-cert-hash", pins=("",)),
    call("the fingerprint of the certificate", 4, "no public key of its CA certificates",
         pins=("sha256:{fingerprint}",)),
    call("a token with a newline", 3, "space", token=TOKEN + "\n"),
    call("a token with two dots", 3, "--token", token="abcdef.0123456789abcde."),
    call("a token of other letters", 3, "--token", token="abcdef.0123456789abcd\u00e9"),
    call("an endpoint with a path", 3, "HOST:PORT", endpoint="{endpoint}/x"),
    call("an endpoint with a user", 3, "HOST:PORT", endpoint="user@{endpoint}"),
    call("an endpoint without a host", 3, "no host", endpoint=":{port}"),
    call("an endpoint with a named port", 3, "port must be a number", endpoint="127.0.0.1:https"),
    call("an endpoint with port 0", 3, "port must be a number", endpoint="127.0.0.1:0"),
    call("an endpoint with a great port", 3, "port must be a number", endpoint="127.0.0.1:65536"),
    call("an IPv4 address in brackets", 3, "brackets", endpoint="[127.0.0.1]:{port}"),
    call("an IPv6 address without brackets", 3, "too many colons", endpoint="::1:{port}"),
    call("an address in hex", 3, "neither an address nor a name", endpoint="0x7f000001:{port}"),
    call("an address in one number", 3, "neither an address nor a name",
         endpoint="2130706433:{port}"),
    call("an address in two parts", 3, "neither an address nor a name", endpoint="127.1:{port}"),
    call("an address with a dot behind", 3, "neither an address nor a name",
         endpoint="127.0.0.1.:{port}"),
]


# --- tokens, pins and endpoints again --------------------------------------------------------------
def secret(name, token, *says, **more):
    return call("token: " + name, 3, *(says or ("--token",)), token=token,
                hidden=("0123456789abcde", "0123456789ABCDE"), **more)


def by_file(name, code, data, *says, **more):
    return Case("call: token file: " + name, code=code, says=says, odd=Odd(), token="",
                files={"t": lambda _: data}, hidden=("0123456789abcde",), kubeadm=False,
                more=("--token-file", "{folder}/t"), **more)


def by_stdin(name, code, data, *says, **more):
    return Case("call: token by standard input: " + name, code=code, says=says, odd=Odd(), token="",
                stdin=data, hidden=("0123456789abcde",), kubeadm=False, more=("--token", "-"), **more)


RAW = TOKEN.encode()
MORE = [
    secret("a colon", "abcdef:0123456789abcdef"),
    secret("a blank before", " " + TOKEN),
    secret("a blank behind", TOKEN + " "),
    secret("a tab behind", TOKEN + "\t"),
    secret("quotes around", '"' + TOKEN + '"'),
    secret("the id alone", "abcdef."),
    secret("the secret alone", ".0123456789abcdef"),
    secret("a dot", "."),
    secret("id and secret changed", "0123456789abcdef.abcdef"),
    secret("an id in capitals", "ABCDEF.0123456789abcdef", "upper-case letters"),
    secret("a secret in capitals", "abcdef.0123456789ABCDEF", "upper-case letters"),
    secret("17 letters", TOKEN + "0"),
    secret("an id of 7 letters", "abcdefg.0123456789abcdef"),
    secret("a dash", "abc-ef.0123456789abcdef"),
    secret("a letter that looks alike", "\u0430bcdef.0123456789abcdef"),
    secret("digits of another alphabet", "abcdef.\u0660123456789abcdef"),
    secret("an equals sign behind", TOKEN + "="),
    secret("the words that print it", "--token " + TOKEN),
    secret("twenty thousand letters", "a" * 20000),
    secret("a Secret's name", "bootstrap-token-abcdef"),
    by_file("plain", 0, RAW),
    by_file("a newline", 0, RAW + b"\n"),
    by_file("CRLF", 0, RAW + b"\r\n"),
    by_file("blanks around", 0, b"  " + RAW + b" \n\n"),
    by_file("a byte order mark", 0, b"\xef\xbb\xbf" + RAW),
    by_file("UTF-16 with a mark", 0, TOKEN.encode("utf-16")),
    by_file("UTF-16 of the other order", 0, b"\xfe\xff" + (TOKEN + "\r\n").encode("utf-16-be")),
    by_file("UTF-16 without a mark", 3, TOKEN.encode("utf-16-le"), "--token"),
    by_file("empty", 3, b"", "--token"),
    by_file("blanks alone", 3, b" \n", "--token"),
    by_file("two lines", 3, RAW + b"\n" + RAW, "--token"),
    by_file("a NUL", 3, RAW + b"\0x", "--token"),
    by_file("1 MiB", 3, RAW * 50000, "token"),
    by_file("quotes around", 3, b'"' + RAW + b'"', "--token"),
    by_stdin("plain", 0, RAW),
    by_stdin("a newline", 0, RAW + b"\n"),
    by_stdin("nothing", 3, b"", "--token"),
    by_stdin("two lines", 3, RAW + b"\nmore\n", "--token"),
    by_stdin("1 MiB", 3, RAW * 50000, "token"),
    Case("call: token file that is not there", code=3, token="", odd=Odd(), kubeadm=False,
         says=("read the token",), more=("--token-file", "{folder}/none")),
    Case("call: token file that is a folder", code=3, token="", odd=Odd(), kubeadm=False,
         says=("read the token",), more=("--token-file", "{folder}")),
    Case("call: token file that is a pipe which nobody writes", code=3, token="", odd=Odd(),
         kubeadm=False, posix=True, prepare=fifo("p"), more=("--token-file", "{folder}/p")),
    # 72 KB of command line: Windows has 32
    call("a thousand pins", 0, posix=True, pins=tuple("sha256:%064x" % i for i in range(1000)) + ("{pin}",)),
    call("the same pin a hundred times", 0, pins=("{pin}",) * 100),
    call("a pin's name in other letters", 3, "64 hexadecimal digits", pins=("SHA-256:" + HEX,)),
    call("a pin's name with a blank", 3, "64 hexadecimal digits", pins=("sha256 :" + HEX,)),
    call("a pin of SHA-1", 3, "64 hexadecimal digits", pins=("sha1:" + "3b" * 20,)),
    call("a pin of MD5", 3, "64 hexadecimal digits", pins=("md5:" + "3b" * 16,)),
    call("a pin's name alone", 3, "64 hexadecimal digits", pins=("sha256",)),
    call("a pin without a value", 3, "64 hexadecimal digits", pins=("sha256:",)),
    call("a colon for a pin", 3, "64 hexadecimal digits", pins=(":",)),
    call("a pin with 0x", 3, "64 hexadecimal digits", pins=("sha256:0x" + HEX[:-2],)),
    call("a pin in base64", 3, "64 hexadecimal digits",
         pins=("sha256:" + base64.b64encode(b"\x3b" * 32).decode(),)),
    call("a pin as curl writes it", 3, "64 hexadecimal digits",
         pins=("sha256//" + base64.b64encode(b"\x3b" * 32).decode(),)),
    call("a pin with colons between", 3, "64 hexadecimal digits",
         pins=("sha256:" + ":".join(["3B"] * 32),)),
    call("a pin of other digits", 3, "64 hexadecimal digits",
         pins=("sha256:" + "\uff11" * 21 + "1",)),
    call("a pin with a blank behind", 3, "64 hexadecimal digits", pins=("{pin} ",)),
    call("a pin with a byte order mark", 3, "64 hexadecimal digits", pins=("\ufeff{pin}",)),
    call("a pin of twenty thousand digits", 3, "64 hexadecimal digits", pins=("sha256:" + "3b" * 10000,)),
    call("an endpoint in capitals", 0, endpoint="LOCALHOST:{port}"),
    call("an endpoint with two dots behind", 3, "neither an address nor a name",
         endpoint="localhost..:{port}"),
    call("an endpoint without a port but a colon", 3, "port must be a number",
         endpoint="127.0.0.1:"),
    call("an endpoint with a port and more", 3, "too many colons", endpoint="127.0.0.1:{port}:1"),
    call("an endpoint with a negative port", 3, "port must be a number", endpoint="127.0.0.1:-1"),
    call("an endpoint with a plus", 3, "port must be a number", endpoint="127.0.0.1:+{port}"),
    call("an endpoint with a zero before its port", 0, endpoint="127.0.0.1:0{port}"),
    call("an endpoint with a blank", 3, "HOST:PORT", endpoint="127.0.0.1: {port}"),
    call("an endpoint with a newline", 3, "HOST:PORT", endpoint="{endpoint}\n"),
    call("an endpoint with a backslash", 3, "HOST:PORT", endpoint="127.0.0.1\\x:{port}"),
    call("an endpoint with a percent sign", 3, "HOST:PORT", endpoint="%31.0.0.1:{port}"),
    call("an endpoint with a control character", 3, "", endpoint="127.0.0.1\x01:{port}"),
    call("an IPv6 address without a port", 3, "missing port", endpoint="[::1]"),
    call("an IPv6 address with an open bracket", 3, "", endpoint="[::1:{port}"),
    call("an IPv6 address with more behind", 3, "too many colons", endpoint="[::1]x:{port}"),
    call("empty brackets", 3, "no host", endpoint="[]:{port}"),
    call("an IPv6 address of five digits", 3, "brackets must enclose", endpoint="[::00001]:{port}"),
    call("an address of five parts", 3, "neither an address nor a name", endpoint="1.2.3.4.5:{port}"),
    call("an address beyond 255", 3, "neither an address nor a name", endpoint="127.0.0.256:{port}"),
    call("an address with zeros before", 3, "neither an address nor a name",
         endpoint="127.000.000.001:{port}"),
    call("an address of one part", 3, "neither an address nor a name", endpoint="0:{port}"),
    call("a name with a star", 3, "neither an address nor a name", endpoint="*.test:{port}"),
    call("a name with a comma", 3, "neither an address nor a name",
         endpoint="127.0.0.1,localhost:{port}"),
    call("a name of other letters", 3, "punycode", endpoint="l\u043ecalhost:{port}"),
    call("a password in the endpoint", 3, "endpoint", endpoint="me:pass-word@{endpoint}",
         hidden=("pass-word",)),
]
CASES = [*CALLS, *MORE]
