#!/bin/sh
# Makes tests/scene/certificate_vectors.h with the openssl command, which knows nothing of pki/.
# usage: make_certificate_vectors.sh > certificate_vectors.h
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# as_c NAME FILE: the file as a string macro
as_c() {
    printf '#define %s' "$1"
    awk '{ printf " \\\n    \"%s\\n\"", $0 } END { print "" }' "$2"
}
pin_of() {
    openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform DER | openssl sha256 -hex |
        sed 's/.*= /sha256:/'
}
cat >ca.conf <<'EOF'
[ca]
default_ca = d
[d]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = p
unique_subject = no
preserve = yes
[p]
organizationName = optional
commonName = supplied
[root]
basicConstraints = critical,CA:TRUE
EOF
: >index.txt
echo 1234 >serial
# Dates that hold for whatever clock a test has; each begins elsewhere in a year.
from=20251231235959Z
issue() { # NAME ARGUMENTS...: what the request NAME.csr asks for
    name=$1
    shift
    openssl ca -batch -notext -config ca.conf -in "$name.csr" -out "$name.pem" \
        -startdate "$from" -enddate 21260215103045Z "$@" 2>/dev/null
}
request() { # NAME SUBJECT
    openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
}
sign() { # NAME SUBJECT EXTENSIONS
    openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
    request "$1" "$2"
    printf '%s\n' "$3" >"$1.ext"
    issue "$1" -cert ca.pem -keyfile ca.key -extfile "$1.ext"
}

openssl ecparam -name prime256v1 -genkey -noout -out ca.key
request ca /CN=kubernetes
issue ca -selfsign -keyfile ca.key -extensions root
from=20240229120000Z
openssl genrsa -out other.key 2048 2>/dev/null
request other /O=Other/CN=other
issue other -selfsign -keyfile other.key -extensions root
from=20260301000000Z
sign server /CN=kube-apiserver \
    "subjectAltName=DNS:kubernetes,DNS:kubernetes.default,IP:10.0.0.10,IP:fd00::1
extendedKeyUsage=serverAuth"
from=20260831235959Z
sign server_nameless /CN=kube-apiserver "subjectAltName=DNS:other.example"
sign client /O=system:nodes/CN=system:node:win-1 "extendedKeyUsage=clientAuth"
# Names of all kinds; the second is "api.test" up to a NUL.
sign names /CN=api.test "subjectAltName=@n
[n]
DNS.1=*.example.com
DNS.2=api.testX.bad.test
DNS.3=*
email.1=a@cn.test"
# With the CA's name, and no longer valid.
openssl ecparam -name prime256v1 -genkey -noout -out outdated.key
request outdated /CN=kubernetes
from=20240229120000Z
issue outdated -selfsign -keyfile outdated.key -enddate 20240301000000Z
from=20260831235959Z
# A leaf below one that is not a CA.
openssl ecparam -name prime256v1 -genkey -noout -out below.key
request below /O=system:nodes/CN=system:node:win-1
issue below -cert client.pem -keyfile client.key

echo '/* Made by make_certificate_vectors.sh with the openssl command. Not for use outside tests. */'
echo '#ifndef TESTS_UNIT_CERTIFICATE_VECTORS_H'
echo '#define TESTS_UNIT_CERTIFICATE_VECTORS_H'
echo
echo '/* clang-format off */'
nul() { # FILE TEXT: the X behind TEXT becomes a NUL; the signature is lost
    openssl x509 -in "$1" -outform DER | LC_ALL=C sed "s/$2X/$2\\x00/" | openssl x509 -inform DER -out "$1.nul"
    mv "$1.nul" "$1"
}
nul names.pem api.test
for name in ca other server server_nameless client; do
    upper=$(echo "$name" | tr '[:lower:]' '[:upper:]')
    as_c "${upper}_PEM" "$name.pem"
    echo "#define ${upper}_PIN \"$(pin_of "$name.pem")\""
    echo "#define ${upper}_NOT_BEFORE \"$(date -u -d "$(openssl x509 -in $name.pem -noout -startdate | cut -d= -f2)" +%Y-%m-%dT%H:%M:%SZ)\""
    echo "#define ${upper}_NOT_AFTER \"$(date -u -d "$(openssl x509 -in $name.pem -noout -enddate | cut -d= -f2)" +%Y-%m-%dT%H:%M:%SZ)\""
done
as_c CLIENT_KEY_PEM client.key
as_c SERVER_KEY_PEM server.key
as_c CLIENT_CSR_PEM client.csr
openssl req -x509 -new -key ca.key -subj /CN=first/O=a/CN=last -days 36500 -out two_names.pem
as_c TWO_NAMES_PEM two_names.pem
openssl req -x509 -new -key ca.key -subj /CN=system:node:win-1X/O=a -days 36500 -out nul_name.pem
nul nul_name.pem win-1
as_c NUL_NAME_PEM nul_name.pem
as_c NAMES_PEM names.pem
# The server's key with the client's public half, and the client's key with a password.
for name in client server; do openssl ec -in $name.key -outform DER -out $name.der 2>/dev/null; done
{
    echo "-----BEGIN EC PRIVATE KEY-----"
    { head -c -65 server.der && tail -c 65 client.der; } | base64 -w 64
    echo "-----END EC PRIVATE KEY-----"
} >mixed.key
as_c MIXED_KEY_PEM mixed.key
openssl ec -in client.key -aes128 -passout pass:x -out locked.key 2>/dev/null
as_c LOCKED_KEY_PEM locked.key
as_c OUTDATED_PEM outdated.pem
as_c BELOW_PEM below.pem
echo '/* clang-format on */'
echo
echo '#endif'
