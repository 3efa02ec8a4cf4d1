internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Systemd

/// What the coordinator knows of itself, for a diagnosis.
extension RefreshCoordinator {
    struct Condition: Sendable {
        var overview: Overview
        var keyring: StoreKeyring
        /// Of the key that the store is sealed with.
        var keyIdentifier: String
        var storePath: String
        var isRekeying: Bool
        var now: Moment
        var settings: CoordinatorSettings
        /// Whether a step of the clock, a route that comes up and a resume are told by the system.
        var watchesClock: Bool
        var watchesRoutes: Bool
        var watchesSleep: Bool

        /// The servers that ask for patience.
        var paceFindings: [Finding] {
            overview.behind.map { issuer, since in
                .warning(
                    .servers,
                    "its accounts ask for more than it answers, or may be asked: they have waited in turn for "
                        + now.elapsed(since: since).words,
                    of: issuer.url,
                    needs: .repair,
                    advice:
                        "if it takes more, raise max_concurrent_refreshes and max_refreshes_per_second in authrefreshd.yaml"
                )
            }
        }
    }

    func diagnosisEnded() {
        diagnoses.giveBack()
    }

    /// - Throws: what keeps the store from being read.
    func condition() throws(StoreError) -> Condition {
        Condition(
            overview: try overview(),
            keyring: keyring,
            keyIdentifier: store.keyIdentifier,
            storePath: store.path,
            isRekeying: rekeying != nil || store.isBeingResealed,
            now: timebase.now(),
            settings: settings,
            watchesClock: host.watchesClock,
            watchesRoutes: host.watchesRoutes,
            watchesSleep: host.watchesSleep
        )
    }
}
