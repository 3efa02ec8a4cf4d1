internal import ArgumentParser
internal import Glibc

/// The program: arguments in, exit status out.
enum Authctl {
    /// The version of this program; the daemon's own is in the reply of `GetInfo`.
    static let version = "0.1.0"

    /// - Parameter arguments: without the program's name.
    static func run(_ arguments: [String]) -> ExitStatus {
        forbidCoreDumps()
        do throws(AuthctlError) {
            if let request = TokenArguments.parse(arguments) {
                try StandardOutput.write(request.answer())
            } else {
                try runParsed(arguments)
            }
            return .success
        } catch {
            let report = error.report
            StandardError.write(report.text)
            return report.status
        }
    }

    private static func runParsed(_ arguments: [String]) throws(AuthctlError) {
        let arguments = adoptLeadingSocket(arguments)
        try ArgumentCheck.check(arguments)
        var command: any ParsableCommand
        do {
            command = try AuthctlCommand.parseAsRoot(arguments)
        } catch {
            return try ParserReport.end(with: error, arguments: arguments)
        }
        do {
            try command.run()
        } catch let error as AuthctlError {
            throw error
        } catch {
            // A command without work of its own asks for its help text.
            try ParserReport.end(with: error, arguments: arguments)
        }
    }

    /// Lets `--socket PATH` stand before the command too, where people expect an option that belongs to all commands.
    private static func adoptLeadingSocket(_ arguments: [String]) -> [String] {
        let prefix = "--socket="
        if arguments.count >= 2, arguments[0] == "--socket", !arguments[1].isEmpty {
            unsafe setenv("AUTHREFRESH_SOCKET", arguments[1], 1)
            return Array(arguments.dropFirst(2))
        }
        if let first = arguments.first, first.hasPrefix(prefix), first != prefix {
            unsafe setenv("AUTHREFRESH_SOCKET", String(first.dropFirst(prefix.count)), 1)
            return Array(arguments.dropFirst())
        }
        return arguments
    }

    /// Tokens pass through this process's memory; a crash must not leave them on disk.
    private static func forbidCoreDumps() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
