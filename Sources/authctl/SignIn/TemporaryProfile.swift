internal import Glibc

/// A folder for a browser's profile that nothing of the user's is in.
///
/// It lies where it never reaches a disk, and is gone with the login session at the latest.
enum TemporaryProfile {
    private static let prefix = "authctl-browser-"
    /// In each folder: locked as long as the program lives that made it, or the browser that it is for.
    private static let lock = "authctl.lock"
    /// Behind the name of one that is to go.
    private static let removed = ".removed"

    /// Makes one.
    ///
    /// - Returns: its path, and the descriptor that its browser has to keep open.
    static func make(in surroundings: Surroundings) throws(PrivateWindowRefusal) -> (path: String, lock: Int32) {
        guard let folder = folder(in: surroundings) else { throw .noPlaceForProfile }
        var path = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
        // mkdtemp(3): mode 0700.
        guard unsafe mkdtemp(&path) != nil else { throw .noPlaceForProfile }
        let profile = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Open until this program ends, however it does.
        let descriptor = unsafe open("\(profile)/\(lock)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .noPlaceForProfile }
        return (profile, descriptor)
    }

    static func remove(_ profile: String, _ surroundings: Surroundings) {
        // A browser's processes do not all end with the first: under its former name none of them makes anything in it again.
        let doomed = profile.hasSuffix(removed) ? profile : profile + removed
        if profile != doomed, unsafe rename(profile, doomed) != 0 { return }
        // What cannot be removed now is removed when the next page is opened, or with the login session.
        _ = surroundings.run(["rm", "-rf", "--", doomed])
    }

    private static func folder(in surroundings: Surroundings) -> String? {
        surroundings.environment("XDG_RUNTIME_DIR")
    }

    /// Removes those whose program was killed and whose window is closed: somebody may be signed in at servers there.
    static func removeAbandoned(in surroundings: Surroundings) {
        guard let folder = folder(in: surroundings), let listing = unsafe opendir(folder) else { return }
        defer { unsafe closedir(listing) }
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix) else { continue }
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
