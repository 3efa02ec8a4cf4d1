internal import Basics
internal import Glibc

/// An empty folder for a browser's profile.
///
/// It is never on a disk, and disappears with the login session at the latest.
enum TemporaryProfile {
    private static let prefix = "authctl-browser-"
    /// The lock file in each folder. It is locked while the program that created the folder, or its browser, is
    /// running.
    private static let lock = "authctl.lock"
    /// The suffix of a folder that is being removed.
    private static let removed = ".removed"

    /// Creates a folder.
    ///
    /// - Returns: its path, and the descriptor that its browser has to keep open.
    static func make(in surroundings: Surroundings) throws(Report) -> (path: String, lock: Int32) {
        guard let folder = folder(in: surroundings) else { throw noPlace }
        var path = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
        // mkdtemp(3) creates it with mode 0700.
        guard unsafe mkdtemp(&path) != nil else { throw noPlace }
        let profile = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The descriptor stays open until this program ends, however it ends.
        let descriptor = unsafe open("\(profile)/\(lock)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw noPlace }
        return (profile, descriptor)
    }

    private static let noPlace = Report.noPrivateWindow(
        "XDG_RUNTIME_DIR names no folder for the profile",
        hints: ["use --private alone: it needs no folder"]
    )

    static func remove(_ profile: String, _ surroundings: Surroundings) {
        // Some processes of a browser live longer than its first one. After the renaming, none of them can create
        // anything in the folder.
        let doomed = profile.hasSuffix(removed) ? profile : profile + removed
        if profile != doomed, unsafe rename(profile, doomed) != 0 { return }
        // Files that cannot be removed now are removed when the next page is opened, or with the login session.
        _ = surroundings.run(["rm", "-rf", "--", doomed])
    }

    private static func folder(in surroundings: Surroundings) -> String? {
        surroundings.environment("XDG_RUNTIME_DIR")
    }

    /// Removes folders whose program was killed and whose window is closed, because somebody may still be signed in to
    /// servers there.
    static func removeAbandoned(in surroundings: Surroundings) {
        guard let folder = folder(in: surroundings) else { return }
        for name in folderNames(folder) where name.hasPrefix(prefix) {
            guard !name.hasSuffix(removed) else {
                remove("\(folder)/\(name)", surroundings)
                continue
            }
            let descriptor = unsafe open("\(folder)/\(name)/\(lock)", O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove("\(folder)/\(name)", surroundings) }
            close(descriptor)
        }
    }
}
