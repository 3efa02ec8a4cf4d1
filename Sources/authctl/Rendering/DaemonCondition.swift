internal import AuthRefreshInterface

/// What keeps the daemon as a whole from its work.
enum DaemonCondition {
    /// A line each, with its newline; empty if all is well.
    static func text(_ info: GetInfo.Reply) -> String {
        var text = ""
        if !info.online { text += "no network route: only servers on this machine are asked\n" }
        if let trouble = info.trouble { text += "trouble: \(PlainText.line(trouble))\n" }
        return text
    }
}
