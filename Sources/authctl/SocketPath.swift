internal import AuthRefreshInterface
internal import Basics

extension SocketPath {
    /// The first that is set: `--socket`, `AUTHREFRESH_SOCKET`, the user's runtime directory.
    ///
    /// - Throws: `usage` if the option is not a path.
    static func resolve(option: String?) throws(Report) -> String {
        guard let option else { return usual }
        guard !option.isEmpty, !option.utf8.contains(0) else {
            throw .usage("'--socket' needs a path", hint: "see '\(Command("--help"))'")
        }
        return option
    }
}
