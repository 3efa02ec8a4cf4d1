import Foundation
import Synchronization
import TestSupport

/// Plays recorded replies over a Unix socket. Connections may overlap; the calls must come in the recorded order.
final class StubDaemon: Sendable {
    /// An expected call and the reaction to it.
    struct Exchange: Sendable {
        struct LineError: Error {
            let line: String
        }

        /// The message, without its NUL.
        var call: String
        var replies: [String] = []
        /// Replies to the last caller with `more`.
        var toFollower: [String] = []
        /// Whether to close the connection after the replies.
        var closes = false

        static func parse(_ lines: [Substring]) throws -> [Exchange] {
            var exchanges: [Exchange] = []
            for line in lines where !line.isEmpty {
                let text = String(line.dropFirst(2))
                if line.hasPrefix("> ") {
                    exchanges.append(Exchange(call: message(text)))
                } else if line.hasPrefix("< "), !exchanges.isEmpty {
                    exchanges[exchanges.count - 1].replies.append(text)
                } else if line.hasPrefix("^ "), !exchanges.isEmpty {
                    exchanges[exchanges.count - 1].toFollower.append(text)
                } else if line == "! close", !exchanges.isEmpty {
                    exchanges[exchanges.count - 1].closes = true
                } else {
                    throw LineError(line: String(line))
                }
            }
            return exchanges
        }

        private static func message(_ text: String) -> String {
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            let hasMore = parts.last?.hasPrefix("more ") ?? false
            let parameters = hasMore ? String((parts.last ?? "").dropFirst(5)) : parts.last ?? ""
            return "{\"method\":\"\(parts[0])\",\"parameters\":\(parameters)\(hasMore ? ",\"more\":true" : "")}"
        }
    }

    private struct State {
        var rest: ArraySlice<Exchange>
        var problems: [String] = []
        /// The connection of the last call with `more`.
        var follower: Int32?
    }

    private let listener: Int32
    private let threads = DispatchGroup()
    private let state: Mutex<State>

    init(path: String, exchanges: [Exchange]) throws {
        state = Mutex(State(rest: exchanges[...]))
        listener = try UnixSocket.bound(to: path, SOCK_STREAM)
        guard listen(listener, 8) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        startThread { $0.serve() }
    }

    /// Ends the connection of the last call with `more`, as a daemon that stops does.
    func hangUp() {
        if let follower = state.withLock({ $0.follower }) { shutdown(follower, Int32(SHUT_RDWR)) }
    }

    /// Stops, and returns what differed from the recording.
    func finish() -> [String] {
        // On Linux this ends a waiting accept.
        shutdown(listener, Int32(SHUT_RDWR))
        threads.wait()
        close(listener)
        return state.withLock { $0.problems + $0.rest.map { "a call did not come: \($0.call)" } }
    }

    /// Starts a thread for code that blocks. Dispatch's pool grows too slowly for a dozen daemons.
    private func startThread(_ body: @escaping @Sendable (StubDaemon) -> Void) {
        threads.enter()
        Thread {
            body(self)
            self.threads.leave()
        }.start()
    }

    private func serve() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            startThread { daemon in
                while let call = daemon.readMessage(connection), daemon.answer(call, on: connection) {}
                close(connection)
            }
        }
    }

    /// Answers a call. Returns whether the connection stays open.
    private func answer(_ call: String, on connection: Int32) -> Bool {
        let exchange = state.withLock { state -> Exchange? in
            guard let next = state.rest.popFirst(), next.call == Self.withoutProcess(call) else {
                state.problems.append("this call was not expected: \(call)")
                return nil
            }
            if call.hasSuffix(",\"more\":true}") { state.follower = connection }
            return next
        }
        guard let exchange else {
            write(["{\"error\":\"stub.Unexpected\"}"], to: connection)
            return false
        }
        write(exchange.replies, to: connection)
        write(exchange.toFollower, to: state.withLock { $0.follower } ?? -1)
        return !exchange.closes
    }

    /// The call with a fixed name for the process that started `authctl`.
    private static func withoutProcess(_ call: String) -> String {
        call.replacing(/"process":"[0-9]+\.[0-9]+(\.[0-9]+:[0-9]+)?"/, with: #""process":"PARENT""#)
    }

    private func readMessage(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(connection, &byte, 1) == 1 {
            if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    /// Writes all replies at once. A test that has seen the effect of the first one may hang up then, and none is lost.
    private func write(_ replies: [String], to connection: Int32) {
        let bytes = Array(replies.map { Self.withInstants($0) + "\0" }.joined().utf8)
        _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func withInstants(_ reply: String) -> String {
        let now = Int64(Date().timeIntervalSince1970)
        return reply.replacing(/@now([+-][0-9]+)/) { match in
            String((now + (Int64(match.1) ?? 0)) * 1_000_000)
        }
    }
}
