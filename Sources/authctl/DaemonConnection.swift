internal import AuthRefreshInterface
internal import FoundationEssentials
internal import Glibc
internal import VarlinkClient

/// A connection to the daemon that speaks in the interface's wire types.
struct DaemonConnection: ~Copyable {
    /// Seconds for an answer that needs no authorization server. Generous: the first call may start the daemon.
    static let patience: Int32 = 30
    /// Seconds for an answer that waits for a refresh. Above the daemon's own limit of 40, whose error says more than ours.
    static let refreshPatience: Int32 = 60

    /// Seconds after which a person at a terminal is told what is waited for.
    private static let quiet: Int32 = 2

    /// For the methods of this type only.
    var connection: VarlinkConnection
    private let path: String

    /// - Parameter socket: the value of `--socket`, if given.
    init(socket: String?) throws(AuthctlError) {
        let path = try SocketPath.resolve(option: socket)
        do throws(VarlinkClientError) {
            connection = try VarlinkConnection(path: path)
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
        self.path = path
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Throws: `refused` with the daemon's error; anything about the connection.
    mutating func ask<Reply: Decodable>(
        _ method: Method,
        _ parameters: some Encodable,
        for type: Reply.Type,
        patience: Int32 = Self.patience
    ) throws(AuthctlError) -> Reply {
        let answer = try ask(method, json: WireText.encode(parameters), patience: patience)
        return try WireText.decode(type, from: answer)
    }

    /// Calls a method with parameters in JSON; needs neither Codable nor Foundation.
    ///
    /// A daemon that is being restarted hangs up on the calls that it cannot serve any more. It accepts no others by then: the
    /// next one waits in the socket for its successor, which is asked, once, if no harm can come of asking twice.
    ///
    /// - Parameter silence: called when the answer has not come within two seconds.
    mutating func ask(
        _ method: Method,
        json: String,
        patience: Int32,
        onSilence silence: (() -> Void)? = nil
    ) throws(AuthctlError) -> JSONText {
        let start = Self.clock
        let reply: VarlinkConnection.Reply
        do throws(ConnectionError) {
            reply = try call(method, json, patience, onSilence: silence)
        } catch .ended where Self.harmless.contains(method) {
            reply = try askSuccessor(method, json, patience - (Self.clock - start))
        } catch {
            throw .connection(error)
        }
        return try Self.parameters(of: reply)
    }

    private mutating func askSuccessor(
        _ method: Method,
        _ json: String,
        _ patience: Int32
    ) throws(AuthctlError) -> VarlinkConnection.Reply {
        do throws(ConnectionError) {
            do throws(VarlinkClientError) {
                connection = try VarlinkConnection(path: path)
            } catch {
                throw ConnectionError(error, patience: 0)
            }
            return try call(method, json, max(patience, 1))
        } catch {
            throw .connection(.endedAndThen(error))
        }
    }

    private mutating func call(
        _ method: Method,
        _ json: String,
        _ patience: Int32,
        onSilence silence: (() -> Void)? = nil
    ) throws(ConnectionError) -> VarlinkConnection.Reply {
        do throws(VarlinkClientError) {
            if let silence, patience > Self.quiet {
                try connection.send(method.rawValue, parameters: json, mode: .one)
                do throws(VarlinkClientError) {
                    return try connection.receive(timeoutMilliseconds: Self.quiet * 1000)
                } catch .timedOut {
                    silence()
                    return try connection.receive(timeoutMilliseconds: (patience - Self.quiet) * 1000)
                }
            }
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: patience * 1000)
        } catch {
            throw ConnectionError(error, patience: patience)
        }
    }

    /// What may be asked twice.
    private static var harmless: [Method] {
        [.acquireToken, .refresh, .getInfo, .getStatus, .listAccounts, .listProviders]
    }

    /// Seconds of a clock that nobody steps.
    private static var clock: Int32 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int32(clamping: time.tv_sec)
    }

    /// Calls a method that tells how it gets on, and hands over each reply; the last one ends the call.
    ///
    /// - Throws: `refused` with the daemon's error; anything about the connection; `noAnswer` after a silence; what `body` throws.
    mutating func ask<Reply: Decodable>(
        _ method: Method,
        _ parameters: some Encodable,
        forEach type: Reply.Type,
        _ body: (Reply) throws(AuthctlError) -> Void
    ) throws(AuthctlError) {
        let patience = Self.refreshPatience
        var continues = true
        do throws(VarlinkClientError) {
            try connection.send(method.rawValue, parameters: WireText.encode(parameters), mode: .more)
        } catch {
            throw .connection(ConnectionError(error, patience: patience))
        }
        while continues {
            let reply: VarlinkConnection.Reply
            do throws(VarlinkClientError) {
                reply = try connection.receive(timeoutMilliseconds: patience * 1000)
            } catch {
                throw .connection(ConnectionError(error, patience: patience))
            }
            try body(WireText.decode(type, from: Self.parameters(of: reply)))
            continues = reply.continues
        }
    }

    /// The parameters of a reply that is no error.
    static func parameters(of reply: VarlinkConnection.Reply) throws(AuthctlError) -> JSONText {
        if let name = reply.error {
            throw .refused(Refusal(name: name, parameters: reply.parameters.text))
        }
        return reply.parameters
    }
}

extension ConnectionError {
    /// What a failed call means to the user.
    ///
    /// - Parameter patience: how many seconds were waited.
    init(_ error: VarlinkClientError, patience: Int32) {
        self =
            switch error {
            case .notRunning(let path, let errno), .cannotConnect(let path, let errno):
                .unreachable(socket: path, errno: errno)
            case .permissionDenied(let path): .notPermitted(socket: path)
            case .otherUser(let path, let uid): .otherUser(socket: path, uid: uid)
            case .pathTooLong(let path, limit: _): .pathTooLong(socket: path)
            case .unusablePath(let path): .unusablePath(socket: path)
            case .timedOut: .noAnswer(seconds: patience)
            case .connectionClosed: .ended
            case .malformedReply, .replyTooLarge: .unreadableReply
            }
    }
}
