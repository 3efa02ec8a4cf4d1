internal import AuthRefreshInterface
internal import Varlink

extension VarlinkError {
    /// An error of our interface.
    init(_ error: some InterfaceError) {
        self.init(type(of: error).name, parameters: error)
    }
}
