internal import Glibc

/// Why a file cannot be used.
package enum FileError: Error, Hashable, Sendable {
    /// The system call failed with this `errno`.
    case failed(errno: Int32)
    /// A folder, a device, a FIFO or a socket.
    case notRegular
    /// The open store.
    case ofTheStore
    case tooLarge
    /// The folder is a symbolic link, or another user's, or no folder.
    case notOurFolder
    /// The folder has files, and was not made by a daemon.
    case folderOfOthers
    /// The file system does not answer.
    case hangs

    /// The error of this thread's last system call.
    package static var last: FileError { .failed(errno: errno) }

    /// The `errno` that comes nearest.
    package var code: Int32 {
        switch self {
        case .failed(let code): code
        case .notRegular: EINVAL
        case .ofTheStore: EBUSY
        case .tooLarge: EFBIG
        case .notOurFolder: ENOTDIR
        case .folderOfOthers: ENOTEMPTY
        case .hangs: ETIMEDOUT
        }
    }
}

extension FileError: CustomStringConvertible {
    /// The reason, to complete a sentence about the file.
    package var description: String {
        switch self {
        case .failed(let code): unsafe String(cString: strerror(code))
        case .notRegular: "it is not a regular file"
        case .ofTheStore: "it is the daemon's own store"
        case .tooLarge: "it is too large"
        case .notOurFolder: "its folder is a symbolic link, or another user's, or no folder"
        case .folderOfOthers: "its folder has files that are not the daemon's"
        case .hangs: "its file system does not answer"
        }
    }
}
