internal import Basics
internal import Glibc

/// A symbolic link to a token file at a place where a program expects it. The user's service manager creates it at each
/// log-in (tmpfiles.d(5)).
struct TokenFileLink {
    let account: String
    /// The path of the link, absolute.
    let path: String
    /// The path of the token file, absolute.
    let target: String
    let environment: (String) -> String?

    private static let mark = "# Made by 'authctl account link-token-file'."

    /// The settings file in the folder that the user's service manager reads.
    var settings: String {
        get throws(Report) {
            let home = environment("HOME").map { $0 + "/.config" }
            guard let folder = environment("XDG_CONFIG_HOME").flatMap({ $0.hasPrefix("/") ? $0 : nil }) ?? home else {
                throw .usage("the home folder is unknown: 'HOME' is not set", hint: "set HOME")
            }
            return folder + "/user-tmpfiles.d/authrefresh-\(account).conf"
        }
    }

    /// Creates the link now and for each log-in.
    ///
    /// - Throws: `cannotCreateFile` if there is something else at its path, or at that of the settings file.
    func make() throws(Report) {
        let settings = try settings
        try checkIsOurs(settings)
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

    /// Removes the link and its settings file, if they are ours.
    ///
    /// - Throws: `cannotCreateFile` for the one that is not ours.
    func remove() throws(Report) {
        let settings = try settings
        try checkIsOurs(settings)
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
        if let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/"), path.hasPrefix(folder + "/") {
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
