/// The sign-ins under way at the server: requests, codes and devices.
///
/// Like the ledger, it is a value without a clock or randomness. Times count from the Unix epoch.
struct SignInDesk {
    /// An application's request for a person's consent (RFC 6749 §4.1.1).
    struct Request: Equatable {
        var clientID: String
        var redirectURI: String
        var state: String?
        var scope: String
        /// `code_challenge` with the method S256 (RFC 7636 §4.3); nil if there was none.
        var challenge: String?
        var nonce: String?
        /// `code`, `code id_token` or `id_token`.
        var responseType = "code"
        var isFormPost: Bool
        /// The types in `authorization_details` (RFC 9396 §2); empty if there are none.
        var detailTypes: [String] = []
        /// The person that the page suggests.
        var loginHint: String?
        /// The policy in the address (`p`), as in Azure AD B2C; nil if there is none.
        var policy: String?

        var givesCode: Bool { responseType != "id_token" }
        var givesIDToken: Bool { responseType != "code" }
    }

    /// What a code was issued for.
    struct IssuedCode: Equatable {
        var request: Request
        var subject: String
        var issuedAt: Duration
        /// The grant that it was exchanged for; nil before that.
        var family: Int?
    }

    /// A device that waits for a person (RFC 8628 §3.2).
    struct Device: Equatable {
        enum Decision: Equatable {
            case approved(subject: String)
            case denied
        }

        var clientID: String
        var scope: String
        var userCode: String
        var issuedAt: Duration
        var interval: Duration
        var lastPoll: Duration?
        var decision: Decision?
    }

    /// The lifetime of a code. RFC 6749 §4.1.2 allows ten minutes and recommends less.
    static let codeLifetime = Duration.seconds(60)
    /// The most entries of each kind; the oldest is removed first. It limits what a test that never decides can leave
    /// behind.
    private static let kept = 1000

    private var requests: [String: Request] = [:]
    private var requestOrder: [String] = []
    private var codes: [String: IssuedCode] = [:]
    private var codeOrder: [String] = []
    private var devices: [String: Device] = [:]
    private var deviceOrder: [String] = []

    /// Stores a request for the page `id`.
    mutating func ask(_ request: Request, as id: String) {
        requests[id] = request
        requestOrder.append(id)
        if requestOrder.count > Self.kept { requests[requestOrder.removeFirst()] = nil }
    }

    /// Removes and returns a page's request, which can be decided once.
    mutating func take(_ id: String) -> Request? {
        requests.removeValue(forKey: id)
    }

    mutating func promise(_ code: String, _ issued: IssuedCode) {
        codes[code] = issued
        codeOrder.append(code)
        if codeOrder.count > Self.kept { codes[codeOrder.removeFirst()] = nil }
    }

    func issued(_ code: String) -> IssuedCode? { codes[code] }

    /// Records which grant a code was exchanged for.
    mutating func spend(_ code: String, for family: Int) {
        codes[code]?.family = family
    }

    mutating func add(_ device: Device, code: String) {
        devices[code] = device
        deviceOrder.append(code)
        if deviceOrder.count > Self.kept { devices[deviceOrder.removeFirst()] = nil }
    }

    subscript(device code: String) -> Device? {
        get { devices[code] }
        set { devices[code] = newValue }
    }

    /// The device whose code the person typed, in any spelling.
    func deviceCode(for typed: String) -> String? {
        let letters = { (text: String) in text.uppercased().filter { $0.isLetter || $0.isNumber } }
        return devices.first { letters($0.value.userCode) == letters(typed) }?.key
    }
}
