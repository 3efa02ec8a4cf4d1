/// An answer by which a provider says, without an error code of RFC 6749 §5.2, that a grant has ended.
///
/// In YAML: `{status: 403, field: message, text: "refresh_token is invalid"}`, or `{status: 400}` for one with an empty body.
package struct GrantEndedAnswer: Hashable, Sendable {
    /// 200...299 or 400...499; whatever a profile says, 429 and its kin never are the end of a grant.
    package var status: Int
    /// The field that tells, names joined by dots, or a place in a list, from 0; nil if the body is empty.
    package var field: String?
    /// What it holds, whatever the case of its letters; nil if the body is empty.
    package var text: String?

    /// - Parameter workedBefore: whether the same form of request was answered with tokens before. An empty body may mean the client's
    ///   secret as well as the grant.
    func fits(_ answer: Answer, _ body: AnswerBody, workedBefore: Bool) -> Bool {
        guard answer.status == status else { return false }
        guard let field, let text else { return body.kind == .empty && workedBefore }
        var place: JSONValue? = .object(body.fields)
        for step in field.split(separator: ".") { place = place?.member(String(step)) }
        return place?.word?.lowercased() == text.lowercased()
    }
}

extension GrantEndedAnswer: Decodable {
    private enum Key: String, CaseIterable {
        case status, field, text
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: Key.allCases.map(\.rawValue))
        status = try fields.required(Key.status.rawValue)
        field = try fields.optional(Key.field.rawValue)
        text = try fields.optional(Key.text.rawValue)
        guard (200...299).contains(status) || (400...499).contains(status) else {
            throw fields.error(Key.status.rawValue, "must be 200 to 299 or 400 to 499")
        }
        guard (field == nil) == (text == nil) else {
            throw fields.error(Key.field.rawValue, "and \"text\" go together")
        }
    }
}
