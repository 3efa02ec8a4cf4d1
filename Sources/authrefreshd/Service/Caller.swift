internal import BlockingWork
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Who calls, as far as that is known. Finding it out costs some system calls, which may block; so it is done on threads of its own when an
/// account asks for it. A method that needs to know more returns, before anything has been done, and the call is answered anew.
final class Caller {
    /// What came of looking at something.
    enum Look<Value: Sendable>: Sendable {
        case found(Value)
        /// The process had ended, or there is no such file that can be seen.
        case nothing
        /// The file system did not answer in time.
        case hanging

        /// - Parameter value: nil if it hangs, and if nothing was found nil inside.
        init(_ value: Value??) {
            self =
                switch value {
                case .none: .hanging
                case .some(.none): .nothing
                case .some(.some(let value)): .found(value)
                }
        }
    }

    /// What was found out until now.
    struct Known: Sendable {
        /// Nil if it was not looked at.
        var process: Look<CallingProcess>?
        /// The files of executables on lists, by their paths.
        var files: [String: Look<FileIdentity>] = [:]
        /// What became of the questions to the user, by their accounts.
        var answers: [AccountName: ConfirmationOutcome] = [:]
    }

    /// What has to be found out.
    enum Missing: Sendable {
        /// The process, and these executables.
        case look(executables: [String])
        /// What the user says.
        case answer(to: ConfirmationQuestion)
    }

    let known: Known
    /// What a method has missed; nil if nothing.
    private(set) var missing: Missing?

    init(_ known: Known = Known()) {
        self.known = known
    }

    /// The process that calls, and these files; nil if they have to be looked at first.
    func look(at executables: [String] = []) -> (Look<CallingProcess>, files: [String: Look<FileIdentity>])? {
        let unknown = executables.filter { known.files[$0] == nil }
        guard let process = known.process, unknown.isEmpty else {
            missing = .look(executables: unknown)
            return nil
        }
        return (process, known.files)
    }

    /// What the user says to a question; nil if they have to be asked first.
    func answer(to question: ConfirmationQuestion) -> ConfirmationOutcome? {
        guard let answer = known.answers[question.account] else {
            missing = .answer(to: question)
            return nil
        }
        return answer
    }
}

/// Finds out who calls, on threads of its own: a file system may not answer.
enum CallerLookUp {
    private static let callers = BlockingWork<Int32, CallingProcess?>(
        "authrefreshd.callers",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )
    private static let executables = BlockingWork<String, FileIdentity?>(
        "authrefreshd.executables",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    /// Finds out what is missing of a caller.
    ///
    /// - Parameter done: told everything that is known then, on any thread.
    static func run(
        _ executables: [String],
        _ known: Caller.Known,
        of responder: VarlinkResponder,
        _ done: @escaping @Sendable (Caller.Known) -> Void
    ) {
        guard known.process == nil else { return run(executables, known, done) }
        responder.withSocket { socket in
            var known = known
            let held = socket.flatMap {
                HeldProcess(socket: $0, pid: responder.peer.pid, connectedAt: responder.acceptedAt)
            }
            guard let held else {
                known.process = .nothing
                return run(executables, known, done)
            }
            // This is the socket's thread: looking at an executable may block.
            callers.run(held.pid, { held.look() }) { [known] look in
                var known = known
                // Another connection of the process may have had it looked up. It is the same process if this one lives.
                let process: CallingProcess?? = look.map { held.isAlive ? $0 : nil }
                known.process = Caller.Look(process)
                run(executables, known, done)
            }
        }
    }

    private static func run(
        _ paths: [String],
        _ known: Caller.Known,
        _ done: @escaping @Sendable (Caller.Known) -> Void
    ) {
        guard let path = paths.first(where: { known.files[$0] == nil }) else { return done(known) }
        executables.run(path, { FileIdentity(path: path) }) { identity in
            var known = known
            known.files[path] = Caller.Look(identity)
            run(paths, known, done)
        }
    }
}
