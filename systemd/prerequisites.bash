# shellcheck shell=bash
# Installs what a build needs, and builds. `quickstart`, `install`, `package` and `Tests/run` source this file. The
# caller sets source_dir, and defines fail STATUS MESSAGE HINT.

# The Debian packages that a build needs in addition to Swift. Each has a file that shows its presence. So nothing is installed on a
# machine that has the same software from elsewhere.
needed=(
    'libsystemd-dev /usr/include/systemd/sd-bus.h'
    'libsqlite3-dev /usr/include/sqlite3.h'
    'zlib1g-dev /usr/include/zlib.h'
    'g++ /usr/include/c++'
    'pkg-config /usr/bin/pkg-config'
    'ca-certificates /etc/ssl/certs/ca-certificates.crt'
)

# sudo can ask for its password on a terminal, but not in a script.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif [[ -t 0 ]]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# install_packages PACKAGE...   apt's output goes to standard error
install_packages() {
    (($#)) || return 0
    command -v apt-get > /dev/null ||
        fail 69 "missing: $*" "there is no apt-get here; install what your distribution calls these"
    ((EUID == 0)) || command -v sudo > /dev/null || fail 77 "missing: $*" "as root: apt-get install $*"
    printf '%s: installing %s\n' "${program:-${0##*/}}" "$*" >&2
    # Without standard input, apt asks no questions.
    as_root apt-get update -qq < /dev/null >&2 ||
        fail 75 "apt-get update failed" "look at the messages above; without a network: apt-get install $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" < /dev/null >&2 ||
        fail 75 "cannot install $*" "as root: apt-get install $*"
}

install_build_packages() {
    local entry missing=()
    for entry in "${needed[@]}"; do
        [[ -e ${entry#* } ]] || missing+=("${entry% *}")
    done
    install_packages "${missing[@]}"
}

check_swift() {
    local version
    command -v swift > /dev/null ||
        fail 69 "there is no 'swift' in PATH" "get Swift 6.2 or newer from https://www.swift.org/install/linux/"
    version=$(swift --version 2> /dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    [[ -n $version && $(printf '%s\n' 6.2 "$version" | sort -V | head -n 1) == 6.2 ]] ||
        fail 69 "Swift ${version:-of an unknown version} is too old" "get 6.2 or newer: https://www.swift.org/install/linux/"
}

# -- The build, with a line that says how far it is ------------------------------------------------------------------

# swift_build LOG ARGUMENT...   runs `swift build ARGUMENT...`. Standard error shows how far it is; the compiler's own lines go to LOG, and
# the errors among them to standard error if the build fails.
swift_build() {
    local log=$1 build status=0
    shift
    : > "$log"
    swift build --package-path "$source_dir" "$@" < /dev/null > "$log" 2>&1 &
    build=$!
    # A shell's background processes ignore Ctrl-C.
    trap 'kill "$build" 2> /dev/null; exit 130' INT
    trap 'kill "$build" 2> /dev/null; exit 143' TERM
    show_progress "$log" "$build"
    wait "$build" || status=$?
    trap - INT TERM
    ((status != 0)) || return 0
    grep -E 'error:' "$log" | head -n 20 >&2 || tail -n 20 "$log" >&2
    return "$status"
}

# show_progress LOG PROCESS   shows the progress until the process has ended: on a terminal one line that changes each second, elsewhere a
# new line each minute.
show_progress() {
    local log=$1 process=$2 started=$SECONDS told=$((SECONDS - 60)) line
    while kill -0 "$process" 2> /dev/null; do
        if [[ -t 2 ]]; then
            line=$(progress_line "$log" $((SECONDS - started)))
            printf '\r\e[K%s' "${line:0:$(($(tput cols 2> /dev/null || printf 80) - 1))}" >&2
        elif ((SECONDS - told >= 60)); then
            told=$SECONDS
            printf '%s\n' "$(progress_line "$log" $((SECONDS - started)))" >&2
        fi
        sleep 1
    done
    [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

# progress_line LOG SECONDS   from the build's last line, "[412/1659] Compiling NIOCore Channel.swift". The number of steps still grows in
# the first minute, so there is no estimate until a tenth of them is done.
progress_line() {
    local log=$1 elapsed=$2 step='^\[([0-9]+)/([0-9]+)\] ([A-Z][a-z ]*[a-z]) ([^ ]+)' last done all left=''
    last=$(tail -c 4096 "$log" | grep -E "$step" | tail -n 1)
    if ! [[ $last =~ $step ]]; then
        printf '%s: building: preparing, %s so far' "${program:-${0##*/}}" "$(duration "$elapsed")"
        return
    fi
    done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    ((elapsed < 10 || done * 10 < all)) || left=", about $(duration $((elapsed * (all - done) / done))) left"
    printf '%s: building: step %d of %d (%s), %s so far%s' "${program:-${0##*/}}" "$done" "$all" "${BASH_REMATCH[4]##*/}" \
        "$(duration "$elapsed")" "$left"
}

duration() { # SECONDS
    if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}
