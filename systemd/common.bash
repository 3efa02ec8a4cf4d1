# shellcheck shell=bash
# Where `install` puts things and `uninstall` finds them again; sourced by both, and by the tests.
# shellcheck disable=SC2034  # used by the scripts that source this

# Else bash 5.2 takes a "&" in the name of a folder for what was replaced.
shopt -u patsub_replacement 2> /dev/null || :

source_dir=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
program=${0##*/}
default_prefix=$HOME/.local
prefix=$default_prefix
unit_dir=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
drop_in_dir=$unit_dir/authrefreshd.service.d
config_file=${XDG_CONFIG_HOME:-$HOME/.config}/authrefreshd/authrefreshd.yaml
profile_dir=${XDG_DATA_HOME:-$HOME/.local/share}/authrefreshd/providers.d
# The profiles as they were installed, for sha256sum: what differs from it was edited.
profile_sums=$profile_dir/.installed
# Not below /usr/lib, which belongs to the distribution's packages.
catalog=/usr/local/lib/systemd/catalog/authrefreshd.catalog
packaged_catalog=/usr/lib/systemd/catalog/authrefreshd.catalog
# The second name of authctl, for a shell that finds another project's authctl first.
second_name=authrefreshctl
# Where shells look for what completes a command: bash and fish by themselves, zsh if its fpath says so.
data_dir=${XDG_DATA_HOME:-$HOME/.local/share}
completion_bash=$data_dir/bash-completion/completions/authctl
completion_fish=$data_dir/fish/vendor_completions.d/authctl.fish
completion_zsh=$data_dir/zsh/site-functions/_authctl
units=(authrefreshd.service authrefreshd.socket)
# A drop-in that its reader puts in force; what it costs is said in it.
see_executables=$data_dir/authrefreshd/see-executables.conf
# Opens the socket again after it has failed; nobody enables it.
again_unit=authrefreshd-again.timer
# Runs with the graphical session, if there is one, and is no part of the daemon.
agent_unit=authrefresh-agent.service
# What hands URI schemes to authctl, once `authctl login --flow scheme` has the desktop do so.
desktop_entry=$data_dir/applications/authctl-callback.desktop

# man(1) finds the pages beside the folder in PATH that the programs are in.
man_dir() { printf '%s' "$prefix/share/man"; }

say() { printf '%s\n' "$*"; }
fail() { # STATUS MESSAGE [HINT]
    printf '%s: error: %s\n' "$program" "$2" >&2
    [[ -z ${3-} ]] || printf '%s: hint: %s\n' "$program" "$3" >&2
    exit "$1"
}

# The folder given with --prefix becomes part of a unit file, where blanks, quotes and "%" would mean something else.
set_prefix() { # DIR
    [[ $1 =~ ^/[A-Za-z0-9._/+@-]+$ ]] ||
        fail 64 "--prefix needs an absolute path of letters, digits and ._/+@-, not \"$1\""
    prefix=${1%/}
}

# The path stands there in full: a desktop starts programs without the shell's PATH. set_prefix keeps it free of what Exec= would
# take for more than itself; a home folder may need quotes. Where none are needed there are none: xdg-utils 1.1.3, on desktops
# that they do not know, take them for a part of the name.
install_desktop_entry() { # FILE
    mkdir -p "${desktop_entry%/*}"
    local text executable=$prefix/bin/authctl
    [[ $executable =~ ^[A-Za-z0-9._/+@-]+$ ]] || executable=\"$executable\"
    text=$(< "$1")
    printf '%s\n' "${text//@bin@\/authctl/$executable}" > "$desktop_entry.new"
    mv -f "$desktop_entry.new" "$desktop_entry"
    say "installed $desktop_entry"
}

# The pages of all our commands, of this version and of those before it.
remove_manual() {
    rm -f "$(man_dir)"/man1/authctl.1 "$(man_dir)"/man1/authctl-*.1 \
        "$(man_dir)"/man1/{authrefreshd,authrefreshctl,authagent,authimport}.1 \
        "$(man_dir)"/man1/{git,docker}-credential-authctl.1 \
        "$(man_dir)"/man5/{authrefreshd,provider-profile}.yaml.5
}

# Finds the user manager also from a shell that came by su or ssh without its variables.
has_user_manager() {
    if [[ -z ${XDG_RUNTIME_DIR-} && -d /run/user/$UID ]]; then
        export XDG_RUNTIME_DIR=/run/user/$UID
    fi
    systemctl --user show-environment > /dev/null 2>&1
}

# is_edited PROFILE   whether the profile of that name is there, and is not what was installed
is_edited() {
    local file=$profile_dir/$1
    [[ -e $file ]] || return 1
    ! grep -qsxF "$(sha256sum < "$file" | cut -d ' ' -f 1)  $1" "$profile_sums"
}
