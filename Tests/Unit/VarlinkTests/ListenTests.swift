import Dispatch
import Foundation
import Glibc
import Testing
import AuthRefreshInterface

@testable import Varlink

extension SocketTests {
    /// How a server gets its socket, and how the socket is restored.
    @Suite struct ListenTests {
        private func echoes(_ path: String) throws -> Bool {
            var client = try VarlinkConnection(path: path)
            return try client.call("test.echo.Echo", parameters: #"{"text":"a"}"#, timeoutMilliseconds: 120_000).error
                == nil
        }

        private func mode(_ path: String) -> UInt32 {
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { return 0 }
            return status.st_mode & 0o7777
        }

        @Test func `only the user may access folder and socket`() async throws {
            try await ServedFolder.serving { served in
                #expect(mode(served.folder) == 0o700)
                #expect(mode(served.path) == 0o600)
            }
        }

        @Test func `the socket is gone after the end`() async throws {
            let served = ServedFolder()
            try await served.server.start()
            await served.server.shutdown()
            #expect(mode(served.path) == 0)
            await served.end()
        }

        @Test func `as many connections wait in the kernel as the backlog says`() async throws {
            let (entered, entering) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            let configure = { (configuration: inout VarlinkServerConfiguration) in
                configuration.limits.backlog = 4
                configuration.allowsPeer = { _ in
                    entering.yield()
                    gate.wait()
                    return true
                }
            }
            try await ServedFolder.serving(configure) { served in
                // The server's thread is busy with the first peer, and accepts no other.
                let first = try RawPeer(served.path)
                var entries = entered.makeAsyncIterator()
                await entries.next()
                let address = try #require(UnixAddress(path: served.path))
                let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
                let waiting = (0..<8).map { _ in socket(AF_UNIX, type, 0) }
                let results = waiting.map { address.connect($0) == 0 ? 0 : errno }
                for _ in 0...waiting.count { gate.signal() }
                // The kernel accepts one more than it is told, because a queue counts as full when it is longer than
                // the backlog.
                #expect(results == [0, 0, 0, 0, 0, EAGAIN, EAGAIN, EAGAIN])
                for descriptor in waiting { close(descriptor) }
                first.closeInput()
            }
        }

        @Test func `a socket that nobody answers on is replaced`() async throws {
            let served = ServedFolder()
            let dead = try ServerSocket.bound(to: served.path, backlog: 1)
            close(dead.descriptor)
            try await served.server.start()
            #expect(try echoes(served.path))
            await served.end()
        }

        @Test func `a socket on which somebody answers is left alone, and reported`() async throws {
            try await ServedFolder.serving { served in
                let second = ServedFolder(path: served.path)
                await #expect(throws: VarlinkServerError.alreadyListening(path: served.path)) {
                    try await second.server.start()
                }
                await second.server.shutdown()
                let echoes = try echoes(served.path)
                #expect(echoes)
            }
        }

        @Test func `if several servers start at once over a stale socket, one listens`() async throws {
            let folder = ServedFolder.freshFolder()
            let path = folder + "/socket"
            close(try ServerSocket.bound(to: path, backlog: 1).descriptor)
            let servers = (0..<4).map { _ in ServedFolder(path: path) }
            let started = await withTaskGroup(of: Bool.self) { group in
                for served in servers {
                    group.addTask { (try? await served.server.start()) != nil }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(started == 1)
            #expect(try echoes(path))
            for served in servers { await served.server.shutdown() }
            try FileManager.default.removeItem(atPath: folder)
        }

        @Test func `a file that is no socket is left alone`() async throws {
            let served = ServedFolder()
            try FileManager.default.createDirectory(atPath: served.folder, withIntermediateDirectories: true)
            try Data("precious".utf8).write(to: URL(fileURLWithPath: served.path))
            await #expect(throws: VarlinkServerError.notASocket(path: served.path)) { try await served.server.start() }
            #expect(FileManager.default.contents(atPath: served.path) == Data("precious".utf8))
            await served.end()
        }

        @Test func `a path too long for a socket is refused`() async throws {
            let path = "/tmp/" + String(repeating: "x", count: 103)
            let served = ServedFolder(path: path)
            await #expect(throws: VarlinkServerError.pathTooLong(path: path, limit: 107)) {
                try await served.server.start()
            }
            await served.server.shutdown()
        }

        @Test func `a folder that cannot be made is named`() async throws {
            let served = ServedFolder(path: "/proc/nowhere/socket")
            await #expect(throws: VarlinkServerError.cannotMakeFolder(path: "/proc/nowhere", errno: ENOENT)) {
                try await served.server.start()
            }
            await served.server.shutdown()
        }

