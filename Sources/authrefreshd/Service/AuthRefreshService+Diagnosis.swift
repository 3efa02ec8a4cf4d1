internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// The method that looks at everything.
extension AuthRefreshService {
    func diagnose(_ call: VarlinkCall, _ responder: VarlinkResponder, on coordinator: isolated RefreshCoordinator)
        throws(VarlinkError)
    {
        let asked = try call.decodeParameters(as: Diagnose.Parameters.self)
        if let names = asked.accounts, names.count > Interface.largestPage {
            throw VarlinkError(LimitExceededError(.page, maximum: Interface.largestPage))
        }
        let diagnosis = Diagnosis(
            coordinator: coordinator,
            client: coordinator.client,
            accounts: try asked.accounts?.map { name throws(VarlinkError) in
                try shownAccount(name, on: coordinator).name
            },
            configurationError: configurationError
        )
        let wantsMore = call.wantsMore
        guard coordinator.diagnoses.take() else {
            throw VarlinkError(LimitExceededError(.diagnoses, maximum: CallerLimits.diagnosesMax))
        }
        let task = Task { @concurrent in
            var kept: [Finding] = []
            for await finding in diagnosis.findings() {
                if wantsMore {
                    responder.reply(Diagnose.Reply(findings: [finding]), continues: true)
                } else {
                    kept.append(finding)
                }
            }
            await diagnosis.coordinator.diagnosisEnded()
            responder.reply(Diagnose.Reply(findings: kept))
        }
        responder.onDisconnect { task.cancel() }
    }
}
