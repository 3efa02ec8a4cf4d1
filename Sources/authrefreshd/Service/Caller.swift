internal import BlockingWork
internal import RefreshCore
internal import Systemd
internal import Varlink

/// What is known about the caller.
///
/// Looking it up takes some system calls, which may block. So it is done on separate threads, and only if an account
/// needs it. If something is missing, the handler returns without side effects; the service looks it up and calls the
/// handler again.
final class Caller {
    /// The result of looking something up.
    enum Look<Value: Sendable>: Sendable {
        case found(Value)
        /// The process had ended, or there is no such file, or it cannot be accessed.
        case nothing
        /// The file system did not answer in time.
        case hanging

        /// Creates a result.
        ///
        /// - Parameter value: nil if the look-up hangs; a nil inside if it found nothing.
        init(_ value: Value??) {
            self =
                switch value {
                case .none: .hanging
                case .some(.none): .nothing
                case .some(.some(let value)): .found(value)
                }
        }
    }

    /// What was found out so far.
    struct Known: Sendable {
        /// The process; nil if it was not looked up.
        var process: Look<CallingProcess>?
        /// The files of executables on lists, by path.
        var files: [String: Look<FileIdentity>] = [:]
        /// The results of questions to the user.
        var answers: [ConfirmationQuestion: ConfirmationOutcome] = [:]
        /// Whether the folders of the provider profiles were looked at since the call arrived.
        var hasCurrentProfiles = false
    }

    /// What has to be found out.
    enum Missing: Sendable {
        /// The process and these executables.
        case look(executables: [String])
        /// The user's answer.
        case answer(to: ConfirmationQuestion)
    }

    let known: Known
    /// What a method was missing; nil if nothing.
    private(set) var missing: Missing?

    init(_ known: Known = Known()) {
        self.known = known
    }

    /// The calling process and these files; nil if they have to be looked up first.
    func look(at executables: [String] = []) -> (Look<CallingProcess>, files: [String: Look<FileIdentity>])? {
        let unknown = executables.filter { known.files[$0] == nil }
        guard let process = known.process, unknown.isEmpty else {
            missing = .look(executables: unknown)
            return nil
        }
        return (process, known.files)
    }

    /// The user's answer to a question; nil if the user has to be asked first.
    func answer(to question: ConfirmationQuestion) -> ConfirmationOutcome? {
        guard let answer = known.answers[question] else {
            missing = .answer(to: question)
            return nil
        }
        return answer
    }
}

/// Looks up callers on separate threads, because a file system may hang.
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

    /// Finds out what is missing about a caller.
    ///
    /// - Parameter done: called with everything known, on any thread.
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
            // This is the socket's thread, and reading an executable may block.
            callers.run(held.pid, { held.look() }) { [known] look in
                var known = known
                // Another connection of the process may have started this look-up. If the pinned process is alive, it
                // is the same one.
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
        executables.run(path, { FileIdentity(executable: path) }) { identity in
            var known = known
            known.files[path] = Caller.Look(identity)
            run(paths, known, done)
        }
    }
}
