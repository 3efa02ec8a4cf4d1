import Basics
import Crypto
import Foundation
import Glibc

/// Remembers which stores there were since the machine was started or the user logged in.
///
/// If a store is missing that the last daemon had, its file system is not mounted, or a mount covers its folder. A new
/// store in its place would look as if all accounts were gone. The memory is a folder outside of the store's folder, in
/// `$XDG_RUNTIME_DIR`: that is no part of the home folder, and the only such place that the service may write. It is
/// empty after a restart of the machine.
package struct StoreMemory: Sendable {
    /// Where the notes are.
    let folder: String

    package init(folder: String) {
        self.folder = folder
    }

    /// The path of the note about the store at `path`; nil if there is none.
    func record(of path: String) -> String? {
        let note = note(of: path)
        return NamedFile.Identity(at: note) == nil ? nil : note
    }

    /// Notes that there is a store at `path`. If that is impossible, the store is used all the same.
    func remember(_ path: String) {
        guard record(of: path) == nil else { return }
        if NamedFile.Identity(at: folder) == nil { try? PosixFile.createFolder(folder) }
        try? PosixFile.create(note(of: path))
    }

    /// Several daemons may share the folder, and a path may be longer than a name.
    private func note(of path: String) -> String {
        let digest = SHA256.hash(data: Data(path.utf8)).prefix(8)
        let digits = digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        return folder + "/had-store-" + digits
    }
}
