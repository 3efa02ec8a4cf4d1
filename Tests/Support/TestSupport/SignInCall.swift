package import AuthRefreshInterface
import Foundation
import TextEncodings

/// A caller of `StartSignIn` that reads all replies to the end.
package final class SignInCall: Sendable {
    /// How the call ended.
    package enum End: Sendable {
        case completed(StartSignIn.Reply)
        /// An error, with its full name and its parameters. Both are empty if the connection was lost.
        case refused(name: String, parameters: String)
    }

    /// The replies, including the last one if it was not an error.
    package let news = EventLog<StartSignIn.Reply>()
    private let ends = EventLog<End>()

    package init(_ stage: DaemonStage, _ parameters: StartSignIn.Parameters) throws {
        let json = String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self)
        startThread { [news, ends, socket = stage.socket] in
            ends.append(Self.follow(socket, json, news))
        }
    }

    /// The first reply, which says what the person is to open.
    package func started() async throws -> StartSignIn.Reply {
        try await news.first("started") { $0.event == "started" }
    }

    /// Waits for the end of the call.
    package func ended(within limit: Duration = .patience) async throws -> End {
        try await ends.first("the end of the sign-in", within: limit) { _ in true }
    }

    /// - Throws: `refused` with the error that came instead.
    @discardableResult package func completed() async throws -> StartSignIn.Reply {
        switch try await ended() {
        case .completed(let reply): return reply
        case .refused(let name, let parameters): throw TestFault.refused(name: name, parameters: parameters)
        }
    }

    /// The error with which the call ended.
    ///
    /// - Throws: `unreadable` if the call succeeded, or ended with another error.
    package func refusal<Refusal: InterfaceError>(_: Refusal.Type, within limit: Duration = .patience) async throws
        -> Refusal
    {
        guard case .refused(let name, let parameters) = try await ended(within: limit), name == Refusal.name else {
            throw TestFault.unreadable("\(try await ended())")
        }
        return try JSONDecoder().decode(Refusal.self, from: Data(parameters.utf8))
    }

    private static func follow(_ socket: String, _ json: String, _ news: EventLog<StartSignIn.Reply>) -> End {
        var end = End.refused(name: "", parameters: "")
        guard var connection = try? VarlinkConnection(path: socket) else { return end }
        try? connection.callMore(Method.startSignIn.rawValue, parameters: json) { reply in
            if let name = reply.error {
                end = .refused(name: name, parameters: reply.parameters.text)
                return false
            }
            let data = Data(reply.parameters.text.utf8)
            guard let told = try? JSONDecoder().decode(StartSignIn.Reply.self, from: data) else { return false }
            news.append(told)
            if !reply.continues { end = .completed(told) }
            return reply.continues
        }
        return end
    }
}
