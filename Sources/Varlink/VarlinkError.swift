/// An error reply: its full name and its parameters, already in JSON.
package struct VarlinkError: Error, Equatable, Sendable {
    /// Full name: `io.example.Interface.ErrorName`.
    package let name: String
    /// A JSON object.
    package let parameters: [UInt8]

    package init(_ name: String, parameters: some Encodable) {
        self.name = name
        self.parameters = WireJSON.encode(parameters)
    }

    package init(_ name: String) {
        self.name = name
        self.parameters = Array("{}".utf8)
    }
}

/// The errors of `org.varlink.service`, which every service shares.
extension VarlinkError {
    /// No such interface here.
    package static func interfaceNotFound(_ interface: String) -> VarlinkError {
        VarlinkError("org.varlink.service.InterfaceNotFound", parameters: ["interface": interface])
    }

    /// The interface has no such method; `method` is its full name.
    package static func methodNotFound(_ method: String) -> VarlinkError {
        VarlinkError("org.varlink.service.MethodNotFound", parameters: ["method": method])
    }

    /// The named parameter is missing, unknown, of the wrong type or out of range.
    package static func invalidParameter(_ parameter: String) -> VarlinkError {
        VarlinkError("org.varlink.service.InvalidParameter", parameters: ["parameter": parameter])
    }

    /// The caller may not do that.
    package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")

    /// The method answers only calls with the `more` flag.
    package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}
