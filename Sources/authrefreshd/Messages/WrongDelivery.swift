internal import AuthRefreshInterface

/// A setting that cannot be used about who gets an account's tokens, and how.
enum WrongDelivery: RefusedValue {
    case noUnit(String)
    case noPath(String)
    case noExecutable(String)
    /// The file system of an executable on the list.
    case listedHangs(String)
    /// The executable of the one who writes the list.
    case executableHangs
    /// `dropIn` is the file that makes executables visible.
    case executableUnseen(pid: Int32, dropIn: String)
    /// The caller, who is not on the list, and has not said that this is meant.
    case withoutCaller(String)
    case noTokenAddress(String)
    case noUserName
    case noFileName(String)
    case fileOfOtherAccount(file: String, owner: String)
    case unknownFileKind(name: String, known: [String])
    case fileKindWithoutFile(account: String)
    case cannotAskBeforeFile
}

extension WrongDelivery {
    var texts: (field: String, reason: String, hint: String?) {
        switch self {
        case .noUnit(let unit):
            (
                "allowedUnits", "'\(unit)' is not the full name of a service or scope",
                "the name that 'systemctl --user status' shows, which ends in .service or .scope"
            )
        case .noPath(let path): ("allowedExecutables", "'\(path)' is not an absolute path", "command -v NAME")
        case .noExecutable(let path): ("allowedExecutables", "'\(path)' is not an executable file", "command -v NAME")
        case .listedHangs(let path):
            ("allowedExecutables", "the file system of '\(path)' does not answer", "try again later")
        case .executableHangs:
            ("allowedExecutables", "the file system of your own executable does not answer", "try again later")
        case .executableUnseen(let pid, let dropIn):
            (
                "allowedExecutables",
                "the daemon cannot see which executable a caller runs, not even yours (pid \(pid))",
                "allow systemd units instead, or install the drop-in see-executables.conf: "
                    + "mkdir -p ~/.config/systemd/user/authrefreshd.service.d && "
                    + "ln -s \(dropIn) ~/.config/systemd/user/authrefreshd.service.d/ && "
                    + "systemctl --user daemon-reload && systemctl --user restart authrefreshd"
            )
        case .withoutCaller(let caller):
            (
                "withoutCaller", "\(caller), and is not on it",
                "only programs on the list can then get the account's tokens and change the list; if you want that, "
                    + "add --yes"
            )
        case .noTokenAddress(let url):
            (
                "urls", "'\(url)' is not an address that a token may be sent to",
                "https://HOST/PATH, without user name, query and fragment; http on loopback addresses only"
            )
        case .noUserName: ("username", "it is not a user name", "1 to 255 visible characters in one line")
        case .noFileName(let name):
            (
                "tokenFile", "'\(name)' is not a name for a token file",
                "1 to 64 letters, digits and ._@+-, not starting with - or .; the daemon chooses the folder"
            )
        case .fileOfOtherAccount(let file, let owner):
            (
                "tokenFile", "'\(file)' is already the token file of '\(owner)'",
                "--token-file NAME with another name, or authctl account edit \(owner) --clear token-file"
            )
        case .unknownFileKind(let name, let known):
            ("tokenFileKind", "'\(name)' is not a known kind", "known: \(known.joined(separator: ", "))")
        case .fileKindWithoutFile(let account):
            ("tokenFileKind", "'\(account)' has no token file", "--token-file NAME")
        case .cannotAskBeforeFile:
            (
                "confirm", "the daemon cannot ask you when a program reads the account's token file",
                "--clear token-file, or --clear confirm"
            )
        }
    }
}
