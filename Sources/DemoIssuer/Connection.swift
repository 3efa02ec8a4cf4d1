internal import Glibc
internal import NIOCore
internal import NIOHTTP1

/// One client's connection: it reads requests, lets the issuer decide, and sends the answers with the scripted faults.
struct Connection: Sendable {
    typealias HTTPChannel = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    private typealias Writer = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    let channel: HTTPChannel
    let issuer: DemoIssuer

    /// The largest request body. A refresh request is below 8 KiB even with all extensions; scripted faults may contain
    /// an HTML page.
    private static let largestRequestBody = 1 << 20
    /// How much of a huge body is written at once. All chunks share these bytes.
    private static let chunk = 1 << 16
    private static let filler = ByteBuffer(repeating: UInt8(ascii: "a"), count: chunk)

    /// Serves requests until either side closes.
    func serve() async throws {
        try await channel.executeThenClose { inbound, outbound in
            var head: HTTPRequestHead?
            var body: [UInt8] = []
            var isReused = false
            for try await part in inbound {
                switch part {
                case .head(let received):
                    head = received
                    body = []
                case .body(let bytes):
                    guard body.count + bytes.readableBytes <= Self.largestRequestBody else { return }
                    body.append(contentsOf: bytes.readableBytesView)
                case .end:
                    guard let received = head else { return }
                    let request = Request(received, body: body, isReused: isReused)
                    guard try await respond(to: request, received, outbound) else { return }
                    isReused = true
                }
            }
        }
    }

    /// Answers a request; returns whether the connection stays open.
    private func respond(to request: Request, _ head: HTTPRequestHead, _ outbound: Writer) async throws -> Bool {
        if let patience = request.logPatience {
            let answer = await issuer.logAnswer(to: request, within: patience)
            try await send(answer, head, .whole, outbound) {}
            return head.isKeepAlive
        }
        let admission = await issuer.admit(request)
        do {
            let delivered = try await carryOut(admission, head, outbound)
            await issuer.release(admission)
            return delivered && head.isKeepAlive
        } catch {
            await issuer.release(admission)
            throw error
        }
    }

    private func carryOut(
        _ admission: IssuerState.Admission,
        _ head: HTTPRequestHead,
        _ outbound: Writer
    ) async throws -> Bool {
        let plan = admission.plan
        // Read before the log shows the request, so that whoever has seen it there can end its delay.
        let delaysEnded = await issuer.delaysEnded
        if plan.delayBefore > .zero {
            await issuer.noteHeld(admission)
            guard await delay(plan.delayBefore, since: delaysEnded) else {
                await issuer.noteNotServed(admission)
                return false
            }
        }
        let answer = await issuer.answer(admission)
        if plan.delayAfter > .zero {
            guard await delay(plan.delayAfter, since: delaysEnded) else { return false }
        }
        guard plan.delivery != .cut else { return false }
        try await send(answer, head, plan.delivery, outbound) { await issuer.release(admission) }
        if plan.delivery == .reset { try await reset() }
        return plan.delivery != .truncated && plan.delivery != .reset
    }

    /// Sends an answer. `beforeLastByte` runs while the client cannot have the whole answer yet. After the last byte,
    /// the client's next request may arrive before our own code runs, and would look like an overlapping request.
    private func send(
        _ answer: Answer,
        _ request: HTTPRequestHead,
        _ delivery: Delivery,
        _ outbound: Writer,
        beforeLastByte: () async -> Void
    ) async throws {
        let head = await responseHead(of: answer, to: request)
        switch (delivery, answer.body) {
        case (.cut, _):
            return
        case (.whole, .bytes(let bytes)):
            await beforeLastByte()
            try await outbound.write(contentsOf: [.head(head), Self.part(bytes), .end(nil)])
        case (.doubled, .bytes(let bytes)):
            await beforeLastByte()
            // The second answer is sent as bytes beyond the length of the first one, because NIO has no request for it.
            let again = Self.text(of: head) + bytes
            try await outbound.write(contentsOf: [.head(head), Self.part(bytes + again), .end(nil)])
        case (.truncated, .bytes(let bytes)), (.reset, .bytes(let bytes)):
            await beforeLastByte()
            try await outbound.write(contentsOf: [.head(head), Self.part(bytes.prefix(bytes.count / 2))])
        case (.drip(let pause), .bytes(let bytes)):
            try await outbound.write(.head(head))
            for byte in bytes.dropLast() {
                try await outbound.write(Self.part([byte]))
                guard await self.pause(pause) else { return }
            }
            await beforeLastByte()
            try await outbound.write(contentsOf: [Self.part(bytes.suffix(1)), .end(nil)])
        case (_, .filler(let byteCount)):
            await beforeLastByte()
            try await outbound.write(.head(head))
            try await sendFiller(byteCount, outbound)
            try await outbound.write(.end(nil))
        }
    }

