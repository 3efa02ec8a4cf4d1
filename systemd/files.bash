# shellcheck shell=bash
# The only list of the files of an installation, with their places below /usr. `install`, `package` and the tarball use it.
# shellcheck disable=SC2034,SC2154  # used by who sources this; source_dir, program, say and fail come from common.bash

binaries=(authrefreshd authctl authagent authimport)
# Further names of authctl. No other project uses the first one (Ubuntu's authd has another authctl). git, docker and similar programs
# look for their credential helpers under the other names.
links=(authrefreshctl git-credential-authctl docker-credential-authctl bazel-credential-authctl)
# pip and uv look for a program of this name. It has a folder of its own, which is in nobody's PATH, because it is no other program's keyring.
keyring_link=lib/authrefreshd/keyring/keyring
# Further names of manual pages, for programs and commands that have another name, too.
page_links=(
    'authrefreshctl authctl'
    'authagent authctl-agent'
    'authimport authctl-import'
    'git-credential-authctl authctl-git-credential'
    'docker-credential-authctl authctl-docker-credential'
    'bazel-credential-authctl authctl-bazel-credential'
)
# The completions for the programs that people type, each with its shell and its place below /usr/share: bash and fish look there by
# themselves, zsh if its fpath names the folder. `install` uses the same places below the user's data folder.
completions=(
    'authctl bash bash-completion/completions/authctl'
    'authctl fish fish/vendor_completions.d/authctl.fish'
    'authctl zsh zsh/site-functions/_authctl'
    'authrefreshd bash bash-completion/completions/authrefreshd'
    'authrefreshd fish fish/vendor_completions.d/authrefreshd.fish'
    'authrefreshd zsh zsh/site-functions/_authrefreshd'
)
# Makes the release build, and installs what it needs. SwiftPM builds one product at a time.
build_release() {
    # Counted on 29 November 2026, for the first product.
    modules_of_first_build=31
    local product number=0 log=$source_dir/.build/release.log
    install_build_packages
    # Python makes the manual pages.
    [[ -e /usr/bin/python3 ]] || install_packages python3
    check_swift
    mkdir -p "${log%/*}"
    printf '%s: building; a first build takes a quarter of an hour (compiler output: %s)\n' "$program" "$log" >&2
    for product in "${binaries[@]}"; do
        number=$((number + 1))
        build_part="$product ($number of ${#binaries[@]})"
        swift_build "$log" -c release "${release_options[@]}" --product "$product" ||
            fail 1 "'$product' did not build" "the whole output is in $log"
    done
}

check_programs() { # DIR
    local binary
    for binary in "${binaries[@]}"; do
        [[ -x $1/$binary ]] || fail 1 "there is no $1/$binary" "leave out --no-build, and it is built"
    done
}

# The manual pages and all files have the date of the source. So one commit gives the same bytes at any time.
date_of_source() {
    [[ -n ${SOURCE_DATE_EPOCH-} ]] || SOURCE_DATE_EPOCH=$(git -C "$source_dir" log -1 --format=%ct 2> /dev/null) || :
    [[ -z $SOURCE_DATE_EPOCH ]] || export SOURCE_DATE_EPOCH
}

# stage_files BINARIES DIR   puts all files into DIR, with their places below /usr. Units and the desktop entry name the programs in
# ~/.local/bin. A caller that puts them elsewhere changes this with `naming_programs_in`.
stage_files() {
    local from=$1 to=$2 systemd=$source_dir/systemd etc=$source_dir/etc link
    local examples=$to/share/doc/authrefreshd/examples
    install -D -m 0755 -t "$to/bin" "${binaries[@]/#/$from/}"
    for link in "${links[@]}"; do ln -s authctl "$to/bin/$link"; done
    mkdir -p "$to/${keyring_link%/*}"
    ln -s ../../../bin/authctl "$to/$keyring_link"
    install -D -m 0644 -t "$to/lib/systemd/user" "$systemd"/*.{service,socket,timer}
    install -D -m 0644 -t "$to/lib/systemd/catalog" "$systemd/authrefreshd.catalog"
    install -D -m 0644 -t "$to/share/applications" "$systemd/authctl-callback.desktop"
    install -D -m 0644 -t "$to/share/authrefreshd" "$systemd"/authrefreshd.service.d/*.conf
    install -D -m 0644 -t "$to/share/authrefreshd/providers.d" "$etc"/providers.d/*.yaml
    install -D -m 0644 -t "$examples" "$etc"/{authrefreshd,provider-profile}.yaml
    install -D -m 0644 -t "$examples/relay" "$etc"/relay/*
    stage_completions "$from" "$to/share"
    stage_manual "$from" "$to/share/man"
}

stage_completions() { # BINARIES DIR
    local binary shell file
    while read -r binary shell file; do
        mkdir -p "$2/${file%/*}"
        "$1/$binary" --generate-completion-script "$shell" > "$2/$file" ||
            fail 1 "$1/$binary does not run: its completion for $shell cannot be made"
    done < <(printf '%s\n' "${completions[@]}")
}

stage_manual() { # BINARIES DIR
    local version made link systemd=$source_dir/systemd
    made=$(mktemp -d)
    version=$("$1/authctl" --version)
    date_of_source
    "$1/authctl" --experimental-dump-help | "$systemd/manual-pages" "$made" "$version" &&
        "$1/authrefreshd" --experimental-dump-help |
        "$systemd/manual-pages" "$made" "$version" "$source_dir"/etc/{authrefreshd,provider-profile}.yaml ||
        fail 1 "the manual pages cannot be made"
    install -D -m 0644 -t "$2/man1" "$made"/*.1
    install -D -m 0644 -t "$2/man5" "$made"/*.5
    for link in "${page_links[@]}"; do ln -s "${link#* }.1" "$2/man1/${link% *}.1"; done
    rm -rf "$made"
}

# More than half of a program is names for debuggers. `install` does not need them: the programs write no core dumps (which would contain
# tokens), and Swift's backtracer is not installed. If strip fails, the program stays whole.
strip_programs() { # DIR
    local binary
    command -v strip > /dev/null || return 0
    for binary in "${binaries[@]}"; do
        if cp "$1/$binary" "$1/.$binary.stripped" && strip "$1/.$binary.stripped" 2> /dev/null; then
            mv -f "$1/.$binary.stripped" "$1/$binary"
        else
            rm -f "$1/.$binary.stripped"
            say "strip failed: $binary is installed with its names for debuggers"
        fi
    done
}

# naming_programs_in DIR [AUTHCTL]   from standard input to standard output: units and drop-ins for programs in DIR, where authctl has the
# name AUTHCTL. DIR and AUTHCTL must not contain characters that sed or systemd treat specially.
naming_programs_in() {
    sed -e "s|%h/.local/bin/authctl|$1/${2:-authctl}|" -e "s|%h/.local/bin/|$1/|"
}
