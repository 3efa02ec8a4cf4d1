internal import Basics
internal import RefreshCore
internal import Systemd

/// The executable of the program that set up a derived account. It is checked against the list of a source account.
///
/// The program may have ended long ago, and an upgrade may have replaced its file, so paths are compared. Symbolic
/// links are followed only in the list: a link at the place of a program does not make it another program. Following
/// links can block if a file system hangs. So this is done in the request's own task before the request is sent, where
/// it delays nobody else.
struct ListedProgram: Sendable {
    private static let paths = BlockingWork<String, String?>(
        "authrefreshd.listed-programs",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    let source: AccountName
    let allowed: AllowedCallers
    /// The program; nil if it is unknown.
    let program: SeenProgram?

    /// Why the program is refused; nil if it is on the list.
    func refusal() async -> RefreshFailure? {
        var doesAnswer = true
        for path in allowed.executables {
            switch await Self.paths.value(path, { FileIdentity.path(behind: path) }) {
            case .some(let found): if let found, found == program?.executable { return nil }
            case nil: doesAnswer = false
            }
        }
        guard doesAnswer else {
            let flaw = "is for \(allowed) only, whose file system does not answer"
            return RefreshFailure(.unavailable, derivedFrom: source, which: flaw)
        }
        let program = program?.description ?? "an unknown program"
        let flaw = "is for \(allowed) only, but this account was set up by \(program)"
        return RefreshFailure(.misconfigured, derivedFrom: source, which: flaw)
    }
}
