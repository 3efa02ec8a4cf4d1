internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore

/// What `authctl doctor` finds of an authorization server and its metadata.
enum ServerFinding {
    case notChecked
    /// Its accounts have waited for their turn.
    case behind(for: Duration)
    /// `account` is one that depends on the server.
    case noMetadata(RefreshFailure, account: String)
    case refreshNotListed
    case methodNotListed(account: String, method: String)
    /// `byProfile`: a provider profile names the token endpoint.
    case complete(byProfile: Bool, tokenHost: String)
    case clockAgrees
    /// `skew` is positive if the server's clock is ahead.
    case clockDiffers(skew: Duration, isSerious: Bool)

    /// The finding, in the words of `authctl doctor`.
    ///
    /// - Parameter url: the issuer's.
    func finding(of url: String) -> Finding {
        switch self {
        case .notChecked: .note(.discovery, "not checked: there is no network", of: url)
        case .behind(let time):
            .warning(
                .servers,
                "its accounts need more refreshes than it answers, or than the limits allow; they have waited for "
                    + time.words,
                of: url,
                needs: .repair,
                advice:
                    "if the server allows more, raise max_concurrent_refreshes and max_refreshes_per_second in authrefreshd.yaml"
            )
        case .noMetadata(let failure, let account): Self.noMetadata(failure, account, url)
        case .refreshNotListed:
            .note(
                .discovery,
                "the metadata does not list the grant type refresh_token; the daemon refreshes anyway",
                of: url
            )
        case .methodNotListed(let account, let method):
            .warning(
                .discovery,
                "'\(account)' authenticates by \(method), which the metadata does not list",
                of: url,
                needs: .repair,
                advice: "if refreshes fail: authctl account edit \(account) --auth-method METHOD"
            )
        case .complete(let byProfile, let host):
            .ok(
                .discovery,
                "the \(byProfile ? "provider profile" : "metadata") is complete, tokens come from \(host)",
                of: url
            )
        case .clockAgrees: .ok(.clock, "its clock agrees with this machine's", of: url)
        case .clockDiffers(let skew, let isSerious): Self.clock(skew, isSerious, url)
        }
    }

    private static func noMetadata(_ failure: RefreshFailure, _ account: String, _ url: String) -> Finding {
        let said = failure.detail.oauthErrorDescription.map { " ('\($0)')" } ?? ""
        let status = failure.detail.httpStatus.map { " (HTTP \($0))" } ?? ""
        let isSetUpWrong = failure.failureClass.isMisconfiguration
        return .error(
            .discovery,
            failure.detail.summary + said + status,
            of: url,
            needs: isSetUpWrong ? .repair : .time,
            advice: isSetUpWrong
                ? "check the issuer: authctl account show \(account)" : "the daemon tries again by itself"
        )
    }

    private static func clock(_ skew: Duration, _ isSerious: Bool, _ url: String) -> Finding {
        let text = "its clock is \(skew.words) \(skew > .zero ? "ahead of" : "behind") this machine's"
        let advice = "one of the two is wrong; set this machine's with: timedatectl set-ntp true"
        return isSerious
            ? .error(.clock, text, of: url, needs: .repair, advice: advice)
            : .warning(.clock, text, of: url, needs: .repair, advice: advice)
    }
}

/// What `authctl doctor` finds when it looks up the name of a server or of the proxy.
enum NameFinding {
    case found(addresses: Int, isProxy: Bool)
    case failed(NameLookupError, isProxy: Bool)

    /// The finding, in the words of `authctl doctor`.
    func finding(of host: String) -> Finding {
        let advice = "look at the network and /etc/resolv.conf: getent hosts \(host)"
        switch self {
        case .found(let count, let isProxy):
            let subject = isProxy ? "the proxy" : "it"
            return .ok(.dns, "\(subject) has \(count == 1 ? "an address" : "\(count) addresses")", of: host)
        case .failed(.noSuchName, let isProxy):
            return .error(
                .dns,
                "there is no such name",
                of: host,
                needs: .repair,
                advice: "check the \(isProxy ? "proxy's" : "issuer's") URL; or: getent hosts \(host)"
            )
        case .failed(.serverFailed, _):
            return .error(.dns, "the name servers cannot be reached", of: host, needs: .time, advice: advice)
        case .failed(.timedOut, _):
            let text = "the name servers have not answered within \(NameLookup.limit.words)"
            return .error(.dns, text, of: host, needs: .time, advice: advice)
        case .failed(.resolverHangs, _):
            let text = "the name was not looked up, because the lookup of an earlier name hangs"
            return .warning(.dns, text, of: host, needs: .time, advice: advice)
        }
    }
}

/// What `authctl doctor` finds of a server's TLS connection and certificate.
enum CertificateFinding {
    case valid(for: Duration)
    case expiresSoon(in: Duration)
    /// `now` is the time that the certificate's dates are compared with.
    case failed(CertificateProbeError, now: Timestamp)

    /// The finding, in the words of `authctl doctor`.
    ///
    /// - Parameter place: the host; for a failure, with the port.
    func finding(of place: String) -> Finding {
        switch self {
        case .valid(let rest): return .ok(.tls, "the certificate is valid for \(rest.words)", of: place)
        case .expiresSoon(let rest):
            return .warning(
                .tls,
                "the certificate expires in \(rest.words)",
                of: place,
                needs: .time,
                advice: "tell the operator of the server"
            )
        case .failed(let error, let now):
            let (text, need, advice) = Self.texts(error, now)
            return .error(.tls, text, of: place, needs: need, advice: advice)
        }
    }

    private static func texts(_ error: CertificateProbeError, _ now: Timestamp) -> (String, Finding.Need, String) {
        let network = "look at the network, a firewall, the server; the daemon tries again by itself"
        let clock = "check this machine's clock (timedatectl); else tell the operator of the server"
        switch error {
        case .unreachable: return ("no server answers at this address", .time, network)
        case .timedOut: return ("the server did not answer in time", .time, network)
        case .handshake:
            return ("no TLS connection: what answers does not speak TLS 1.2 or later", .repair, "check the URL")
        case .authorityFile:
            return (
                "the configured ca_file cannot be read, or contains no certificate", .repair,
                "look at ca_file in the configuration and the provider's profile"
            )
        case .authorityFileHangs:
            return (
                "the configured ca_file could not be read in time: its file system does not answer", .time,
                "look at the mount that ca_file is on; the daemon tries again by itself"
            )
        case .expired(let end): return ("the certificate expired \((now - end).words) ago", .repair, clock)
        case .notYetValid(let start):
            return ("the certificate becomes valid only in \((start - now).words)", .repair, clock)
        case .wrongHost:
            return ("the certificate belongs to another host: this may not be the server", .repair, "check the URL")
        case .untrusted:
            return (
                "no certificate authority that this machine trusts has signed the certificate", .repair,
                "if the server is your own, name its authority with ca_file; else a proxy or an attacker may be in between"
            )
        }
    }
}
