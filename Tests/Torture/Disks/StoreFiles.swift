internal import AccountStorage
internal import Foundation
internal import TestSupport

/// A folder for one store at a time. Its files are written there as a disk holds them.
struct StoreFiles {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    var store: String { "\(folder.path)/\(AccountStore.fileName)" }

    /// Removes all files.
    func clear() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        }
    }

    /// Replaces the files in the folder by these.
    func put(_ contents: [String: [UInt8]]) throws {
        try clear()
        for (path, bytes) in contents {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }
    }

    /// Opens the store as the daemon does at its start.
    func open() throws -> AccountStore {
        try AccountStore(path: store, keys: Sample.keys)
    }
}
