internal import Basics

/// What one file contains: its accounts, and the problems with some of them, which do not hide the others.
struct FoundInFile: Sendable {
    var accounts: [MovableAccount] = []
    var problems: [ProgramError] = []
}

extension FoundInFile {
    /// Reads each entry. An entry for which `read` returns nil is not an account.
    init<Entry>(reading entries: [Entry], _ read: (Entry) throws(ProgramError) -> MovableAccount?) {
        self.init()
        for entry in entries {
            do throws(ProgramError) {
                if let account = try read(entry) { accounts.append(account) }
            } catch {
                problems.append(error)
            }
        }
    }
}
