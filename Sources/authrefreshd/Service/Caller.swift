internal import Basics
internal import RefreshCore
internal import Systemd
internal import Varlink

/// What is known about a caller.
///
/// Looking it up takes some system calls, which may block. So it is done on separate threads, before the call is answered,
/// and only if `RefreshCoordinator.admit` says that something is missing.
struct Caller: Sendable {
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

    /// What has to be found out before a call can be answered.
    enum Missing: Hashable, Sendable {
        /// The process and these executables.
        case look(executables: [String])
        /// The user's answer.
        case answer(to: ConfirmationQuestion)
    }

    /// The process; nil if it was not looked up.
    var process: Look<PeerProcess>?
    /// The files of executables on lists, by path.
    var files: [String: Look<FileIdentity>] = [:]
    /// The results of questions to the user.
    var answers: [ConfirmationQuestion: ConfirmationOutcome] = [:]
    /// Whether its call changes nothing, so that the user need not agree.
    var asksNobody = false

    /// What has to be looked up for a judgement about this process and these executables; nil if nothing.
    func missing(_ executables: [String] = []) -> Missing? {
        let unknown = executables.filter { files[$0] == nil }
        return process == nil || !unknown.isEmpty ? .look(executables: unknown) : nil
    }
}

/// Looking up, on separate threads, because a file system may hang.
extension Caller {
    private static let callers = BlockingWork<Int32, PeerProcess?>(
        "authrefreshd.callers",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )
    private static let executables = BlockingWork<String, FileIdentity?>(
        "authrefreshd.executables",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    /// Finds out what is missing about the caller.
    ///
    /// - Parameter done: called with everything known, on any thread.
    func lookUp(_ paths: [String], of responder: VarlinkResponder, _ done: @escaping @Sendable (Caller) -> Void) {
        guard process == nil else { return lookUp(paths, done) }
        responder.withSocket { socket in
            var known = self
            let held = socket.flatMap {
                HeldProcess(socket: $0, pid: responder.peer.pid, connectedAt: responder.acceptedAt)
            }
            guard let held else {
                known.process = .nothing
                return known.lookUp(paths, done)
            }
            // This is the socket's thread, and reading an executable may block.
            Self.callers.run(held.pid, { held.look() }) { [known] look in
                var known = known
                // Another connection of the process may have started this look-up. If the pinned process is alive, it
                // is the same one.
                known.process = Look(look.map { held.isAlive ? $0 : nil })
                known.lookUp(paths, done)
            }
        }
    }

    private func lookUp(_ paths: [String], _ done: @escaping @Sendable (Caller) -> Void) {
        guard let path = paths.first(where: { files[$0] == nil }) else { return done(self) }
        Self.executables.run(path, { FileIdentity(executable: path) }) { identity in
            var known = self
            known.files[path] = Look(identity)
            known.lookUp(paths, done)
        }
    }
}
