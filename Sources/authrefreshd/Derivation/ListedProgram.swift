internal import BlockingWork
internal import RefreshCore
internal import Systemd

/// The executable of a program that set up a derived account, held against the list of an account that the token is derived from.
///
/// The program may have ended long ago, and an upgrade may have replaced its file, so executables are compared by their paths. Symbolic
/// links count in the list only: one in the place of a program makes it no other program. Following them may block for as long as a file
/// system does, so it is done by the request, before it is sent, where it holds up nobody else.
struct ListedProgram: Sendable {
    private static let paths = BlockingWork<String, String?>(
        "authrefreshd.listed-programs",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    let source: AccountName
    let allowed: AllowedCallers
    /// Nil if nobody knows what it was.
    let program: SeenProgram?

    /// Nil if the program is on the list.
    func refusal() async -> RefreshFailure? {
        var doesAnswer = true
        for path in allowed.executables {
            switch await Self.paths.value(path, { FileIdentity.path(behind: path) }) {
            case .some(let found): if let found, found == program?.executable { return nil }
            case nil: doesAnswer = false
            }
        }
        guard doesAnswer else {
            return RefreshFailure(.unavailable, source, "is for \(allowed) only, whose file system does not answer")
        }
        let maker = program?.description ?? "an unknown program"
        return RefreshFailure(.misconfigured, source, "is for \(allowed) only, and this one was set up by \(maker)")
    }
}
