#!/usr/bin/env bash
# Pack a built program with all that belongs to it: package.sh PROGRAM FOLDER [SBOM].
# RELEASE_TARGET is the Rust target that it was built for, if not this machine's own; the program
# must run here all the same, for it writes its completions and manual itself.
# RELEASE_URL is where the folder will be downloaded from, HOMEPAGE the project's page; without
# them the manifests of krew and Homebrew are left out. The same input gives the same bytes.
set -euo pipefail
program=$1
out=$2
sbom=${3:-}
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)

version=$("$program" --version | cut -d ' ' -f 2)
target=${RELEASE_TARGET:-}
machine=${target%%-*}
case "${machine:-$(uname -m)}" in
    x86_64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) arch=${machine:-$(uname -m)} ;;
esac
os=$(uname -s | tr '[:upper:]' '[:lower:]')
# One that needs no C library stands beside the one that does.
case "$target" in
    *-musl) libc=-musl ;;
    *) libc= ;;
esac
name=karpenter-preflight-$version-$os-$arch$libc

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
tree=$work/$name
mkdir -p "$tree/completions" "$tree/man" "$out"
install -m 0755 "$program" "$tree/karpenter-preflight"
install -m 0644 "$root/LICENSE" "$root/README.md" "$tree/"
for shell in bash zsh fish powershell; do
    case "$shell" in
        zsh) file=_karpenter-preflight ;;
        powershell) file=karpenter-preflight.ps1 ;;
        *) file=karpenter-preflight.$shell ;;
    esac
    "$program" completions "$shell" >"$tree/completions/$file"
done
"$program" generate man-pages --out "$tree/man"

archive=$out/$name.tar.gz
tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX --mtime="@${SOURCE_DATE_EPOCH:-0}" "$name" | gzip --no-name >"$archive"
if [ -n "$sbom" ]; then
    install -m 0644 "$sbom" "$out/$name.cdx.json"
fi

declare -A brew_os=([darwin]=macos) brew_arch=([amd64]=x86_64)
digest=$(sha256sum "$archive" | cut -d ' ' -f 1)
if [ -n "${RELEASE_URL:-}" ]; then
    # By the names that krew and Homebrew want: each holds a file's name against what is in it.
    for template in karpenter-preflight.yaml karpenter-preflight.rb; do
        sed -e "s|@VERSION@|$version|g" -e "s|@OS@|$os|g" -e "s|@ARCH@|$arch|g" \
            -e "s|@URL@|${RELEASE_URL%/}/$name.tar.gz|g" -e "s|@SHA256@|$digest|g" \
            -e "s|@HOMEPAGE@|${HOMEPAGE:-$RELEASE_URL}|g" \
            -e "s|@BREW_OS@|${brew_os[$os]:-$os}|g" -e "s|@BREW_ARCH@|${brew_arch[$arch]:-$arch}|g" \
            "$root/deploy/release/$template.in" >"$out/$template"
    done
fi
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum) >"$work/SHA256SUMS"
install -m 0644 "$work/SHA256SUMS" "$out/SHA256SUMS"
echo "$archive"