        @Test(.enabled(if: geteuid() == 0, "needs root, to give folders away"))
        func `a folder that others may change, and folders inside it, are refused for a socket`() throws {
            let folder = ServedFolder.freshFolder()
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            for path in [folder + "/socket", folder + "/authrefreshd/socket"] {
                for (owner, mode) in [(12_345, 0o700), (0, 0o777)] as [(uid_t, mode_t)] {
                    #expect(unsafe chown(folder, owner, 0) == 0 && chmod(folder, mode) == 0)
                    #expect(throws: VarlinkServerError.folderOpenToOthers(path: folder, owner: owner)) {
                        try ServerSocket.bound(to: path, backlog: 1)
                    }
                }
                // A folder like /tmp: others may add files and cannot remove those of others.
                #expect(unsafe chmod(folder, 0o1777) == 0)
                try ServerSocket.bound(to: path, backlog: 1).abandon()
            }
        }

        @Test func `a passed socket is served like a bound one, and stays at the end`() async throws {
            let path = ServedFolder.freshFolder() + "/socket"
            let passed = try ServerSocket.bound(to: path, backlog: 8)
            let served = ServedFolder(path: path, descriptor: passed.descriptor)
            try await served.server.start()
            #expect(try echoes(path))
            #expect(await served.server.isPathIntact)
            await served.server.shutdown()
            #expect(mode(path) == 0o600)
            await served.end()
        }

        @Test func `a descriptor that is no listening socket is refused`() async throws {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            let served = ServedFolder(descriptor: descriptor)
            await #expect(throws: VarlinkServerError.notAListenSocket(descriptor: descriptor)) {
                try await served.server.start()
            }
            await served.end()
        }

        private enum Loss: CaseIterable {
            case socketRemoved, folderRemoved, folderMoved, socketReplacedByStaleOne
        }

        @Test(arguments: Loss.allCases, [true, false])
        private func `a removed path is restored, and connected peers stay connected`(loss: Loss, isPassed: Bool)
            async throws
        {
            let path = ServedFolder.freshFolder() + "/socket"
            let passed = isPassed ? try ServerSocket.bound(to: path, backlog: 8).descriptor : nil
            let served = ServedFolder(path: path, descriptor: passed)
            try await served.server.start()
            var standing = try VarlinkConnection(path: path)
            _ = try standing.call("test.echo.Echo", parameters: #"{"text":"a"}"#, timeoutMilliseconds: 120_000)

            let files = FileManager.default
            switch loss {
            case .socketRemoved: unsafe unlink(path)
            case .folderRemoved:
                // The folder may be filled again before it is removed, because the server is that quick.
                try? files.removeItem(atPath: served.folder)
            case .folderMoved: try files.moveItem(atPath: served.folder, toPath: served.folder + "-moved")
            case .socketReplacedByStaleOne:
                let other = try ServerSocket.bound(to: path + "2", backlog: 1)
                close(other.descriptor)
                unsafe rename(path + "2", path)
            }
            var events = served.events.makeAsyncIterator()
            var event = await events.next()
            while event != nil, event != .pathRestored(path) { event = await events.next() }
            #expect(try echoes(path))
            #expect(await served.server.isPathIntact)
            let reply = try standing.call("test.echo.Echo", parameters: #"{"text":"a"}"#, timeoutMilliseconds: 120_000)
            #expect(reply.error == nil)
            await served.end()
            try? files.removeItem(atPath: served.folder + "-moved")
        }

        @Test func `a path taken over by a live socket is restored when that one ends`() async throws {
            let served = ServedFolder()
            try await served.server.start()
            let other = try ServerSocket.bound(to: served.path + "2", backlog: 8)
            unsafe rename(served.path + "2", served.path)
            var events = served.events.makeAsyncIterator()
            #expect(await events.next() == .pathLost(served.path, .alreadyListening(path: served.path)))
            #expect(await served.server.isPathIntact == false)
            close(other.descriptor)
            unsafe unlink(served.path)
            #expect(await events.next() == .pathRestored(served.path))
            #expect(try echoes(served.path))
            await served.end()
        }
    }
}
