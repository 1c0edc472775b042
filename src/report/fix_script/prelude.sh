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

# Why steps in the cluster cannot be done, if they cannot.
no_cluster=
# How many steps were left out.
left_out=0

# Finds out whether kubectl is there and talks to the cluster that was judged.
in_cluster() {
    local found wanted
    if ! command -v kubectl >/dev/null; then
        no_cluster="the program kubectl is not there"
        return 0
    fi
    found=$(kubectl config view --minify --output 'jsonpath={.clusters[0].cluster.server}') || found=
    found=$(printf '%s' "${found%/}" | tr '[:upper:]' '[:lower:]')
    wanted=$(printf '%s' "${1%/}" | tr '[:upper:]' '[:lower:]')
    [ "$found" = "$wanted" ] || no_cluster="kubectl talks to ${found:-no cluster}, not to $1"
}

# Whether a step can be done that takes this program; else it is left out.
can_use() {
    local why=$no_cluster
    command -v "$1" >/dev/null || why="the program $1 is not there"
    [ -n "$why" ] || return 0
    left_out=$((left_out + 1))
    echo "this step is left out, as $why"
    return 1
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
            *"already exists"* | *"has been taken in this account"* | *InvalidSubnet.Conflict* | \
            *AlreadyAssociated*)
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

# Whether what this command shows is not there yet.
is_new() {
    local said
    if said=$("$@" 2>&1); then
        return 1
    fi
    case $said in
        *NoSuchEntity*) return 0 ;;
    esac
    stop "$said"
}
