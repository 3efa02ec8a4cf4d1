internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The texts about an account's token file.
enum TokenFileLine {
    /// The file's path and when it was written, as a line with a newline; nil if the account has none.
    static func text(_ status: AccountStatus, _ time: LocalTime) -> String? {
        guard let file = status.tokenFile else { return nil }
        let written = file.writtenAtUSec.map { "written \(time.both($0))" } ?? "not there now"
        return PlainText.line("\(status.account): token file \(file.path), \(written)") + "\n"
    }

    /// Warns that the account's list of allowed callers does not protect the file.
    static func warn(of settings: AccountSettings, by change: AccountSettings) {
        let hasList = settings.hasCallerList
        let isNew = change.tokenFile != nil || change.hasCallerList
        guard hasList, isNew, let file = settings.tokenFile else { return }
        StandardError.warn(
            "every program of yours can read the token file '\(PlainText.line(file))',"
                + " even one that is not on the account's list"
        )
    }
}