    private func responseHead(of answer: Answer, to request: HTTPRequestHead) async -> HTTPResponseHead {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        headers.add(name: "Date", value: await issuer.dateHeader)
        // RFC 9110 §8.6: a 204 has no length.
        if answer.status != 204, let byteCount = answer.byteCount {
            headers.add(name: "Content-Length", value: String(byteCount))
        }
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        return HTTPResponseHead(version: request.version, status: status, headers: headers)
    }

    private func sendFiller(_ byteCount: Int?, _ outbound: Writer) async throws {
        let byteCount = byteCount ?? .max
        let opening = Array(#"{"token_type":"Bearer","access_token":""#.utf8.prefix(byteCount))
        try await outbound.write(Self.part(opening))
        var remaining = byteCount - opening.count
        while remaining > 0 {
            let count = min(remaining, Self.chunk)
            try await outbound.write(.body(.byteBuffer(Self.filler.getSlice(at: 0, length: count) ?? Self.filler)))
            // A TLS layer buffers everything, even after the client has gone. Leave it time to send, and to notice
            // that.
            guard await pause(.milliseconds(1)) else { return }
            remaining -= count
        }
    }

    /// Makes the connection end with RST instead of FIN when it is closed.
    private func reset() async throws {
        guard let options = channel.channel as? any SocketOptionProvider else { return }
        try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    }

    /// A response head as bytes on the wire.
    private static func text(of head: HTTPResponseHead) -> [UInt8] {
        let status = "\(head.version) \(head.status.code) \(head.status.reasonPhrase)"
        let lines = [status] + head.headers.map { "\($0.name): \($0.value)" } + ["", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// Waits as `pause` does, or until `endDelays` is called. `count` is how often it had been called before.
    private func delay(_ duration: Duration, since count: Int) async -> Bool {
        let end = channel.channel.eventLoop.makePromise(of: Bool.self)
        let number = await issuer.noteDelay(since: count) { end.succeed(true) }
        let isOver = await pause(duration, end)
        await issuer.forgetDelay(number)
        return isOver
    }

    /// Waits; false if the client hung up or the server is shutting down.
    private func pause(_ duration: Duration) async -> Bool {
        await pause(duration, channel.channel.eventLoop.makePromise(of: Bool.self))
    }

    /// Waits for `end`, whose first result counts.
    private func pause(_ duration: Duration, _ end: EventLoopPromise<Bool>) async -> Bool {
        let wakeUp = channel.channel.eventLoop.scheduleTask(in: TimeAmount(duration)) { end.succeed(true) }
        channel.channel.closeFuture.whenComplete { _ in end.succeed(false) }
        defer { wakeUp.cancel() }
        return await withTaskCancellationHandler {
            (try? await end.futureResult.get()) ?? false
        } onCancel: {
            end.succeed(false)
        }
    }

    private static func part(_ bytes: some Sequence<UInt8>) -> HTTPServerResponsePart {
        .body(.byteBuffer(ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// How long a reader of the log waits for a new entry; nil for all other requests.
    fileprivate var logPatience: Duration? {
        guard method == .GET, path == "/admin/log" else { return nil }
        return FormFields(query.utf8)?["wait_ms"].flatMap { Int($0) }.map { .milliseconds($0) }
    }
}
