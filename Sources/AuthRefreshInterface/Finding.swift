package import Basics

/// The constants of `Finding`, and functions that create findings. A peer of another version may use other constants.
extension Finding {
    package enum Check: String, CaseIterable, Sendable {
        // The checks of authctl, which need no daemon.
        case environment, path, installation, socket, service, linger, daemon, version
        // The daemon's checks. Both check the clock.
        case program, configuration, clock, network, proxy, store, key, accounts, servers, account, dns, tls, discovery
    }

    package enum Level: String, CaseIterable, Comparable, Sendable {
        case ok, note, warning, error

        package static func < (lhs: Level, rhs: Level) -> Bool {
            lhs.rank < rhs.rank
        }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// What has to happen to solve the problem.
    package enum Need: String, CaseIterable, Sendable {
        /// It passes by itself.
        case time
        /// A setting is wrong.
        case repair
        case signIn = "sign-in"
        /// The daemon must be started.
        case start
        /// The caller has no permission to ask.
        case permission
    }

    /// Everything is fine; `text` contains no advice.
    package static func ok(_ check: Check, _ text: String, of subject: String? = nil) -> Finding {
        Finding(check: check.rawValue, subject: subject, level: Level.ok.rawValue, text: text)
    }

    /// Useful to know; nothing has to be done.
    package static func note(
        _ check: Check,
        _ text: String,
        of subject: String? = nil,
        advice: Hint? = nil
    ) -> Finding {
        Finding(check: check.rawValue, subject: subject, level: Level.note.rawValue, text: text, advice: advice)
    }

    /// It works now, but will stop working.
    package static func warning(
        _ check: Check,
        _ text: String,
        of subject: String? = nil,
        needs need: Need,
        advice: Hint
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
        advice: Hint
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
