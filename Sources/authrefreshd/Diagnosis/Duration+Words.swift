extension Duration {
    /// `42 s`, `59 min`, `5 h`, `12 days`, in the largest unit that leaves at least two of it; the sign is left out.
    var words: String {
        let seconds = components.seconds.magnitude
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86400) days"
        }
    }
}
