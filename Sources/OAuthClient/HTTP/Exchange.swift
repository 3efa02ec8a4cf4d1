import CCurl
import Glibc
import OAuthMessages
import RefreshCore

/// What one exchange needs to know. Everything that lies in files has been read.
struct ExchangePlan: Sendable {
    let request: HTTPTransport.Request
    /// Certificate authorities in PEM that are trusted in addition to the system's; nil for none.
    let authorities: [UInt8]?
    /// The proxy's URL; nil to connect directly.
    let proxy: Secret?
    /// The time limit for name resolution, TCP, proxy and TLS together.
    let connectTimeout: Duration
    let bodyBytesMax: Int
    /// Whether the request may still be sent. Asked once, when the connection is made.
    let maySend: @Sendable () -> Bool
    /// The name to look up first: the endpoint's or the proxy's; nil if it is an address or this machine.
    let hostToLookUp: String?
    /// Whether to make the connection and send nothing.
    var isProbe = false
    /// Whether to accept only certificates that are trusted. A probe that looks at a refused certificate does not.
    var verifies = true
    /// Whether to use connections again. Only a test does, to see that no request is sent twice all the same.
    var reusesConnections = false
}

/// One request, on one connection of its own, and what came back. It is sent at most once.
///
/// It lives on the thread of the exchanges.
@safe final class Exchange {
    /// How long the connection is silent before the first probe and between probes, in seconds (tcp(7), keepalive).
    private static let probeInterval = 15
    /// How long data or probes may remain unacknowledged, in milliseconds. The kernel's own limit is a quarter of an
    /// hour.
    private static let acknowledgementLimit: Int32 = 60_000

    let plan: ExchangePlan
    let handle: UnsafeMutableRawPointer
    /// The handle's address.
    let key: UInt
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var reader: AnswerReader
    private var isAsked = false
    /// Where libcurl writes why the exchange failed.
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The sockets that were opened: more than one if the host has several addresses.
    private var sockets: [Int32] = []
    /// Called when the name has been looked up.
    var onNameFound: () -> Void = {}

    /// Whether the request may have left this process. It is false until the connection is made and nothing is sent yet.
    private(set) var isSent = false
    /// Whether what may be sent only once may have left this process. Other requests may be repeated at any time.
    var mayHaveSpent: Bool { isSent && (plan.request.body != nil || plan.request.isSpending) }
    /// Whether it was too late to send the request when the connection was made.
    private(set) var hasRunOut = false

    /// - Throws: `requestRefused` if the request cannot be sent as it is; `other` if the library refuses a setting.
    init(_ plan: ExchangePlan) throws(TransportFailure) {
        guard HTTPLibrary.isReady, let handle = unsafe curl_easy_init() else {
            throw TransportFailure(cause: .other, wasSent: false)
        }
        self.plan = plan
        unsafe self.handle = handle
        key = UInt(bitPattern: handle)
        reader = AnswerReader(bodyBytesMax: plan.bodyBytesMax)
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard Self.isHostSeen(in: plan.request.endpoint), headersAreSound else {
            throw TransportFailure(cause: .requestRefused, wasSent: false)
        }
        var setting = unsafe Setting(handle: handle)
        setConnection(&setting)
        setTrust(&setting)
        setRequest(&setting)
        setCallbacks(&setting)
        guard setting.code == CURLE_OK else { throw TransportFailure(cause: .other, wasSent: false) }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe errorText.deallocate()
    }

    // MARK: The end

    /// What came back.
    struct Reply: Sendable {
        let answer: Answer
        /// What the server showed to a probe.
        var certificate: ServerCertificate?
    }

    /// The answer as far as it has come; nil if that is no answer.
    ///
    /// - Parameter isEnded: whether the answer ended as its framing announced.
    func reply(isEnded: Bool) -> Reply? {
        if plan.isProbe {
            return isEnded ? Reply(answer: Answer(status: 0, headers: [:]), certificate: certificate) : nil
        }
        return answer(isEnded: isEnded).map { Reply(answer: $0) }
    }

    private func answer(isEnded: Bool) -> Answer? {
        let status = Int(unsafe authrefresh_curl_long(handle, CURLINFO_RESPONSE_CODE))
        // Nothing on this machine can be in between.
        let trustsServer = plan.request.endpoint.isSecure || plan.request.endpoint.isLoopback
        return reader.answer(status: status, isEnded: isEnded, trustsServer: trustsServer)
    }

    private var certificate: ServerCertificate? {
        guard let list = unsafe authrefresh_curl_certificates(handle), unsafe list.pointee.num_of_certs > 0 else {
            return nil
        }
        var lines: [String: String] = [:]
        var entry = unsafe list.pointee.certinfo[0]
        while let line = unsafe entry {
            let text = unsafe String(cString: line.pointee.data)
            if let colon = text.firstIndex(of: ":") {
                lines[String(text[..<colon])] = String(text[text.index(after: colon)...])
            }
            unsafe entry = line.pointee.next
        }
        return ServerCertificate(lines)
    }

