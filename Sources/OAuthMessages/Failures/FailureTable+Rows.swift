internal import RefreshCore

extension FailureTable {
    /// The rows in order: no answer; answers of gateways and proxies; error codes, the most specific first; pages;
    /// answers without a code.
    static let standardRows =
        transportRows + gatewayRows + entraRows + providerCodeRows + entraEndRows + errorRows + codelessRows
        + [anythingElse]

    private static let transportRows = [
        FailureRow(
            "certificate, clock unset",
            Condition(
                transport: [.certificate, .certificateExpired, .certificateNotYetValid],
                sign: .implausibleClock
            ),
            .unreachable,
            "the server's certificate cannot be checked because this machine's clock is wrong"
        ),
        FailureRow(
            "certificate expired",
            Condition(transport: [.certificateExpired]),
            .untrusted,
            "the server's certificate has expired: check this machine's clock, or tell the server's operator"
        ),
        FailureRow(
            "certificate not yet valid",
            Condition(transport: [.certificateNotYetValid]),
            .untrusted,
            "the server's certificate is not valid yet: check this machine's clock, or tell the server's operator"
        ),
        FailureRow(
            "certificate of another host",
            Condition(transport: [.certificateHost]),
            .untrusted,
            "the server's certificate is for another host: check the URL, and whether the network has a sign-in page"
        ),
        FailureRow(
            "certificate of an unknown authority",
            Condition(transport: [.certificateAuthority]),
            .untrusted,
            "no authority that this machine trusts has signed the server's certificate: check the CA file, and the network for a proxy that reads along"
        ),
        FailureRow(
            "certificate",
            Condition(transport: [.certificate]),
            .untrusted,
            "the server's certificate is not trusted: check this machine's clock, the CA file and the host name"
        ),
        FailureRow(
            "CA file",
            Condition(transport: [.authorityFile]),
            .misconfigured,
            "the configured CA file cannot be read"
        ),
        FailureRow(
            "CA file hangs",
            Condition(transport: [.authorityFileHangs], wasSent: false),
            .unreachable,
            "the configured CA file could not be read in time: its file system does not answer"
        ),
        FailureRow(
            "assertion file",
            Condition(transport: [.assertionFile], wasSent: false),
            .unreachable,
            "the file with the client's assertion cannot be read, or has no signed token in it"
        ),
        FailureRow(
            "assertion file hangs",
            Condition(transport: [.assertionFileHangs], wasSent: false),
            .unreachable,
            "the file with the client's assertion could not be read in time: its file system does not answer"
        ),
        FailureRow(
            "assertion expired",
            Condition(transport: [.assertionExpired], wasSent: false),
            .unreachable,
            "the client's assertion in the file has expired, and nobody has written a new one"
        ),
        FailureRow(
            "client key",
            Condition(transport: [.clientKey]),
            .misconfigured,
            "the client's key cannot sign for this server: it must be a private key without a passphrase, of a kind that the server accepts"
        ),
        FailureRow(
            "client certificate",
            Condition(transport: [.clientCertificate]),
            .misconfigured,
            "the client's key file also needs the certificate, both in PEM form, and the key without a passphrase"
        ),
        FailureRow(
            "client certificate demanded",
            Condition(transport: [.clientCertificateDemanded]),
            .misconfigured,
            "the server demands a client certificate: the account needs a client key file that also has the certificate"
        ),
        FailureRow(
            "request cannot be sent",
            Condition(transport: [.requestRefused]),
            .misconfigured,
            "a header of the request has a line break: check the account's parameters and the provider profile"
        ),
        FailureRow(
            "proxy setting",
            Condition(transport: [.proxyConfiguration]),
            .misconfigured,
            "the proxy that HTTPS_PROXY or the configuration names cannot be used: it must be http, https or socks5h://HOST:PORT"
        ),
        FailureRow(
            "proxy wants sign-in",
            Condition(transport: [.proxySignIn]),
            .unavailable,
            "the proxy asks for credentials (407)"
        ),
        FailureRow(
            "proxy refuses",
            Condition(transport: [.proxyRefused], wasSent: false),
            .unreachable,
            "the proxy did not open a connection to the server"
        ),
        FailureRow(
            "proxy's name not resolved",
            Condition(transport: [.proxyNameResolution], wasSent: false),
            .unreachable,
            "the proxy's name could not be resolved"
        ),
        FailureRow(
            "proxy not connected",
            Condition(transport: [.proxyConnection], wasSent: false),
            .unreachable,
            "the proxy could not be reached"
        ),
        FailureRow(
            "name not resolved",
            Condition(transport: [.nameResolution], wasSent: false),
            .unreachable,
            "the server's name could not be resolved"
        ),
        FailureRow(
            "not connected",
            Condition(transport: [.connection], wasSent: false),
            .unreachable,
            "the server could not be reached"
        ),
        FailureRow(
            "no TLS version in common",
            Condition(transport: [.tlsProtocol], wasSent: false),
            .unreachable,
            "the server and this machine have no TLS version in common: the server must speak TLS 1.2 or later"
        ),
        FailureRow(
            "handshake failed",
            Condition(transport: [.tls], wasSent: false),
            .unreachable,
            "no TLS connection to the server could be made"
        ),
        FailureRow(
            "not sent in time",
            Condition(transport: [.timeLimit], wasSent: false),
            .unreachable,
            "the server could not be reached in time"
        ),
        FailureRow(
            "not sent",
            Condition(wasSent: false),
            .unreachable,
            "the connection was lost before the request was sent"
        ),
        FailureRow(
            "not answered in time",
            Condition(transport: [.timeLimit]),
            .unanswered,
            "the server did not answer in time"
        ),
        FailureRow(
            "answer lost",
            Condition(transport: Set(TransportCause.allCases)),
            .unanswered,
            "the connection was lost before the answer arrived"
        ),
    ]

