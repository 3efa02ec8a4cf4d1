# shellcheck shell=bash
# Installs what a build needs, and builds. `quickstart`, `install`, `package` and `Tests/run` source this file. The
# caller sets source_dir, and defines fail STATUS MESSAGE HINT.

# The Debian packages that a build needs in addition to Swift. Each has a file that shows its presence. So nothing is installed on a
# machine that has the same software from elsewhere.
needed=(
    'libsystemd-dev /usr/include/systemd/sd-bus.h'
    'libsqlite3-dev /usr/include/sqlite3.h'
    'libcurl4-openssl-dev /usr/bin/curl-config'
    'zlib1g-dev /usr/include/zlib.h'
    'g++ /usr/include/c++'
    'pkg-config /usr/bin/pkg-config'
    'ca-certificates /etc/ssl/certs/ca-certificates.crt'
)

# sudo asks for its password on the terminal, wherever the standard streams lead. Without a terminal it must not ask.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif (: < /dev/tty) 2> /dev/null; then
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
    # Without standard input, apt asks no questions. One of many sources may fail; the packages may come from another.
    as_root apt-get update -qq < /dev/null >&2 ||
        printf '%s: apt-get update failed; using the package lists from before\n' "${program:-${0##*/}}" >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" < /dev/null >&2 ||
        fail 75 "cannot install $*: see the messages above" "as root: apt-get install $*"
}

install_build_packages() {
    local entry missing=()
    for entry in "${needed[@]}"; do
        [[ -e ${entry#* } ]] || missing+=("${entry% *}")
    done
    # libcurl with another TLS library does not give the reasons why a certificate is refused.
    [[ ! -e /usr/bin/curl-config || $(/usr/bin/curl-config --ssl-backends) == *OpenSSL* ]] || missing+=(libcurl4-openssl-dev)
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

# The options of the debug build, which the quickstart and the tests share. Each module is compiled as a whole, and not a second time for
# its interface. Debug information tells the lines of Swift only. The index, which SwiftPM needs to find tests, has nothing of C and of the
# system. SwiftPM compiles everything again if one of the options changes.
# shellcheck disable=SC2034 # used where this file is sourced
debug_options=(
    -debug-info-format none -Xswiftc -gline-tables-only
    -Xswiftc -whole-module-optimization -Xswiftc -no-emit-module-separately-wmo -Xswiftc -num-threads -Xswiftc 2
    -Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules
    -Xcc -Xclang -Xcc -index-store-path -Xcc -Xclang -Xcc ''
)

# The options of the release build.
#
# Two builds of one commit in two folders must give the same bytes. So the programs must contain neither the path of the folder nor anything
# computed from it. There are two such things: the name of the compiler's module cache, which debug information contains for debuggers that
# read this cache, and a hash for each module, by which the compiler recognizes object files that are up to date.
#
# Each function is a section of its own, so the linker can put those that run side by side (Linking/symbols.order). Package.swift can say
# that for our modules only.
# shellcheck disable=SC2034,SC2154 # used where this file is sourced; that file sets source_dir
release_options=(
    -Xswiftc -file-prefix-map -Xswiftc "$source_dir=." -Xcc "-ffile-prefix-map=$source_dir=."
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
    -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections
)

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
    # The compiler may report an error several times, and draws it below the line, too.
    grep -E '(^|: )(fatal )?error: ' "$log" | awk '!seen[$0]++' | head -n 20 | grep . >&2 || tail -n 20 "$log" >&2
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

# How many modules in Swift a first build has, if the caller knows it. Each is one step to SwiftPM, as a file in C is, but takes as long as
# forty of those, which come first. An estimate from the steps alone would say "9 s left" for two minutes. A build that has few steps is
# no first build.
modules_of_first_build=0
# What is built, if a caller builds several products.
build_part=

# progress_line LOG SECONDS   from the build's last line, "[412/1659] Compiling NIOCore Channel.swift". There is no estimate until a tenth
# of the steps is done.
progress_line() {
    local log=$1 elapsed=$2 last done all weighed whole left=''
    local step='^\[([0-9]+)/([0-9]+)\] (Wrapping AST for|[A-Z][a-z ]*[a-z]) ([^ ]+)'
    last=$(tail -c 4096 "$log" | grep -E "$step" | tail -n 1)
    if ! [[ $last =~ $step ]]; then
        printf '%s: building%s: preparing, %s so far' "${program:-${0##*/}}" "${build_part:+ $build_part}" "$(duration "$elapsed")"
        return
    fi
    done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    weighed=$done whole=$all
    if ((modules_of_first_build > 0 && all > 400)); then
        weighed=$((done + 39 * $(grep -cE '\] Compiling [^ ]+ .*\.swift$' "$log")))
        whole=$((all + 39 * modules_of_first_build))
    fi
    ((elapsed < 10 || weighed * 10 < whole || weighed > whole)) ||
        left="about $(duration $((elapsed * (whole - weighed) / weighed))) left, "
    # A narrow terminal shows only the beginning, so what people want to know comes first.
    printf '%s: building%s: %s%s so far, step %d of %d (%s)' "${program:-${0##*/}}" "${build_part:+ $build_part}" \
        "$left" "$(duration "$elapsed")" "$done" "$all" "${BASH_REMATCH[4]##*/}"
}

duration() { # SECONDS
    if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}
