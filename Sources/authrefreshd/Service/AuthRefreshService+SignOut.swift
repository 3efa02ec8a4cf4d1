internal import AuthRefreshInterface
internal import OAuthClient
internal import Varlink

/// The method that signs out.
extension AuthRefreshService {
    func signOut(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: SignOut.Parameters.self)
        // The address where a session ends has the id_token in it.
        let found =
            asked.endSession ?? false
            ? try account(asked.account, for: caller, on: coordinator) : try account(asked.account, on: coordinator)
        guard let snapshot = found else { return }
        let request = SignOutRequest(
            revokes: asked.revoke ?? false,
            endsSession: asked.endSession ?? false,
            forgets: asked.forget ?? false
        )
        // It goes on if the caller leaves: half of a sign-out is none.
        guard coordinator.beginServerCall() else {
            throw VarlinkError(LimitExceededError(.serverCalls, maximum: CallerLimits.serverCallsMax))
        }
        Task { [coordinator = self.coordinator] in
            responder.reply(SignOut.Reply(await coordinator.signOut(request, of: snapshot)))
            await coordinator.serverCallEnded()
        }
    }
}

extension SignOut.Reply {
    fileprivate init(_ report: SignOutReport) {
        self.init(
            steps: report.steps.map(SignOutStep.init),
            endSessionUrl: report.sessionEnd?.url,
            endSessionHost: report.sessionEnd?.host
        )
    }
}

extension SignOutStep {
    fileprivate init(_ result: SignOutReport.Result) {
        switch result.outcome {
        case .done: self.init(step: result.step.rawValue, outcome: "done")
        case .notNeeded: self.init(step: result.step.rawValue, outcome: "not-needed")
        case .failed(let detail):
            self.init(step: result.step.rawValue, outcome: "failed", failure: Failure(detail))
        }
    }
}
