/// One thing that was looked at. The fields are described in `io.authrefresh.varlink`.
package struct Finding: Codable, Hashable, Sendable {
    package var check: String
    package var subject: String?
    package var level: String
    package var text: String
    package var advice: String?
    package var needs: String?

    package init(
        check: String,
        subject: String? = nil,
        level: String,
        text: String,
        advice: String? = nil,
        needs: String? = nil
    ) {
        self.check = check
        self.subject = subject
        self.level = level
        self.text = text
        self.advice = advice
        self.needs = needs
    }
}

/// The wire types of `Diagnose`.
package enum Diagnose {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var accounts: [String]?

        package init(accounts: [String]? = nil) {
            self.accounts = accounts
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var findings: [Finding]

        package init(findings: [Finding]) {
            self.findings = findings
        }
    }
}

/// The words of `Finding`, and findings made of them. A peer of another version may use others.
extension Finding {
    package enum Check: String, CaseIterable, Sendable {
        // What authctl looks at, and knows without the daemon.
        case environment, path, installation, socket, service, linger, daemon, version
        // What the daemon looks at; both look at the clock.
        case program, configuration, clock, network, proxy, store, key, accounts, servers, account, dns, tls, discovery
    }

    package enum Level: String, CaseIterable, Comparable, Sendable {
        case ok, note, warning, error

        package static func < (lhs: Level, rhs: Level) -> Bool {
            lhs.rank < rhs.rank
        }

        private var rank: Int {
            switch self {
            case .ok: 0
            case .note: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    /// What it takes to have all well again.
    package enum Need: String, CaseIterable, Sendable {
        /// It passes by itself.
        case time
        /// Something is set up wrong.
        case repair
        case signIn = "sign-in"
        /// The daemon must be started.
        case start
        /// The caller has no right to ask.
        case permission
    }

    /// All is well; `text` is without advice.
    package static func ok(_ check: Check, _ text: String, of subject: String? = nil) -> Finding {
        Finding(check: check.rawValue, subject: subject, level: Level.ok.rawValue, text: text)
    }

    /// Good to know; nothing has to be done.
    package static func note(
        _ check: Check,
        _ text: String,
        of subject: String? = nil,
        advice: String? = nil
    ) -> Finding {
        Finding(check: check.rawValue, subject: subject, level: Level.note.rawValue, text: text, advice: advice)
    }

    /// It works now, and will not for ever.
    package static func warning(
        _ check: Check,
        _ text: String,
        of subject: String? = nil,
        needs need: Need,
        advice: String
    ) -> Finding {
        Finding(
            check: check.rawValue,
            subject: subject,
            level: Level.warning.rawValue,
            text: text,
            advice: advice,
            needs: need.rawValue
        )
    }

    /// It does not work.
    package static func error(
        _ check: Check,
        _ text: String,
        of subject: String? = nil,
        needs need: Need,
        advice: String
    ) -> Finding {
        Finding(
            check: check.rawValue,
            subject: subject,
            level: Level.error.rawValue,
            text: text,
            advice: advice,
            needs: need.rawValue
        )
    }
}