    /// Why libcurl ended the exchange without an answer.
    func failure(_ code: CURLcode) -> TransportFailure {
        let facts = TransportCause.Facts(
            code: code,
            text: unsafe String(cString: errorText),
            isSecure: plan.request.endpoint.isSecure,
            isConnected: unsafe authrefresh_curl_offset(handle, CURLINFO_CONNECT_TIME_T) > 0,
            proxyStatus: plan.proxy == nil ? 0 : unsafe authrefresh_curl_long(handle, CURLINFO_HTTP_CONNECTCODE),
            usesProxy: plan.proxy != nil,
            verification: unsafe authrefresh_curl_long(handle, CURLINFO_SSL_VERIFYRESULT),
            showedCertificate: plan.request.identity != nil
        )
        return TransportFailure(cause: hasRunOut ? .timeLimit : TransportCause(facts), wasSent: mayHaveSpent)
    }

    /// Lets the connection resume a TLS session of an earlier one.
    func share(_ sessions: UnsafeMutableRawPointer?) {
        unsafe _ = authrefresh_curl_set_pointer(handle, CURLOPT_SHARE, sessions)
    }

    // MARK: Calls of libcurl

    private static func of(_ context: UnsafeMutableRawPointer?) -> Exchange {
        guard let context = unsafe context else { preconditionFailure("each call has its exchange") }
        return unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// Passes bytes on to the reader.
    ///
    /// - Returns: what libcurl expects: the number of bytes, or another number to end the exchange.
    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ count: Int,
        _ context: UnsafeMutableRawPointer?,
        _ read: (inout AnswerReader, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        let part = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return unsafe read(&of(context).reader, part) ? count : count + 1
    }

    /// The connection is made, and nothing is sent yet.
    ///
    /// libcurl calls this again when it sends a request a second time. That is refused: it alone decides whether a
    /// token may be sent, and the token may be spent.
    private func beginRequest() -> Bool {
        guard !isAsked else { return false }
        isAsked = true
        isSent = plan.maySend()
        hasRunOut = !isSent
        return isSent
    }

    /// Whether the server sends so much that the rest is not worth reading, be it heads, chunks' extensions or empty
    /// lines.
    private var isTooMuch: Bool {
        sockets.contains { authrefresh_bytes_received($0) > UInt64(AnswerReader.wireBytesMax) }
    }

    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        onNameFound()
        guard let address = unsafe address?.pointee else { return -1 }
        let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(address.family, kind, address.protocol)
        guard socket >= 0 else { return -1 }
        var limit = Self.acknowledgementLimit
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &limit, socklen_t(MemoryLayout<Int32>.size))
        sockets.append(socket)
        return socket
    }

    // MARK: Settings

    /// Sets options, and remembers the first that was refused.
    @safe private struct Setting {
        let handle: UnsafeMutableRawPointer
        var code = CURLE_OK

        mutating func number(_ option: CURLoption, _ value: Int) {
            note(unsafe authrefresh_curl_set_long(handle, option, value))
        }

        /// libcurl copies the text. Nil switches off what the option names.
        mutating func text(_ option: CURLoption, _ value: String?) {
            note(unsafe authrefresh_curl_set_text(handle, option, value))
        }

        mutating func blob(_ option: CURLoption, _ bytes: UnsafeRawBufferPointer) {
            note(unsafe authrefresh_curl_set_blob(handle, option, bytes.baseAddress, bytes.count))
        }

        mutating func note(_ result: CURLcode) {
            if code == CURLE_OK { code = result }
        }
    }

    /// Whether libcurl sees the same host and port in the URL as we do.
    private static func isHostSeen(in endpoint: Endpoint) -> Bool {
        guard let url = unsafe curl_url() else { return false }
        defer { unsafe curl_url_cleanup(url) }
        guard unsafe curl_url_set(url, CURLUPART_URL, endpoint.url, 0) == CURLUE_OK else { return false }
        let part = { (name: CURLUPart) -> String? in
            var text: UnsafeMutablePointer<CChar>?
            guard unsafe curl_url_get(url, name, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text = unsafe text
            else { return nil }
            defer { unsafe curl_free(text) }
            return unsafe String(cString: text)
        }
        guard let host = part(CURLUPART_HOST)?.lowercased() else { return false }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return bare == endpoint.host && part(CURLUPART_PORT) == String(endpoint.port)
    }

    /// Whether no header holds a line break, which would begin another header.
    private var headersAreSound: Bool {
        plan.request.headers.fields.allSatisfy { field in
            (field.name + field.value).utf8.allSatisfy { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
        }
    }

    private func setConnection(_ setting: inout Setting) {
        // HTTP/2 brings no gain for one request an hour; see the decision page "The HTTP client is libcurl".
        setting.number(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        setting.text(CURLOPT_PROTOCOLS_STR, plan.request.endpoint.isSecure ? "https" : "http")
        setting.number(CURLOPT_FOLLOWLOCATION, 0)
        setting.number(CURLOPT_FRESH_CONNECT, plan.reusesConnections ? 0 : 1)
        setting.number(CURLOPT_FORBID_REUSE, plan.reusesConnections ? 0 : 1)
        setting.number(CURLOPT_NOSIGNAL, 1)
        // Without it, the end of an exchange waits for its name to be looked up.
        setting.number(CURLOPT_QUICK_EXIT, 1)
        setting.number(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        setting.number(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(plan.connectTimeout / .milliseconds(1))))
        // If the server is gone, the connection ends with an error within about a minute. Nothing else would notice it
        // while an answer is awaited.
        setting.number(CURLOPT_TCP_KEEPALIVE, 1)
        setting.number(CURLOPT_TCP_KEEPIDLE, Self.probeInterval)
        setting.number(CURLOPT_TCP_KEEPINTVL, Self.probeInterval)
        // An empty text: not even the proxy of the environment.
        setting.text(CURLOPT_PROXY, plan.proxy?.reveal() ?? "")
        setting.text(CURLOPT_NOPROXY, "")
        setting.number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        setting.number(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        setting.number(CURLOPT_CONNECT_ONLY, plan.isProbe ? 1 : 0)
    }

    private func setTrust(_ setting: inout Setting) {
        setting.number(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        setting.number(CURLOPT_SSL_VERIFYPEER, plan.verifies ? 1 : 0)
        setting.number(CURLOPT_SSL_VERIFYHOST, plan.verifies ? 2 : 0)
        setting.number(CURLOPT_CERTINFO, plan.isProbe ? 1 : 0)
        if let folder = unsafe HTTPLibrary.authorityFolder(of: handle) {
            setting.text(CURLOPT_CAINFO, nil)
            setting.text(CURLOPT_CAPATH, folder)
            setting.text(CURLOPT_PROXY_CAINFO, nil)
            setting.text(CURLOPT_PROXY_CAPATH, folder)
        } else if let bundle = unsafe HTTPLibrary.authorityBundle(of: handle) {
            setting.text(CURLOPT_CAPATH, nil)
            setting.text(CURLOPT_CAINFO, bundle)
            setting.text(CURLOPT_PROXY_CAINFO, bundle)
        }
        if let authorities = plan.authorities {
            unsafe authorities.withUnsafeBytes { bytes in
                unsafe setting.blob(CURLOPT_CAINFO_BLOB, bytes)
                unsafe setting.blob(CURLOPT_PROXY_CAINFO_BLOB, bytes)
            }
        }
        guard let identity = plan.request.identity else { return }
        unsafe identity.withBytes { bytes in
            unsafe setting.blob(CURLOPT_SSLCERT_BLOB, bytes)
            unsafe setting.blob(CURLOPT_SSLKEY_BLOB, bytes)
        }
        // OpenSSL would ask for a passphrase on the terminal.
        setting.text(CURLOPT_KEYPASSWD, "")
    }

    private func setRequest(_ setting: inout Setting) {
        let request = plan.request
        setting.text(CURLOPT_URL, request.endpoint.url)
        if let body = request.body {
            // The length is always stated: without it, the body would be sent in chunks, which old servers refuse.
            unsafe body.withUnsafeBytes { bytes in
                let place = unsafe bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
                setting.note(unsafe authrefresh_curl_set_body(handle, place, bytes.count))
            }
        } else {
            setting.number(CURLOPT_HTTPGET, 1)
        }
        if let method = request.method { setting.text(CURLOPT_CUSTOMREQUEST, method.word) }
        var fields = request.headers
        // RFC 9110 §12.5.3: without this field, a server may choose any encoding, also one that is not known here.
        fields.replaceOrAdd(name: "accept-encoding", value: "identity")
        if !plan.reusesConnections { fields.replaceOrAdd(name: "connection", value: "close") }
        for field in fields.fields { append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)") }
        // libcurl would wait for a `100 Continue` before a long body.
        append("Expect:")
        setting.note(unsafe authrefresh_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers))
    }

    private func append(_ line: String) {
        unsafe headers = curl_slist_append(headers, line)
    }

    private func setCallbacks(_ setting: inout Setting) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        setting.note(unsafe authrefresh_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        setting.note(
            unsafe authrefresh_curl_set_callbacks(
                handle,
                context,
                { bytes, size, count, context in
                    unsafe Exchange.take(bytes, size * count, context) { unsafe $0.takeHead($1) }
                },
                { bytes, size, count, context in
                    unsafe Exchange.take(bytes, size * count, context) { unsafe $0.takeBody($1) }
                },
                { context, _, _, _, _ in
                    let mayBegin = unsafe Exchange.of(context).beginRequest()
                    return Int32(mayBegin ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
                },
                { context, _, _, _, _ in unsafe Exchange.of(context).isTooMuch ? 1 : 0 },
                { context, _, address in unsafe Exchange.of(context).open(address) }
            )
        )
    }
}
