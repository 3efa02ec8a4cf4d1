package import AuthRefreshInterface
import Foundation
import StrictJSON
import VarlinkClient

/// A caller of `StartSignIn`, which hears everything to the end.
package final class SignInCall: Sendable {
    /// How the call ended.
    package enum End: Sendable {
        case completed(StartSignIn.Reply)
        /// The error's full name and its parameters; empty if the connection was lost.
        case refused(name: String, parameters: String)
    }

    /// What was told, the last one included if it was no error.
    package let news = EventLog<StartSignIn.Reply>()
    private let ends = EventLog<End>()

    package init(_ stage: DaemonStage, _ parameters: StartSignIn.Parameters) throws {
        let json = String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self)
        startThread { [news, ends, socket = stage.socket] in
            ends.append(Self.follow(socket, json, news))
        }
    }

    /// The invitation: what the person is to open.
    package func started() async throws -> StartSignIn.Reply {
        try await news.first("started") { $0.event == "started" }
    }

    /// What the call ended with.
    package func ended(within limit: Duration = .seconds(30)) async throws -> End {
        try await ends.first("the end of the sign-in", within: limit) { _ in true }
    }

    /// - Throws: `refused` with the error that came instead.
    @discardableResult package func completed() async throws -> StartSignIn.Reply {
        switch try await ended() {
        case .completed(let reply): return reply
        case .refused(let name, let parameters): throw TestFault.refused(name: name, parameters: parameters)
        }
    }

    /// The error that the call ended with.
    ///
    /// - Throws: `unreadable` if it completed, or failed otherwise.
    package func refusal<Refusal: InterfaceError>(_: Refusal.Type, within limit: Duration = .seconds(30)) async throws
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
