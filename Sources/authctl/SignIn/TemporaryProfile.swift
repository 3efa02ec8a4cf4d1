internal import Glibc

/// A folder for a browser's profile that nothing of the user's is in.
enum TemporaryProfile {
    /// Makes it where it never reaches a disk, and is gone with the login session at the latest: the browser may outlive this program,
    /// so nobody here can tell when it is done with.
    static func make(in surroundings: Surroundings) throws(PrivateWindowRefusal) -> String {
        guard let folder = surroundings.environment("XDG_RUNTIME_DIR") else { throw .noPlaceForProfile }
        var path = Array("\(folder)/authctl-browser-XXXXXX".utf8CString)
        // mkdtemp(3): mode 0700.
        guard unsafe mkdtemp(&path) != nil else { throw .noPlaceForProfile }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
