internal import AuthRefreshInterface
internal import Varlink

extension VarlinkError {
    /// Creates an error of our interface.
    init(_ error: some InterfaceError) {
        self.init(type(of: error).name, parameters: error)
    }
}
