@testable internal import OAuthMessages
internal import RefreshCore

/// A server's public keys.
enum KeySets {
    static func run(_ input: [UInt8]) {
        guard let set = try? JWKSet(input) else { return }
        require(set.keys.count <= JWKSet.countLimit, "no more keys are taken than the limit says")
        for entry in set.keys {
            let written = OAuthMessages.TokenValue.object(entry.key.members).written
            guard let object = try? JSONObject(Array(written.utf8)), let again = PublicKey(jwk: object) else {
                return require(false, "a key that was taken is taken again when it is written")
            }
            require(
                OAuthMessages.TokenValue.object(again.members).written == written,
                "a key stays the same when it is written"
            )
            for algorithm in SigningAlgorithm.allCases {
                require(!entry.key.isValid([], of: input, by: algorithm), "nothing at all is no signature")
                require(
                    entry.algorithm == nil || entry.key.fits(algorithm) || entry.algorithm != algorithm,
                    "a key is for algorithms of its kind"
                )
            }
        }
    }
}

/// The client's key as a person provides it: PEM, or a JWK.
enum ClientKeys {
    static func run(_ input: [UInt8]) {
        guard let key = try? PrivateKey(Secret(input)), let algorithm = try? key.signingAlgorithm(offered: nil) else {
            return
        }
        guard let signature = try? key.signature(of: input, by: algorithm) else {
            return require(false, "a key that was taken can sign")
        }
        require(key.material.publicKey.isValid(signature, of: input, by: algorithm), "its own public half says so")
        guard let set = try? JWKSet(Array(key.publicKeySet(keyID: nil).utf8)), let published = set.keys.first else {
            return require(false, "the public half can be published")
        }
        require(published.key.isValid(signature, of: input, by: algorithm), "the published half checks its signatures")
    }
}
