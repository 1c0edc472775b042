stop() {
    printf 'stopped: %s\n' "$*" >&2
    exit 1
}

say() {
    printf '\n== %s\n' "$*"
}

# Stops where a blank is still empty.
filled_in() {
    [ -n "$2" ] || stop "fill in $1 at the top of this script first"
}

needs() {
    command -v "$1" >/dev/null || stop "the program $1 is not there"
}

# Stops unless the credentials are those of the account that was judged.
in_account() {
    local found
    found=$(aws sts get-caller-identity --query Account --output text)
    [ "$found" = "$1" ] || stop "the credentials are of account $found, and the findings of $1"
}

# Stops unless kubectl talks to the cluster that was judged.
in_cluster() {
    local found wanted
    found=$(kubectl config view --minify --output 'jsonpath={.clusters[0].cluster.server}')
    found=$(printf '%s' "${found%/}" | tr '[:upper:]' '[:lower:]')
    wanted=$(printf '%s' "${1%/}" | tr '[:upper:]' '[:lower:]')
    [ "$found" = "$wanted" ] || stop "kubectl talks to $found, and the findings are of $1"
}

# Asks before anything is removed or replaced. YES=1 in the environment answers yes to all.
confirm() {
    local answer=
    if [ "${YES:-}" = 1 ]; then
        return 0
    fi
    printf '%s [y/N] ' "$1" >/dev/tty || stop "there is no terminal to ask on; YES=1 says yes"
    read -r answer </dev/tty || stop "there was no answer"
    case $answer in
        y | Y | yes) return 0 ;;
    esac
    echo "left as it is"
    return 1
}

# Creates something; that it is there already is no fault.
create() {
    local said
    if said=$("$@" 2>&1); then
        printf '%s\n' "$said"
        return 0
    fi
    case $said in
        *EntityAlreadyExists* | *ResourceInUse* | *ResourceAlreadyExists* | *Duplicate* | \
            *"already exists"* | *"has been taken in this account"* | *InvalidSubnet.Conflict*)
            echo "it is there already"
            ;;
        *)
            printf '%s\n' "$said" >&2
            return 1
            ;;
    esac
}

# Removes something; that it is not there is no fault.
remove() {
    local said
    if said=$("$@" 2>&1); then
        printf '%s\n' "$said"
        return 0
    fi
    case $said in
        *NoSuchEntity* | *NotFound* | *NonExistentQueue*) echo "it is gone already" ;;
        *)
            printf '%s\n' "$said" >&2
            return 1
            ;;
    esac
}
