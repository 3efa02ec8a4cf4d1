internal import DemoIssuer

/// Why a show did not reach its end.
enum DemoError: Error, Equatable {
    /// One of our programs is not where it should be.
    case noProgram(path: String)
    /// The temporary folder or a file in it cannot be made.
    case cannotMake(path: String)
    case cannotStart(program: String)
    case cannotWriteOutput
    case issuer(DemoIssuerError)
    /// A step exceeded its time limit.
    case tookTooLong(DemoStep, limit: Duration)
    /// The daemon ended unexpectedly.
    case daemonEnded(ProcessEnd)
    /// The daemon had to be killed, because it did not end in time after SIGTERM.
    case daemonDidNotStop(limit: Duration)
    /// The subscription ended although the daemon is running.
    case subscriptionEnded(FeedEnd)
    /// `authctl` exited with another status than the step expects.
    case commandFailed(command: String, expected: Int32, end: ProcessEnd, errors: String)
    /// The server refused an access token; nil if it did not answer.
    case accessTokenRefused(httpStatus: Int?)
    /// The account needs a person for another reason than the revoked grant, or without a helpful command.
    case wrongReason(oauthError: String?, hint: String?)
    /// The server saw refresh requests that must never be sent.
    case brokenPromise(overlaps: Int, spentTokenUses: Int)
    /// A signal ended the show early.
    case interrupted(signal: Int32)
}

/// A step of the show that has a time limit.
enum DemoStep: Equatable {
    case daemonListens
    case command(String)
    case firstRefresh
    /// One of the refreshes that nobody asks for; `number` counts from 1.
    case silentRefresh(number: Int)
    case resourceAnswers
    case revocationNoticed
    case newGrantUsed
    case refreshOfNewGrant
    case daemonStops

    /// Lower case, no full stop.
    var text: String {
        switch self {
        case .daemonListens: "waiting for authrefreshd to listen"
        case .command(let command): "running '\(command)'"
        case .firstRefresh: "the first refresh"
        case .silentRefresh(let number): "silent refresh \(number)"
        case .resourceAnswers: "asking the protected resource"
        case .revocationNoticed: "interaction required after the revocation"
        case .newGrantUsed: "fresh after the new sign-in"
        case .refreshOfNewGrant: "a silent refresh after the new sign-in"
        case .daemonStops: "waiting for authrefreshd to end"
        }
    }
}

extension DemoError: CustomStringConvertible {
    var description: String {
        switch self {
        case .noProgram(let path): "there is no program '\(path)'"
        case .cannotMake(let path): "cannot make '\(path)'"
        case .cannotStart(let program): "cannot start '\(program)'"
        case .cannotWriteOutput: "cannot write to standard output"
        case .issuer(let error): Self.describe(error)
        case .tookTooLong(let step, let limit): "\(step.text): not done within \(limit.components.seconds) s"
        case .daemonEnded(let end): "authrefreshd ended by itself (\(end))"
        case .daemonDidNotStop(let limit):
            "authrefreshd did not end within \(limit.components.seconds) s of SIGTERM, and was killed"
        case .subscriptionEnded(let end): "the subscription to authrefreshd ended: \(Self.describe(end))"
        case .commandFailed(let command, let expected, let end, let errors):
            "'\(command)' ended with \(end), expected status \(expected)\(errors.isEmpty ? "" : ":\n\(errors)")"
        case .accessTokenRefused(let status):
            "the server refused the access token that authctl gave out (\(status.map { "HTTP \($0)" } ?? "no answer"))"
        case .wrongReason(let oauthError, let hint):
            "the revoked grant was reported with \(oauthError ?? "no reason") and \(hint ?? "no command that helps")"
        case .brokenPromise(let overlaps, let spentTokenUses):
            "the server saw \(overlaps) overlapping refreshes and \(spentTokenUses) uses of spent refresh tokens"
        case .interrupted: "interrupted"
        }
    }

    /// Whether the daemon's log helps to understand the error.
    var isAboutDaemon: Bool {
        switch self {
        case .noProgram, .cannotMake, .cannotStart, .cannotWriteOutput, .issuer, .interrupted: false
        case .tookTooLong, .daemonEnded, .daemonDidNotStop, .subscriptionEnded, .commandFailed, .accessTokenRefused,
            .wrongReason, .brokenPromise:
            true
        }
    }

    /// The exit status: 1, or the shell's number for a signal.
    var exitStatus: Int32 {
        if case .interrupted(let signal) = self { return 128 + signal }
        return 1
    }

    private static func describe(_ end: FeedEnd) -> String {
        switch end {
        case .connection: "the connection was lost"
        case .refused(let name): "authrefreshd answered with the error '\(name)'"
        case .unreadableReply: "the answer cannot be read"
        case .completed: "authrefreshd sends no more changes"
        }
    }

    private static func describe(_ error: DemoIssuerError) -> String {
        switch error {
        case .startedBefore: "the authorization server has already been started"
        case .cannotListen(let port, let errno):
            "cannot listen on 127.0.0.1, port \(port)\(errno == 0 ? "" : " (error \(errno))")"
        case .noSuchClient(let id): "the authorization server does not know the client '\(id)'"
        case .noSuchGrant(let family): "the authorization server has not given the grant \(family)"
        case .noRequest(let limit): "no request came within \(limit.components.seconds) s"
        case .tooManyFaults: "too many faults are scripted"
        }
    }
}
