internal import Glibc

extension TokenFolder.Fault: CustomStringConvertible {
    /// The reason, to complete a sentence about the file.
    var description: String {
        switch self {
        case .failed(let number): unsafe String(cString: strerror(number))
        case .notOurs: "its folder is a symbolic link, or another user's, or no folder"
        case .unmarked: "its folder has files that are not the daemon's"
        case .hangs: "its file system does not answer"
        }
    }
}
