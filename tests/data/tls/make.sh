#!/bin/sh
# Makes the certificates of the test API server anew: an authority, a certificate of it for
# 127.0.0.1 and `kubernetes.example`, and another authority that signed nothing. They hold for a
# hundred years, and their keys open nothing but a server of the tests.
set -eu
cd "$(dirname "$0")"
key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt; }
authority() {
    key >"$1.key"
    openssl req -x509 -new -key "$1.key" -subj "/CN=$2" -days 36500 -out "$1.pem" \
        -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign
}
authority authority kubernetes
authority other another-kubernetes
key >server.key
openssl req -new -key server.key -subj /CN=kube-apiserver |
    openssl x509 -req -CA authority.pem -CAkey authority.key -CAcreateserial -days 36500 \
        -extfile extensions.cnf -out server.pem
rm authority.key other.key authority.srl
