internal import Foundation
internal import TextEncodings
@testable internal import OAuthMessages
internal import RefreshCore
@testable internal import authrefreshd

/// Answers that come back through a browser: the request to the loopback listener, its query or form, and text that a
/// person pastes.
///
/// An input is a request: a line with method and target, header lines, an empty line, and the body.
enum Callbacks {
    private static let port = 4711
    private static let path = "/callback"
    private static let state = "s-1"
    private static let issuer = "https://op.example.org"

    static func run(_ input: [UInt8]) {
        checkForms(input)
        checkPasted(input)
        var rest = input
        let head = head(&rest)
        switch head.outcome(at: path, port: port) {
        case .query(let query):
            checkDelivery(head)
            require(head.method == "GET", "a query comes by GET")
            checkResponse(Array(query.utf8))
        case .form:
            checkDelivery(head)
            require(head.method == "POST", "a form comes by POST")
            checkResponse(rest)
        case .refused(let status): require(status >= 400, "what is refused is told so")
        }
    }

    private static func head(_ rest: inout [UInt8]) -> RequestHead {
        let words = String(decoding: rest.takeLine(), as: UTF8.self).split(separator: " ").map(String.init)
        var fields: [(name: String, value: String)] = []
        while !rest.isEmpty {
            let line = String(decoding: rest.takeLine(), as: UTF8.self)
            // No HTTP parser takes other names.
            guard let colon = line.firstIndex(of: ":"), line[..<colon].utf8.allSatisfy({ $0 < 0x80 }) else { break }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields.append((String(line[..<colon]), value))
        }
        return RequestHead(method: words.first ?? "", target: words.count > 1 ? words[1] : "", fields: fields)
    }

    /// A request that a page of another site could send must be refused before its content is read.
    private static func checkDelivery(_ head: RequestHead) {
        require(head.values(of: "host").count == 1, "the request says for whom it is")
        require(isListener(head.values(of: "host")[0].lowercased()), "the request is for this listener")
        require(head.target == path || head.target.hasPrefix(path + "?"), "the request is for the one page")
        let destination = head.values(of: "sec-fetch-dest").first
        require(destination == nil || destination == "document", "the person's browser went there itself")
    }

    /// Whether the host is this machine's loopback address, also in another spelling of `::1`.
    private static func isListener(_ host: String) -> Bool {
        guard host.hasSuffix(":4711") else { return false }
        let name = host.dropLast(5)
        if name == "127.0.0.1" || name == "localhost" { return true }
        guard name.hasPrefix("["), name.hasSuffix("]") else { return false }
        var address = [UInt8](repeating: 0, count: 16)
        guard unsafe inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &address) == 1 else { return false }
        return address == [UInt8](repeating: 0, count: 15) + [1]
    }

    private static func checkResponse(_ form: [UInt8]) {
        guard let response = try? AuthorizationResponse(form: form) else { return }
        check(response, from: form, isBareCodeAllowed: false)
    }

    private static func checkPasted(_ input: [UInt8]) {
        guard let response = try? AuthorizationResponse(pasted: String(decoding: input, as: UTF8.self)) else { return }
        require("\(response)" == "<redacted>", "a response does not describe itself")
        check(response, from: nil, isBareCodeAllowed: true)
    }

    /// A code is accepted only with the right state, or if a person pastes it and PKCE is used.
    private static func check(_ response: AuthorizationResponse, from form: [UInt8]?, isBareCodeAllowed: Bool) {
        for (requiresIssuer, isCodeBound) in [(false, true), (true, true), (false, false), (true, false)] {
            let expected = AuthorizationExpectation(
                state: Secret(state),
                issuer: issuer,
                requiresIssuer: requiresIssuer,
                isCodeBound: isCodeBound,
                keptParameters: ["realmId"]
            )
            switch response.verdict(against: expected) {
            case .code(let code):
                require(isBareCodeAllowed || !response.isBareCode, "a request never delivers a bare code")
                require(
                    response.isBareCode ? isCodeBound && !requiresIssuer : response.state == Secret(state),
                    "a code has our state"
                )
                require((1...8192).contains(code.secret.count), "a code is no longer than the limit")
                form.map { checkAccepted($0, code, requiresIssuer) }
            case .idToken: require(false, "an ID token alone answers no request for a code")
            case .error, .untrusted: require(response.state == Secret(state), "only what has our state ends a sign-in")
            case .refused: break
            }
        }
    }

    /// The form with the code, read by Foundation.
    private static func checkAccepted(_ form: [UInt8], _ code: AuthorizationCode, _ requiresIssuer: Bool) {
        // Splits by bytes, because a combining mark after a separator would make it another character.
        let pairs = spaced(form).split(separator: UInt8(ascii: "&")).map { pair in
            pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        let values = { (name: String) in
            pairs.filter { $0.first?.removingPercentEncoding == name }
                .map { $0.count > 1 ? $0[1].removingPercentEncoding : "" }
        }
        require(values("state") == [state], "Foundation finds our state, once")
        require(values("code") == [code.secret.reveal()], "Foundation finds the code, once")
        require(values("iss").allSatisfy { $0 == issuer }, "the issuer is the one that was asked")
        require(!requiresIssuer || values("iss").count == 1, "the issuer is named where it has to be")
        require(values("error").allSatisfy { $0?.isEmpty ?? false }, "a code does not come with an error")
    }

    /// Replaces `+` as Foundation expects it, also by bytes.
    private static func spaced(_ form: [UInt8]) -> [UInt8] {
        form.flatMap { $0 == UInt8(ascii: "+") ? Array("%20".utf8) : [$0] }
    }

    /// Encoded text must decode to the original, and Foundation must decode the same.
    private static func checkForms(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let encoded = FormEncoding.encode(text)
        require(
            FormEncoding.decode(encoded.utf8)?.utf8.elementsEqual(text.utf8) ?? false,
            "form encoding reads as it was"
        )
        // One half of a character may be escaped and the other not, but Foundation accepts only whole texts.
        guard String(validating: input, as: UTF8.self) != nil, let decoded = FormEncoding.decode(input) else { return }
        let foundation = String(decoding: spaced(input), as: UTF8.self).removingPercentEncoding
        require(foundation?.utf8.elementsEqual(decoded.utf8) ?? false, "Foundation undoes the same encoding")
    }
}
