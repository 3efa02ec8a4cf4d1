internal import Glibc

/// The names under which other tools call this program. They are links to it, and each stands for a command.
enum ToolName {
    /// The command for the name under which the program was called; nil for `authctl` itself, which costs a look at one
    /// byte.
    static var command: String? {
        guard let path = unsafe CommandLine.unsafeArgv[0] else { return nil }
        let name = unsafe strrchr(path, Int32(UInt8(ascii: "/"))).map { unsafe $0 + 1 } ?? path
        guard unsafe name.pointee != CChar(UInt8(ascii: "a")) else { return nil }
        return unsafe command(named: String(cString: name))
    }

    /// The command for a name.
    ///
    /// - Parameter name: a file name without its folder.
    static func command(named name: String) -> String? {
        switch name {
        case "git-credential-authctl": "git-credential"
        case "docker-credential-authctl": "docker-credential"
        case "bazel-credential-authctl": "bazel-credential"
        case "keyring": "keyring-credential"
        default: nil
        }
    }
}
