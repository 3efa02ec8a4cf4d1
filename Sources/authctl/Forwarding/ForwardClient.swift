internal import AuthRefreshInterface
internal import Glibc
internal import TextEncodings

/// A connected program on the other machine. It makes one call at a time, and the next is read only after the answer.
final class ForwardClient {
    /// Connects to the daemon.
    typealias Connect = () throws(VarlinkClientError) -> VarlinkConnection

    /// How many bytes are read at once.
    private static let pieceBytes = 16 << 10

    private let descriptor: Int32
    private let filter: ForwardedCallFilter
    private let connect: Connect
    /// Bytes received and not checked yet.
    private var received: [UInt8] = []
    /// Bytes that the client has not read yet.
    private var unsent: ArraySlice<UInt8> = []
    /// The call that was passed to the daemon; nil if none is under way.
    private var passed: ForwardedCall?
    /// The daemon, until it has answered that call.
    private var daemon: VarlinkConnection?
    private var endsWhenSent = false
    /// Whether the connection is finished.
    private(set) var isDone = false

    /// Takes over a connection.
    ///
    /// - Parameter descriptor: a connected socket, closed when this object is released.
    init(descriptor: Int32, filter: ForwardedCallFilter, connect: @escaping Connect) {
        self.descriptor = descriptor
        self.filter = filter
        self.connect = connect
    }

    deinit { close(descriptor) }

    /// Whether it waits for the daemon.
    var isAsking: Bool { passed != nil }
    /// Whether nothing is under way.
    var isIdle: Bool { passed == nil && unsent.isEmpty && received.isEmpty }

    /// What poll(2) has to watch: the client, and the daemon if it was called. A negative descriptor is ignored.
    var interests: [pollfd] {
        let wanted = passed != nil ? 0 : unsent.isEmpty ? POLLIN : POLLOUT
        return [
            pollfd(fd: descriptor, events: Int16(wanted), revents: 0),
            pollfd(fd: daemonDescriptor, events: Int16(POLLIN), revents: 0),
        ]
    }

    private var daemonDescriptor: Int32 {
        switch daemon {
        case .some(let daemon): daemon.pollDescriptor
        case nil: -1
        }
    }

    /// Does everything that is possible without waiting.
    ///
    /// - Parameter ready: `interests` with poll(2)'s results.
    func serve(_ ready: ArraySlice<pollfd>) {
        guard let client = ready.first, let daemon = ready.last else { return }
        if daemon.revents != 0 { takeReply() }
        if client.revents & Int16(POLLIN) != 0 {
            read()
        } else if client.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 {
            isDone = true
        }
        send()
        judgeCalls()
    }

    private func read() {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = unsafe recv(descriptor, &piece, piece.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return isDone = true }
        received += piece[..<count]
    }

    /// Handles the next calls, as long as none is under way.
    private func judgeCalls() {
        while passed == nil, unsent.isEmpty, !isDone {
            guard let end = received.firstIndex(of: 0) else {
                if received.count > TokenRelay.forwardedCallBytesMax { follow(ForwardedCallFilter.tooLong) }
                return
            }
            let message = Array(received[..<end])
            received.removeFirst(end + 1)
            let isTooLong = message.count > TokenRelay.forwardedCallBytesMax
            follow(isTooLong ? ForwardedCallFilter.tooLong : filter.judge(message))
        }
    }

    private func follow(_ verdict: ForwardedCallFilter.Verdict) {
        switch verdict {
        case .pass(let call): ask(call)
        case .refuse(let reply, let endsConnection):
            endsWhenSent = endsConnection
            answer(reply)
        }
    }

    /// Calls the daemon on a new connection, so that idle programs on the other machine cost the daemon no connection.
    private func ask(_ call: ForwardedCall) {
        do throws(VarlinkClientError) {
            var daemon = try connect()
            // The kernel takes it at once, because it is shorter than an empty socket's buffer.
            try daemon.send(
                call.method.rawValue,
                parameters: call.parameters,
                mode: .one,
                timeoutMilliseconds: 0
            )
            self.daemon = consume daemon
            passed = call
        } catch {
            // The client sees it as if the daemon had closed the connection. authctl takes that for a restart, and
            // calls again.
            isDone = true
        }
    }

    private func takeReply() {
        guard let passed else { return }
        do throws(VarlinkClientError) {
            guard let reply = try daemon?.receiveAvailable() else { return }
            self.passed = nil
            daemon = nil
            answer(passed.reply(error: reply.error, parameters: reply.parameters.text))
        } catch {
            isDone = true
        }
    }

    private func answer(_ reply: String) {
        unsent = Array(reply.utf8)[...]
        send()
    }

    private func send() {
        while !unsent.isEmpty, !isDone {
            let count = unsafe unsent.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count < 0, errno == EAGAIN { return }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return isDone = true }
            unsent = unsent.dropFirst(count)
        }
        if unsent.isEmpty, endsWhenSent { isDone = true }
    }
}
