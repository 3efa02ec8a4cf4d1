import Foundation
import Glibc
import TestSupport
import Testing

@testable import Varlink

extension SocketTests {
    /// What the socket's thread does in each turn, and whether it needs another turn.
    @Suite struct TurnTests {
        private struct Turn: Equatable, Sendable {
            /// The sources that were ready: the listening socket, or a connection by its number.
            let ready: [UInt64]
            /// Whether the next turn follows without sleeping.
            let isNextDue: Bool
        }

        private static let firstPeer = Listener.key + 1
        private static let call = #"{"method":"org.varlink.service.GetInfo"}"# + "\0"

        /// Runs a server that lists its turns, and listens when it is told to.
        private static func withServer(
            _ body: (_ path: String, _ open: () async throws -> Void, EventLog<Turn>) async throws -> Void
        ) async throws {
            let folder = ServedFolder.freshFolder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let path = folder + "/socket"
            let bound = try ServerSocket.bound(to: path, backlog: 8)
            // Nothing happens to the path in this test, and watching it would cause turns.
            let socket = ServerSocket(descriptor: bound.descriptor, path: nil, identity: nil, ownsPath: false)
            let info = ServiceInfo(vendor: "Test", product: "Turns", version: "1", url: "https://service.example/")
            let service = VarlinkService(info: info, interfaces: [:]) { _, _, _ in }
            let loop = try SocketLoop()
            let configuration = VarlinkServerConfiguration(endpoint: .path(path))
            let server = SocketServer(configuration: configuration, service: service, loop: loop)
            let turns = EventLog<Turn>()
            try loop.begin { [server] ready in
                let next = server.assumeIsolated { $0.turn(ready) }
                turns.append(Turn(ready: ready.map(\.key), isNextDue: next.map { $0 <= .now } ?? false))
                return next
            }
            do {
                try await body(path, { try await server.open(socket) }, turns)
            } catch {
                loop.end()
                throw error
            }
            await server.stopAccepting()
            await server.endConnections()
            loop.end()
        }

        /// Waits for the turn in which `ready` was ready, and for the first turn after it that lets the thread sleep.
        ///
        /// - Returns: the index of the first turn.
        @discardableResult private func rest(after ready: UInt64, _ turns: EventLog<Turn>) async throws -> Int {
            try await turns.first("the turn of \(ready)") { $0.ready == [ready] }
            let index = try #require(turns.all.firstIndex { $0.ready == [ready] })
            try await turns.first("the rest after \(ready)", from: index + 1) { !$0.isNextDue }
            return index
        }

        @Test func `a silent peer is watched from the turn after its admission, and answered when it calls`()
            async throws
        {
            try await Self.withServer { path, open, turns in
                try await open()
                let peer = try RawPeer(path)
                let letIn = try await rest(after: Listener.key, turns)
                try peer.write(Self.call)
                #expect(peer.messages(1).first?.contains("Turns") == true)
                try await rest(after: Self.firstPeer, turns)
                #expect(
                    turns.all.dropFirst(letIn) == [
                        Turn(ready: [Listener.key], isNextDue: true), Turn(ready: [], isNextDue: false),
                        Turn(ready: [Self.firstPeer], isNextDue: true), Turn(ready: [], isNextDue: false),
                    ]
                )
            }
        }

        @Test func `without a descriptor for a peer, the listening socket causes no further turns`() async {
            await #expect(processExitsWith: .success) {
                try await TurnTests.withServer { path, open, turns in
                    let peers = [try RawPeer(path), try RawPeer(path)]
                    // The lowest number that is free.
                    let free = dup(0)
                    close(free)
                    var limit = rlimit()
                    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    let usual = limit.rlim_cur
                    limit.rlim_cur = rlim_t(free)
                    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    try await open()
                    try await turns.first("the peer without a place") { $0.ready == [Listener.key] }
                    // The peers still wait, so a watched socket would be ready at once, again and again.
                    let index = try #require(turns.all.firstIndex { $0.ready == [Listener.key] })
                    let next = try await turns.first("the next look", from: index + 1) { _ in true }
                    #expect(next.ready == [], "\(turns.all)")
                    limit.rlim_cur = usual
                    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    withExtendedLifetime(peers) {}
                }
            }
        }

        @Test func `a peer that calls and hangs up is done in two turns, and never watched`()
            async throws
        {
            try await Self.withServer { path, open, turns in
                let peer = try RawPeer(path)
                try peer.write(Self.call)
                peer.closeInput()
                try await open()
                let messages = peer.messages()
                #expect(messages.count == 1)
                #expect(messages.first?.contains("Turns") == true)
                let letIn = try await rest(after: Listener.key, turns)
                #expect(
                    turns.all.dropFirst(letIn) == [
                        Turn(ready: [Listener.key], isNextDue: true), Turn(ready: [], isNextDue: false),
                    ]
                )
            }
        }
    }
}
