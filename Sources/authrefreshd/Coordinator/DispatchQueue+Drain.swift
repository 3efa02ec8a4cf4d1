internal import Dispatch

extension DispatchQueue {
    /// Returns when this serial queue has done what it was given until now, or when `limit` is over.
    func drain(within limit: Duration) async {
        _ = await BlockingCall.result(within: limit, on: self) {}
    }
}
