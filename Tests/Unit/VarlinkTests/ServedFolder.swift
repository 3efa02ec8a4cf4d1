import Dispatch
import Foundation
import Glibc
import Synchronization
import Varlink

@testable import AuthRefreshInterface

/// A server on a socket in a temporary folder, with a service for the tests.
///
/// `test.echo.Echo` replies at once; `EchoLater` replies from another queue; `Hold` does not reply, and passes its
/// responder to the test; `Large` replies at once with `bytes`; `Stream` sends `count` numbered replies of `bytes`
/// each.
final class ServedFolder: Sendable {
    let folder: String
    let path: String
    let server: VarlinkServer
    /// The events of the server.
    let events: AsyncStream<VarlinkServerEvent>
    /// The responders of `Hold`, in the order of the calls.
    let held: AsyncStream<VarlinkResponder>
    /// How many answers of `Large` were made.
    let largeAnswers = Count()

    private struct Echo: Codable {
        let text: String
    }

    private struct LargeRequest: Decodable {
        let bytes: Int
    }

    private struct StreamRequest: Decodable {
        let count: Int
        let bytes: Int
    }

    init(
        path givenPath: String? = nil,
        descriptor: Int32? = nil,
        _ configure: (inout VarlinkServerConfiguration) -> Void = { _ in }
    ) {
        folder = givenPath.map { NSString(string: $0).deletingLastPathComponent } ?? Self.freshFolder()
        path = givenPath ?? folder + "/socket"
        let (events, observed) = AsyncStream<VarlinkServerEvent>.makeStream()
        let (held, holding) = AsyncStream<VarlinkResponder>.makeStream()
        self.events = events
        self.held = held
        var configuration = VarlinkServerConfiguration(
            endpoint: descriptor.map { .descriptor($0) } ?? .path(path)
        )
        configuration.observe = { observed.yield($0) }
        configure(&configuration)
        let queue = DispatchQueue(label: "service")
        let info = ServiceInfo(vendor: "Test", product: "Served", version: "1", url: "https://service.example/")
        let service = VarlinkService(info: info, interfaces: ["test.echo": { "interface test.echo\n" }]) {
            [largeAnswers] call, _, responder in
            do throws(VarlinkError) {
                try Self.serve(call, responder, queue, holding, largeAnswers)
            } catch {
                responder.fail(error)
            }
        }
        server = VarlinkServer(configuration: configuration, service: service)
    }

    private static func serve(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        _ queue: DispatchQueue,
        _ holding: AsyncStream<VarlinkResponder>.Continuation,
        _ largeAnswers: Count
    ) throws(VarlinkError) {
        switch call.method {
        case "test.echo.Echo":
            responder.reply(try call.decodeParameters(as: Echo.self))
        case "test.echo.EchoLater":
            let echo = try call.decodeParameters(as: Echo.self)
            queue.async { responder.reply(echo) }
        case "test.echo.Hold":
            holding.yield(responder)
        case "test.echo.Large":
            let request = try call.decodeParameters(as: LargeRequest.self)
            largeAnswers.increase()
            responder.reply(["filler": String(repeating: "x", count: request.bytes)])
        case "test.echo.Stream":
            let request = try call.decodeParameters(as: StreamRequest.self)
            guard call.wantsMore else { throw .expectedMore }
            let filler = String(repeating: "x", count: request.bytes)
            queue.async {
                for number in 1...request.count {
                    let object = "{\"number\":\(number),\"filler\":\"\(filler)\"}"
                    responder.reply(encoded: Array(object.utf8), continues: number < request.count)
                }
            }
        default:
            throw .methodNotFound(call.method)
        }
    }

    /// Runs `body` while the server runs, then ends the server and removes the folder.
    static func serving(
        _ configure: (inout VarlinkServerConfiguration) -> Void = { _ in },
        _ body: (ServedFolder) async throws -> Void
    ) async throws {
        let served = ServedFolder(configure)
        try await served.server.start()
        do {
            try await body(served)
        } catch {
            await served.end()
            throw error
        }
        await served.end()
    }

    func end() async {
        await server.shutdown()
        try? FileManager.default.removeItem(atPath: folder)
    }

    static func freshFolder() -> String {
        NSTemporaryDirectory() + "varlink-" + UUID().uuidString.prefix(8)
    }
}

/// Counts on any thread.
final class Count: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func increase() { count.wrappingAdd(1, ordering: .releasing) }
}

/// A peer that sends any bytes.
final class RawPeer: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws(VarlinkClientError) {
        descriptor = try UnixStream.connect(to: path, until: Deadline(milliseconds: 30_000))
    }

    deinit { close(descriptor) }

    func write(_ text: String) throws(VarlinkClientError) {
        try UnixStream.write(Array(text.utf8), to: descriptor, until: nil)
    }

    /// Writes as many of `bytes` as there is room for now. Returns how many that were.
    func writeAvailable(_ bytes: ArraySlice<UInt8>) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return max(0, unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) })
    }

    /// Ends the sending direction.
    func closeInput() { Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits until there is something to read.
    func hasInput(within milliseconds: Int32) -> Bool {
        returned(Int16(POLLIN), within: milliseconds) != 0
    }

    /// Waits until the server has closed the connection. Data that it sent before stays unread.
    func isHungUp(within milliseconds: Int32 = 120_000) -> Bool {
        returned(0, within: milliseconds) & Int16(POLLHUP) != 0
    }

    /// The events that poll(2) reports for the connection.
    private func returned(_ events: Int16, within milliseconds: Int32) -> Int16 {
        var interest = pollfd(fd: descriptor, events: events, revents: 0)
        return unsafe poll(&interest, 1, milliseconds) > 0 ? interest.revents : 0
    }

    /// All messages until the server closes, or until `count` have come.
    func messages(_ count: Int = .max) -> [String] {
        var bytes: [UInt8] = []
        var ends = 0
        let deadline = Deadline(milliseconds: 120_000)
        while ends < count, let more = try? UnixStream.read(from: descriptor, until: deadline) {
            ends += more.count(where: { $0 == 0 })
            bytes += more
        }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
}
