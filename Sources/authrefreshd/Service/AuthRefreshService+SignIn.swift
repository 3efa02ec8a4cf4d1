internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import SignIn
internal import Varlink

/// The methods about signing in. They bring a grant in and give no secret out, so they are for every process of the user, as
/// `ImportGrant` is.
extension AuthRefreshService {
    func startSignIn(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: StartSignIn.Parameters.self)
        guard call.wantsMore else { throw VarlinkError.expectedMore }
        let request = try SignInRequest(asked)
        let snapshot = try account(asked.account, on: coordinator)
        let name = snapshot.account.name
        guard snapshot.account.registration.serviceGrant == nil else { throw VarlinkError.needsNoPerson(name) }
        do throws(SignInRefusal) {
            let number = try coordinator.startSignIn(request, of: snapshot) { report in
                switch report {
                case .news(let reply): responder.reply(reply, continues: true)
                case .completed(let reply): responder.reply(reply)
                case .ended(let end): responder.fail(end.error(of: name))
                }
            }
            responder.onDisconnect { [coordinator] in
                coordinator.queue.async {
                    coordinator.assumeIsolated { $0.forgetSignInFollower(number, of: snapshot.account.id) }
                }
            }
        } catch {
            switch error {
            case .failed(let failure): throw VarlinkError(failure, of: name)
            case .tooMany:
                throw VarlinkError(LimitExceededError(.signIns, maximum: CallerLimits.signInsMax))
            }
        }
    }

    func continueSignIn(
        _ call: VarlinkCall,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> ContinueSignIn.Reply {
        let asked = try call.decodeParameters(as: ContinueSignIn.Parameters.self)
        let response = try asked.redirect.map(read)
        guard response != nil || asked.opened == true else { throw VarlinkError.invalidParameter("redirect") }
        let running: RunningSignIn?
        if let id = asked.attempt {
            running = coordinator.signIns.named(id)
        } else {
            running = response?.state.flatMap(coordinator.signIns.expecting)
        }
        guard let running else { throw VarlinkError(NoSuchSignInError(attempt: asked.attempt)) }
        let account = running.account.id
        if asked.opened == true { coordinator.tell(.opened, to: account, at: coordinator.timebase.now()) }
        if let response, let refusal = coordinator.bring(response, to: account) { throw VarlinkError(refusal) }
        return ContinueSignIn.Reply(account: running.account.name.text)
    }

    func cancelSignIn(
        _ call: VarlinkCall,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> CancelSignIn.Reply {
        let asked = try call.decodeParameters(as: CancelSignIn.Parameters.self)
        let running: RunningSignIn?
        if let id = asked.attempt {
            running = coordinator.signIns.named(id)
        } else if let name = asked.account {
            running = coordinator.signIns[try account(name, on: coordinator).account.id]
        } else {
            throw VarlinkError.invalidParameter("attempt")
        }
        guard let running else { throw VarlinkError(NoSuchSignInError(attempt: asked.attempt)) }
        coordinator.tell(.cancelled(by: .user), to: running.account.id, at: coordinator.timebase.now())
        return CancelSignIn.Reply(account: running.account.name.text)
    }

    /// - Throws: `InvalidSettings` for a text in which nothing can be found.
    private func read(_ redirect: String) throws(VarlinkError) -> AuthorizationResponse {
        do throws(PastedRedirectError) {
            return try PastedRedirect.read(redirect)
        } catch {
            let reason =
                switch error {
                case .empty: "it is empty"
                case .response(.tooLong): "it is longer than any answer"
                case .response(.badEncoding): "it is cut off, or has been changed"
                case .response(.repeatedParameter): "something stands in it twice"
                }
            let hint = "copy the whole address that the browser was sent to"
            throw VarlinkError(InvalidSettingsError(field: "redirect", reason: reason, hint: hint))
        }
    }
}
