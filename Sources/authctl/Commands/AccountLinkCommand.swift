internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// `authctl account link-token-file`: a symbolic link to a token file at a place where a program expects it. The user's
/// service manager creates it at each log-in (tmpfiles.d(5)).
struct AccountLinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link-token-file",
        abstract: "Make a link to an account's token file where a program looks for one.",
        discussion: """
            Examples:

              \(InvokedAs.here) account link-token-file work $XDG_RUNTIME_DIR/bt_u$(id -u)
              \(InvokedAs.here) account link-token-file work $XDG_RUNTIME_DIR/bt_u$(id -u) --remove

            The account needs a token file: '\(InvokedAs.here) account edit ACCOUNT --token-file'. The command makes the \
            link now, and writes settings to ~/.config/user-tmpfiles.d that make it at each log-in. It replaces \
            nothing that exists already. --remove removes the link and the settings.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Argument(help: "Where to make the link: an absolute path.", completion: .file())
    var path: String

    @Flag(help: "Remove the link and its settings.")
    var remove = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .usage("the link's path must be absolute, on one line", hint: "begin the path with '/'")
        }
        var daemon = try connection.connect()
        guard let file = try daemon.allStatuses(accounts: [account]).first?.tokenFile else {
            throw .usage(
                "'\(PlainText.line(account))' has no token file",
                hint: "\(Command("account", "edit", PlainText.line(account), "--token-file"))"
            )
        }
        let settings = try settings
        try checkIsOurs(settings)
        if remove { try unmake(to: file.path, settings) } else { try make(to: file.path, settings) }
        let answer = ["path": path, "target": file.path, "settings": settings]
        let text = remove ? "removed '\(path)'\n" : "'\(path)' leads to '\(file.path)', now and after each log-in\n"
        try output.print(answer, or: text)
    }

    private static let mark = "# Made by 'authctl account link-token-file'."

    /// The settings file in the folder that the user's service manager reads.
    private var settings: String {
        get throws(Report) {
            let home = environmentValue("HOME").map { $0 + "/.config" }
            guard let folder = environmentValue("XDG_CONFIG_HOME").flatMap({ $0.hasPrefix("/") ? $0 : nil }) ?? home
            else {
                throw .usage("the home folder is unknown: 'HOME' is not set", hint: "set HOME")
            }
            return folder + "/user-tmpfiles.d/authrefresh-\(account).conf"
        }
    }

    /// Creates the link now and for each log-in.
    ///
    /// - Throws: `cannotCreateFile` if there is something else at its path.
    private func make(to target: String, _ settings: String) throws(Report) {
        if unsafe symlink(target, path) != 0 {
            let number = errno
            guard number == EEXIST, OutputFile.target(ofLink: path) == target else {
                throw .cannotCreateFile(path: path, errno: number)
            }
        }
        makeFolders(of: settings)
        try OutputFile.write(
            "\(Self.mark) It makes the link at each log-in.\nL \"\(field(path))\" - - - - \(field(target))\n",
            to: settings
        )
    }

    /// Removes the link, if it is ours, and its settings file.
    ///
    /// - Throws: `cannotCreateFile` if the link is not ours.
    private func unmake(to target: String, _ settings: String) throws(Report) {
        if let destination = OutputFile.target(ofLink: path) {
            guard destination == target else { throw .cannotCreateFile(path: path, errno: EEXIST) }
            guard unsafe unlink(path) == 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        }
        guard unsafe unlink(settings) == 0 || errno == ENOENT else {
            throw .cannotCreateFile(path: settings, errno: errno)
        }
    }

    private func checkIsOurs(_ settings: String) throws(Report) {
        guard let file = unsafe fopen(settings, "re") else {
            guard errno == ENOENT else { throw .cannotCreateFile(path: settings, errno: errno) }
            return
        }
        defer { unsafe fclose(file) }
        var start = [UInt8](repeating: 0, count: Self.mark.utf8.count)
        let count = unsafe fread(&start, 1, start.count, file)
        guard start[..<count].elementsEqual(Self.mark.utf8) else {
            throw .cannotCreateFile(path: settings, errno: EEXIST)
        }
    }

    private func makeFolders(of file: String) {
        let parts = file.split(separator: "/").dropLast()
        for end in parts.indices {
            unsafe mkdir("/" + parts[...end].joined(separator: "/"), 0o700)
        }
    }

    /// A path as a field of tmpfiles.d. The runtime folder is written as a specifier, because its path may differ after
    /// the next boot.
    private func field(_ path: String) -> String {
        var (text, rest) = ("", path[...])
        if let folder = environmentValue("XDG_RUNTIME_DIR"), folder.hasPrefix("/"), path.hasPrefix(folder + "/") {
            text = "%t"
            rest = path.dropFirst(folder.count)
        }
        for character in rest {
            switch character {
            case "%": text += "%%"
            case "\\", "\"": text += "\\\(character)"
            default: text.append(character)
            }
        }
        return text
    }
}
