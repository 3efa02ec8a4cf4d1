internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// One run of `authctl import`.
struct ImportSession {
    private let request: ImportRequest
    private let output: ImportOutput
    private let daemon: Daemon
    private var records: [TransferRecord] = []
    /// `success`, or why an answer could not be written.
    private var outputStatus = ExitStatus.success

    init(_ request: ImportRequest, _ output: ImportOutput) {
        self.request = request
        self.output = output
        daemon = Daemon(socket: request.socket)
    }

    /// Runs the import.
    ///
    /// - Returns: the exit status.
    mutating func run() throws(ProgramError) -> ExitStatus {
        let search = AccountSearch(request)
        for problem in search.problems {
            output.warn(problem.message + (problem.hint.map { "; \($0.text(by: request.called))" } ?? ""))
        }
        let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && !request.isJSON
        let takesNone = request.names.isEmpty && !request.takesAll && !canAsk
        guard !request.isDryRun, !takesNone else {
            try output.answer(AccountTable(accounts: search.accounts).text(for: output))
            if takesNone, !request.isDryRun, !search.accounts.isEmpty {
                output.note("nothing was taken over: name accounts, or use --all")
            }
            guard search.accounts.isEmpty, let problem = search.problems.first else { return .success }
            return problem.status
        }
        let chosen = try choose(among: search.accounts)
        let asks = request.names.isEmpty && !request.takesAll
        for found in chosen {
            if asks, try !confirm(found) { continue }
            transfer(found)
        }
        if chosen.isEmpty { output.note(AccountTable.nothingFound) }
        if request.isJSON {
            let members = records.map { $0.document(by: output.called) }
            try output.answer(ImportDocument.text(members))
        }
        let unread = chosen.isEmpty ? search.problems.first.map { [$0.status] } ?? [] : []
        return (records.map(\.status) + unread).reduce(outputStatus, ExitStatus.worst)
    }

    private func choose(among accounts: [FoundAccount]) throws(ProgramError) -> [FoundAccount] {
        var chosen = accounts
        if !request.names.isEmpty {
            chosen = []
            for name in request.names {
                // Several accounts here may be one there, as in a person's tenants.
                let named = accounts.filter { $0.name == name }
                let matches = named.isEmpty ? accounts.filter { $0.sourceName == name } : named
                guard let match = matches.first else {
                    throw ProgramError(
                        .noSuchAccount,
                        "no account named '\(name)' was found in another program",
                        hint: "to see the accounts: \(Command("import", "--dry-run"))"
                    )
                }
                guard matches.count == 1 else {
                    throw ProgramError(
                        .usage,
                        "'\(name)' is an account of \(matches.map(\.source.rawValue).joined(separator: " and of "))",
                        hint: Hint(Command("import", "--from", match.source.rawValue, name))
                    )
                }
                chosen.append(match)
            }
        }
        guard request.newName == nil || chosen.count == 1 else {
            throw ProgramError(
                .usage,
                "'--as' names one account, and \(chosen.count) are to be taken over",
                hint: Hint(Command("import", "NAME", "--as", "NEWNAME"))
            )
        }
        return chosen
    }

    private func confirm(_ found: FoundAccount) throws(ProgramError) -> Bool {
        let server = PlainText.line(AccountTable.server(of: found))
        output.ask("Take over '\(found.name)' from \(found.source.title) (\(server))? [y/N] ")
        guard let answer = readLine() else { throw ProgramError(.cancelled, "cancelled") }
        return ["y", "yes"].contains(answer.lowercased())
    }

    private mutating func transfer(_ found: FoundAccount) {
        let name = request.newName ?? found.name
        if found.hasGrant, !found.source.processes.isEmpty {
            let processes = found.source.processes.joined(separator: ", ")
            output.note("\(found.source.title) must no longer use '\(found.name)'; looking for \(processes)")
        }
        do throws(ProgramError) {
            records.append(try Transfer(daemon: daemon, found: found, name: name).run())
        } catch {
            records.append(TransferRecord(found, name: name, error))
            output.tell(error)
            return
        }
        guard !request.isJSON, let record = records.last else { return }
        do throws(ProgramError) {
            try output.answer(record.text(by: output.called))
        } catch {
            outputStatus = error.status
            output.tell(error)
        }
    }
}
