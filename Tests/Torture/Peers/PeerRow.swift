/// The results of other programs, which were measured once (oidc-agent 4.2.6 and 5.3.3, pizauth 1.1.0, mutt_oauth2.py,
/// requests-oauthlib, msal and emailproxy, Debian 12, everything on loopback), and the results of our daemon, which are
/// measured now.
struct PeerRow: Sendable {
    let test: String
    let ours: String
    let oidcAgent4: String
    let oidcAgent5: String
    let pizauth: String
    let others: String

    static let header = ["test", "authrefreshd", "oidc-agent 4", "oidc-agent 5", "pizauth", "others"]

    var cells: [String] { [test, ours, oidcAgent4, oidcAgent5, pizauth, others] }
}

extension PeerRow {
    static func killed(_ ours: String) -> PeerRow {
        PeerRow(
            test: "killed 0…300 ms after the server's answer, rotated token",
            ours: ours,
            oidcAgent4: "lost 30 of 30",
            oidcAgent5: "lost 30 of 30",
            pizauth: "lost 3 of 5 at 0 ms, 0 of 25 later",
            others: "mutt: lost 3 of 5 at 0 ms, 0 of 25 later"
        )
    }

    static func captivePortal(_ ours: String) -> PeerRow {
        PeerRow(
            test: "captive portal: 200 with a page",
            ours: ours,
            oidcAgent4: "error, grant kept",
            oidcAgent5: "error, grant kept",
            pizauth: "grant dropped, browser sign-in",
            others: "error or traceback, grant kept"
        )
    }

    static func cutAnswer(_ ours: String) -> PeerRow {
        PeerRow(
            test: "answer cut off: 200 with half the JSON",
            ours: ours,
            oidcAgent4: "error, grant kept",
            oidcAgent5: "error, grant kept",
            pizauth: "grant dropped, browser sign-in",
            others: "error or traceback, grant kept"
        )
    }

    static func textLifetime(_ ours: String) -> PeerRow {
        PeerRow(
            test: "expires_in \"3600\" as text",
            ours: ours,
            oidcAgent4: "ok",
            oidcAgent5: "ok",
            pizauth: "grant dropped, browser sign-in",
            others: "ok"
        )
    }

    static func silentServer(_ ours: String) -> PeerRow {
        PeerRow(
            test: "the server says nothing: another account's cached token",
            ours: ours,
            oidcAgent4: "blocked for more than 150 s",
            oidcAgent5: "blocked for 32.5 s",
            pizauth: "served at once",
            others: "no time limit: mutt, oauthlib, msal"
        )
    }

    static func shortToken(_ ours: String) -> PeerRow {
        PeerRow(
            test: "a token of 30 s: requests in 10 s",
            ours: ours,
            oidcAgent4: "0 (no refresh ahead)",
            oidcAgent5: "0 (no refresh ahead)",
            pizauth: "10,856",
            others: "0 (no refresh ahead)"
        )
    }

    static func halfRequest(_ ours: String) -> PeerRow {
        PeerRow(
            test: "a client sends half a request: the others",
            ours: ours,
            oidcAgent4: "blocked for more than 30 s",
            oidcAgent5: "blocked",
            pizauth: "blocked",
            others: "have no socket"
        )
    }
}
