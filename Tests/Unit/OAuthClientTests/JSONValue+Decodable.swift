import Foundation

@testable import OAuthMessages

/// For reading fixtures, which contain answers unchanged. The client itself reads answers with `StrictJSON`.
extension JSONTree: Decodable {
    init(from decoder: any Decoder) throws {
        if let fields = try? [String: JSONTree](from: decoder) {
            self = .object(fields)
        } else if let elements = try? [JSONTree](from: decoder) {
            self = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let text = try? container.decode(String.self) {
                self = .string(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = .boolean(flag)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }
    }
}
