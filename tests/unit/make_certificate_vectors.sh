#!/bin/sh
# Makes tests/unit/certificate_vectors.h with the openssl command, which knows nothing of pki/.
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
sign() { # NAME SUBJECT CA EXTENSIONS
    openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
    printf '%s\n' "$4" >"$1.ext"
    openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA "$3.pem" -CAkey "$3.key" -days 36500 -set_serial 4660 \
        -extfile "$1.ext" -out "$1.pem" 2>/dev/null
}

openssl ecparam -name prime256v1 -genkey -noout -out ca.key
openssl req -x509 -new -key ca.key -subj /CN=kubernetes -days 36500 -out ca.pem
openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -subj "/O=Other/CN=other" -days 36500 \
    -out other.pem 2>/dev/null
sign server /CN=kube-apiserver ca "subjectAltName=DNS:kubernetes,DNS:kubernetes.default,IP:10.0.0.10,IP:fd00::1"
sign client "/O=system:nodes/CN=system:node:win-1" ca "extendedKeyUsage=clientAuth"

echo '/* Made by make_certificate_vectors.sh with the openssl command. Not for use outside tests. */'
echo '#ifndef TESTS_UNIT_CERTIFICATE_VECTORS_H'
echo '#define TESTS_UNIT_CERTIFICATE_VECTORS_H'
echo
echo '/* clang-format off */'
for name in ca other server client; do
    upper=$(echo "$name" | tr '[:lower:]' '[:upper:]')
    as_c "${upper}_PEM" "$name.pem"
    echo "#define ${upper}_PIN \"$(pin_of "$name.pem")\""
    echo "#define ${upper}_NOT_AFTER \"$(date -u -d "$(openssl x509 -in $name.pem -noout -enddate | cut -d= -f2)" +%Y-%m-%dT%H:%M:%SZ)\""
done
as_c CLIENT_KEY_PEM client.key
as_c SERVER_KEY_PEM server.key
as_c CLIENT_CSR_PEM client.csr
echo '/* clang-format on */'
echo
echo '#endif'
