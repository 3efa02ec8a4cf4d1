internal import AuthRefreshInterface

/// A list of allowed callers that this program sets.
enum CallerList {
    /// Makes a call that may set a list. If this program is not on the list, the person at the terminal decides.
    ///
    /// - Parameters:
    ///   - yes: whether the person has decided already, with `--yes`.
    ///   - call: makes the call with this value of `withoutCaller`.
    /// - Throws: `cancelled` if the person says no; what `call` throws.
    static func set<Reply>(
        yes: Bool,
        _ call: (Bool?) throws(Report) -> Reply
    ) throws(Report) -> Reply {
        do throws(Report) {
            return try call(yes ? true : nil)
        } catch {
            guard error.isAboutMissingCaller, Question.canBeAsked else { throw error }
            guard try Question.confirm("You are not on this list, so you would get no more tokens. Set it?") else {
                throw .cancelled
            }
            return try call(true)
        }
    }
}

extension AccountSettings {
    /// Whether they have a list of allowed callers.
    var hasCallerList: Bool { allowedUnits != nil || allowedExecutables != nil }
}

extension Report {
    fileprivate var isAboutMissingCaller: Bool {
        reply?.decode(InvalidSettingsError.self)?.field == "withoutCaller"
    }
}
