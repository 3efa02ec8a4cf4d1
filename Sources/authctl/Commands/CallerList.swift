internal import AuthRefreshInterface
internal import Basics

extension DaemonConnection {
    /// Makes a call that may set a list of allowed callers. If this program is not on the list, the person at the
    /// terminal decides.
    ///
    /// - Parameters:
    ///   - withoutCaller: the member of the call that permits such a list.
    ///   - isMeant: whether the person has permitted it already, with `--yes`.
    /// - Throws: `cancelled` if the person says no; what `ask` throws.
    mutating func ask<Call: CallParameters>(
        _ call: Call,
        settingList withoutCaller: WritableKeyPath<Call, Bool?>,
        isMeant: Bool,
        patience: Int32,
        waitingFor awaited: String = "the daemon"
    ) throws(Report) -> Call.Reply {
        var call = call
        call[keyPath: withoutCaller] = isMeant ? true : nil
        do throws(Report) {
            return try ask(call, patience: patience, waitingFor: awaited)
        } catch {
            let isAboutCaller = error.reply?.decode(InvalidSettingsError.self)?.field == "withoutCaller"
            guard isAboutCaller, Question.canBeAsked else { throw error }
            guard try Question.confirm("You are not on this list, so you would get no more tokens. Set it?") else {
                throw .cancelled
            }
            call[keyPath: withoutCaller] = true
            return try ask(call, patience: patience, waitingFor: awaited)
        }
    }
}

extension AccountSettings {
    /// Whether they have a list of allowed callers.
    var hasCallerList: Bool { allowedUnits != nil || allowedExecutables != nil }

    /// Warns that the account's list of allowed callers does not protect its token file.
    ///
    /// - Parameter change: what the person has just set.
    func warnOfTokenFile(by change: AccountSettings) {
        let isNew = change.tokenFile != nil || change.hasCallerList
        guard hasCallerList, isNew, let tokenFile else { return }
        StandardError.warn(
            "every program of yours can read the token file '\(PlainText.line(tokenFile))',"
                + " even one that is not on the account's list"
        )
    }
}