    private static let gatewayRows = [
        FailureRow(
            "redirect elsewhere",
            Condition(status: [300...399], sign: .redirectElsewhere),
            .unavailable,
            "the answer was a redirect to another host, as from the sign-in page of a network; it was not followed"
        ),
        FailureRow(
            "redirect",
            Condition(status: [300...399]),
            .misconfigured,
            "the token endpoint answered with a redirect, which is never followed",
            .forgetMetadata
        ),
        FailureRow("407", Condition(status: [407...407]), .unavailable, "the proxy asks for credentials (407)"),
        FailureRow("429", Condition(status: [429...429]), .unavailable, "the server limits the rate of requests"),
        FailureRow(
            "server too busy to listen",
            Condition(status: [408...408, 421...421, 425...425]),
            .unavailable,
            "the server did not accept the request now"
        ),
        // The server behind the gateway may have accepted the token, so this is not plain unavailability: 502 and 504
        // of any gateway, 520 and 524 of Cloudflare.
        FailureRow(
            "gateway lost the answer",
            Condition(status: [502...502, 504...504, 520...520, 524...524]),
            .unanswered,
            "a gateway lost the server's answer"
        ),
        // 511 is the sign-in page of a network (RFC 6585 §6). With the others, Cloudflare says that it made no
        // connection to the server. 522 is not among them, because Cloudflare also gives it when an open connection
        // falls silent.
        FailureRow(
            "request cannot have arrived",
            Condition(status: [511...511, 521...521, 523...523, 525...526, 530...530]),
            .unavailable,
            "the server is temporarily unavailable"
        ),
        // RFC 9110 §15.6.4: a server that is overloaded or being maintained sends 503, and says when to come back. No
        // other failing server's `Retry-After` shows that it has not processed the request.
        FailureRow(
            "503 until later",
            Condition(status: [503...503], sign: .retryAfter),
            .unavailable,
            "the server is temporarily unavailable"
        ),
        // This row applies to every error code, because a server that fails cannot be believed about the grant. It may
        // have failed after it replaced the refresh token. RFC 9110 §15: a status that does not exist counts as 5xx.
        FailureRow(
            "5xx",
            Condition(status: [0...99, 500...999]),
            .unanswered,
            "the server is temporarily unavailable"
        ),
        // The part that was cut off may have held the new refresh token.
        FailureRow(
            "success too large",
            Condition(status: [200...299], body: [.tooLarge]),
            .unanswered,
            "the answer was larger than the limit"
        ),
        FailureRow(
            "answer too large",
            Condition(body: [.tooLarge]),
            .unavailable,
            "the answer was larger than the limit"
        ),
    ]

    private static let codelessRows = [
        FailureRow(
            "page instead of the endpoint",
            Condition(status: [404...405, 410...410], body: [.html]),
            .unavailable,
            "a web page came back instead of an answer",
            .forgetMetadata
        ),
        // This row requires that the same request brought tokens before. If a page is the first answer, the address is
        // wrong.
        FailureRow(
            "page that refuses",
            Condition(status: [400...401, 403...403], body: [.html], sign: .workedBefore),
            .refusedByGateway,
            "a web page refuses the request, as firewalls do"
        ),
        FailureRow(
            "page",
            Condition(status: [400...499], body: [.html]),
            .unavailable,
            "a web page came back instead of an answer"
        ),
        // The certificate was right, so this is no captive portal's page. A server's script that failed after its work
        // writes one, too.
        FailureRow(
            "success as a page",
            Condition(status: [200...299], body: [.html]),
            .unanswered,
            "the answer is a web page without an access token"
        ),
        FailureRow(
            "no such endpoint",
            Condition(status: [404...405, 410...410]),
            .misconfigured,
            "there is no token endpoint at this address",
            .forgetMetadata
        ),
        FailureRow(
            "request form refused",
            Condition(status: [406...406, 411...411, 413...415, 426...426, 431...431]),
            .misconfigured,
            "the server refuses the form of the request"
        ),
        FailureRow(
            "come back later",
            Condition(status: [400...499], sign: .retryAfter),
            .unavailable,
            "the server asks to try again later"
        ),
        // RFC 6749 §5.2: this challenge answers a client that could not be authenticated, whatever the body is.
        // Spring's own code for it is "unauthorized".
        FailureRow(
            "client challenged",
            Condition(status: [401...401], body: [.empty, .fields, .other], hasError: false, sign: .clientChallenge),
            .misconfigured,
            "the server does not accept this client's credentials",
            .tryOtherCredentials
        ),
        FailureRow(
            "client challenged as unauthorized",
            Condition(status: [401...401], error: ["unauthorized"], sign: .clientChallenge),
            .misconfigured,
            "the server does not accept this client's credentials",
            .tryOtherCredentials
        ),
        FailureRow(
            "unknown code",
            Condition(status: [200...299, 400...403], hasError: true),
            .rejected,
            "the authorization server refused with a code of its own",
            .tryOtherSecretForm
        ),
        FailureRow(
            "gateway refuses",
            Condition(status: [400...401, 403...403], body: [.fields], sign: .gatewayMessage),
            .refusedByGateway,
            "a gateway refuses the request",
            .tryOtherSecretForm
        ),
        FailureRow(
            "refused without a code",
            Condition(status: [400...401, 403...403], body: [.empty, .fields]),
            .rejected,
            "the authorization server refused without giving a reason",
            .tryOtherSecretForm
        ),
        // The server may have rotated the token in the answer that cannot be read. 101 begins another protocol, in
        // which the answer may be.
        FailureRow(
            "success without tokens",
            Condition(status: [100...299]),
            .unanswered,
            "the answer has no access token"
        ),
    ]
}
