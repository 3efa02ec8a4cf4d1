# shellcheck shell=bash
# Where `install` puts files and `uninstall` finds them again. Both scripts source this file, and so do the tests.
# shellcheck disable=SC2034  # used by the scripts that source this

# Without this, bash 5.2 replaces a "&" in the name of a folder with the matched text.
shopt -u patsub_replacement 2> /dev/null || :

# With the umask of a careless shell, others could change the units and the desktop entry, and so start programs as this user. With a
# strict one, they could not run what root installs.
umask 022

source_dir=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
program=${0##*/}
# Without HOME, as in some containers, "~" is the folder that the user database has.
[[ -n ${HOME-} ]] || { unset HOME && export HOME=~; }
default_prefix=$HOME/.local
prefix=$default_prefix
unit_dir=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
drop_in_dir=$unit_dir/authrefreshd.service.d
config_file=${XDG_CONFIG_HOME:-$HOME/.config}/authrefreshd/authrefreshd.yaml
profile_dir=${XDG_DATA_HOME:-$HOME/.local/share}/authrefreshd/providers.d
# The checksums of the installed profiles, for sha256sum. A profile that differs was edited.
profile_sums=$profile_dir/.installed
# Not in /usr/lib, which belongs to the distribution's packages.
catalog=/usr/local/lib/systemd/catalog/authrefreshd.catalog
packaged_catalog=/usr/lib/systemd/catalog/authrefreshd.catalog
# The second name of authctl, for a shell that finds another project's authctl first.
second_name=authrefreshctl
data_dir=${XDG_DATA_HOME:-$HOME/.local/share}
units=(authrefreshd.service authrefreshd.socket)
# A drop-in that users put in force themselves. Its comments say what it costs.
see_executables=$data_dir/authrefreshd/see-executables.conf
# Opens the socket again after it has failed. It is not enabled; the socket unit starts it.
again_unit=authrefreshd-again.timer
# Runs with the graphical session, if there is one. It is not part of the daemon.
agent_unit=authrefresh-agent.service
# The entry that passes URI schemes to authctl, after `authctl login --flow scheme` has registered it with the desktop.
desktop_entry=$data_dir/applications/authctl-callback.desktop

# man(1) finds the pages beside the folder in PATH that the programs are in.
man_dir() { printf '%s' "$prefix/share/man"; }

say() { printf '%s\n' "$*"; }
is_reported=no
fail() { # STATUS MESSAGE [HINT]
    is_reported=yes
    printf '%s: error: %s\n' "$program" "$2" >&2
    [[ -z ${3-} ]] || printf '%s: hint: %s\n' "$program" "$3" >&2
    exit "$1"
}

# The folder given with --prefix becomes part of a unit file. There, blanks, quotes and "%" have another meaning.
set_prefix() { # DIR
    [[ $1 =~ ^/[A-Za-z0-9._/+@-]+$ ]] ||
        fail 64 "--prefix needs an absolute path of letters, digits and ._/+@-, not \"$1\""
    prefix=${1%/}
}

# The entry has the full path, because a desktop starts programs without the shell's PATH. set_prefix rejects characters with a meaning in
# Exec=. A home folder may need quotes. The entry has quotes only if they are needed: on desktops that it does not know, xdg-utils 1.1.3
# takes them as a part of the name.
install_desktop_entry() { # FILE
    mkdir -p "${desktop_entry%/*}"
    local text executable=$prefix/bin/authctl
    [[ $executable =~ ^[A-Za-z0-9._/+@-]+$ ]] || executable=\"$executable\"
    text=$(< "$1")
    printf '%s\n' "${text//@bin@\/authctl/$executable}" > "$desktop_entry.new"
    mv -f "$desktop_entry.new" "$desktop_entry"
    say "installed $desktop_entry"
}

# The manual pages of all our commands, of this version and of earlier ones.
remove_manual() {
    rm -f "$(man_dir)"/man1/authctl.1 "$(man_dir)"/man1/authctl-*.1 \
        "$(man_dir)"/man1/{authrefreshd,authrefreshctl,authagent,authimport}.1 \
        "$(man_dir)"/man1/{git,docker}-credential-authctl.1 \
        "$(man_dir)"/man5/{authrefreshd,provider-profile}.yaml.5
}

# Finds the user manager even from a shell that su or ssh started without its variables.
has_user_manager() {
    if [[ -z ${XDG_RUNTIME_DIR-} && -d /run/user/$UID ]]; then
        export XDG_RUNTIME_DIR=/run/user/$UID
    fi
    systemctl --user show-environment > /dev/null 2>&1
}

# manager_variable NAME   the value in the user manager, or nothing. systemd quotes a value that has blanks or other special characters.
manager_variable() {
    local value
    value=$(systemctl --user show-environment | sed -n "s/^$1=//p")
    [[ ! $value =~ ^\$\'([^\'\\]|\\.)*\'$ ]] || eval "value=$value"
    printf '%s' "$value"
}

# is_edited PROFILE   whether the profile of that name is there, and is not what was installed
is_edited() {
    local file=$profile_dir/$1
    [[ -e $file ]] || return 1
    ! grep -qsxF "$(sha256sum < "$file" | cut -d ' ' -f 1)  $1" "$profile_sums"
}
