internal import Basics
internal import Glibc

/// The arguments of this process.
enum ProgramArguments {
    /// All arguments without the program's name. Invalid UTF-8 is repaired, as in `CommandLine.arguments`.
    ///
    /// `CommandLine.arguments` itself is not used, because it makes the Swift runtime build the type of its array. That
    /// takes a tenth of the time of the whole hot path.
    static var all: [String] {
        let count = max(0, Int(CommandLine.argc) - 1)
        // For an array that grows, the type would be built as well.
        return unsafe [String](unsafeUninitializedCapacity: count) { place, filled in
            while filled < count, let argument = unsafe CommandLine.unsafeArgv[filled + 1] {
                unsafe place.initializeElement(at: filled, to: String(cString: argument))
                filled += 1
            }
        }
    }

    /// The command for the name under which another tool called this program, by a link to it; nil for `authctl` itself,
    /// which costs a look at one byte.
    static var toolCommand: String? {
        guard let path = unsafe CommandLine.unsafeArgv[0] else { return nil }
        let name = unsafe strrchr(path, Int32(UInt8(ascii: "/"))).map { unsafe $0 + 1 } ?? path
        guard unsafe name.pointee != CChar(UInt8(ascii: "a")) else { return nil }
        return unsafe command(named: String(cString: name))
    }

    /// - Parameter name: a file name without its folder.
    private static func command(named name: String) -> String? {
        switch name {
        case "git-credential-authctl": "git-credential"
        case "docker-credential-authctl": "docker-credential"
        case "bazel-credential-authctl": "bazel-credential"
        case "keyring": "keyring-credential"
        default: nil
        }
    }

    /// Overwrites the arguments, which every user of this machine can read (proc(5)), before this program waits.
    ///
    /// A desktop entry can pass an address only as an argument, so whoever called us has already shown it for a moment.
    static func wipe() {
        // Later code looks this up in the arguments.
        _ = StandardError.isJSON
        for index in 1..<Int(CommandLine.argc) {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return }
            unsafe memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
        }
    }
}

extension Report {
    /// A secret was typed as an argument.
    ///
    /// - Parameter option: the option's name without its value.
    static func secretAsArgument(_ option: String) -> Report {
        let hint: Hint =
            switch option {
            case "--client-secret": "--client-secret-file FILE, or '-' to be asked"
            case "--refresh-token": "--refresh-token-file FILE, or '-' to be asked"
            default: "--client-secret-file and --refresh-token-file take a file, or '-' to be asked"
            }
        return Report(
            status: .usage,
            name: "authctl.SecretAsArgument",
            message: "'\(option)' would show a secret to every process on this machine",
            hints: [hint, "if you typed a secret, replace it: others may have read it, and your shell has kept it"]
        )
    }
}
