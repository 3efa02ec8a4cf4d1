internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The answer for a name.
enum NameAnswer: Sendable, Equatable {
    /// An IPv4 address, in its four bytes.
    case address([UInt8])
    case noSuchName
    case serverFailure
    /// The question gets no answer.
    case silence

    static let loopback = NameAnswer.address([127, 0, 0, 1])
    /// A loopback address on which nobody listens, so that connections are refused.
    static let nobody = NameAnswer.address([127, 0, 0, 2])
    /// An address of a documentation network (RFC 5737), to which `with-loopback-only` has no route.
    static let unrouted = NameAnswer.address([192, 0, 2, 1])
}

/// A DNS server on loopback that knows only names made up by the tests.
///
/// The C library's resolver uses only port 53. So the server runs in a network namespace of its own, with a
/// `resolv.conf` that points to it.
final class NameServer: Sendable {
    static let address = "127.0.0.1"
    private static let port = 53

    private let answers: Mutex<[String: NameAnswer]>
    private let channel: any Channel

    /// - Throws: `IOError` if the port is in use, or may not be used.
    static func start() async throws -> NameServer {
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: address, port: port).get()
        let server = NameServer(channel)
        try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(QuestionReader(server: server))
        }.get()
        return server
    }

    private init(_ channel: any Channel) {
        self.channel = channel
        answers = Mutex([:])
    }

    func stop() async {
        try? await channel.close()
    }

    /// Sets the answer for `name`. A name without an answer does not exist.
    func set(_ name: String, _ answer: NameAnswer) {
        answers.withLock { $0[name] = answer }
    }

    /// The complete answer to a question (RFC 1035 §4.1); nil for silence, and for messages that are not questions.
    fileprivate func answer(to message: [UInt8]) -> [UInt8]? {
        guard let question = Question(message) else { return nil }
        let answer = answers.withLock { $0[question.name] } ?? .noSuchName
        switch answer {
        case .silence: return nil
        case .noSuchName: return question.answer(code: 3, record: nil)
        case .serverFailure: return question.answer(code: 2, record: nil)
        case .address(let bytes): return question.answer(code: 0, record: question.wantsIPv4 ? bytes : nil)
        }
    }
}

/// One question, as resolvers send it.
private struct Question {
    /// The name in lower case, without the last dot.
    let name: String
    let wantsIPv4: Bool
    private let identifier: [UInt8]
    private let section: [UInt8]

    init?(_ message: [UInt8]) {
        guard message.count > 12 else { return nil }
        var labels: [String] = []
        var place = 12
        while place < message.count, message[place] > 0 {
            let end = place + 1 + Int(message[place])
            guard message[place] < 64, end < message.count else { return nil }
            labels.append(String(decoding: message[place + 1..<end], as: UTF8.self).lowercased())
            place = end
        }
        guard place + 5 <= message.count else { return nil }
        name = labels.joined(separator: ".")
        wantsIPv4 = message[place + 2] == 1
        identifier = Array(message[..<2])
        section = Array(message[12..<place + 5])
    }

    /// - Parameters:
    ///   - code: RCODE.
    ///   - record: the four bytes of an address; nil for an answer without records.
    func answer(code: UInt8, record: [UInt8]?) -> [UInt8] {
        // A response, authoritative; recursion was requested and is available. One question, and one answer or none.
        var message = identifier + [0x85, 0x80 | code, 0, 1, 0, record == nil ? 0 : 1, 0, 0, 0, 0] + section
        // The name, by a pointer to the question; then A, IN, a lifetime of 0 s, four bytes.
        if let record { message += [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4] + record }
        return message
    }
}

private final class QuestionReader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let server: NameServer

    init(server: NameServer) {
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let question = unwrapInboundIn(data)
        guard let answer = server.answer(to: Array(question.data.readableBytesView)) else { return }
        let envelope = AddressedEnvelope(remoteAddress: question.remoteAddress, data: ByteBuffer(bytes: answer))
        context.writeAndFlush(wrapOutboundOut(envelope), promise: nil)
    }
}
